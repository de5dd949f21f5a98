"""Whether the notes support a statement, say the same, or contradict it."""
