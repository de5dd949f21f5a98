"""Actions: what can be done with a vault, each declared once and offered on every surface."""
