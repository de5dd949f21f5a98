"""Whether notes say what a text says."""
