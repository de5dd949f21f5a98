"""Changes of a vault's files: whole or not at all, with a journal from which they are undone."""
