"""Edits of a note's text: passages, sections and blocks."""
