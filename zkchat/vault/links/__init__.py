"""Which note a link means."""
