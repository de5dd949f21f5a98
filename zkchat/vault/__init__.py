"""The vault: notes, links, search, privacy, and the index, which alone runs threads."""
