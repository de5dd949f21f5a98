"""Properties of a note's frontmatter, edited line by line."""
