"""zkchat: a terminal chat over a Markdown vault."""
