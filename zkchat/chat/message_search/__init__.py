"""Search over the messages of all sessions, and what of them comes back into a prompt."""
