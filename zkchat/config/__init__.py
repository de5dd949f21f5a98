"""Settings, their origins, and which of them need the user's trust."""
