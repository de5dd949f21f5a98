"""What the text of a note holds: Markdown, frontmatter, links, sections, sentences."""
