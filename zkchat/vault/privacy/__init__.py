"""Privacy classes of notes, and where they are declared."""
