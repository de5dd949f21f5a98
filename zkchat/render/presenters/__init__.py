"""A turn on a terminal, as plain text, and as JSON."""
