"""Change sets on disk: journal, steps, undo."""
