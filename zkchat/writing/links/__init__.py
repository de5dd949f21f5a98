"""Links that follow what they point to."""
