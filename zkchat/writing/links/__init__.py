"""Links that follow a rename, come from mentions, or are repaired."""
