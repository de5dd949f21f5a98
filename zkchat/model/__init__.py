"""Values: messages, notes, references, request context, sessions, events."""
