"""Search over earlier messages, and which of them return into the prompt."""
