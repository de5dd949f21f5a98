"""Edits of the text of a note."""
