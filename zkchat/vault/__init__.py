"""The vault, pure: grammar, resolver, sections, index merge, search."""
