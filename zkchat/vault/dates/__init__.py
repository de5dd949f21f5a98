"""Dates of notes: where they come from, and how people write them."""
