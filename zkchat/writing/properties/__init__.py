"""Edits of frontmatter by the lines of one property."""
