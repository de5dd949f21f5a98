"""What the inside asks of the outside, as protocols. Adapters implement these; nothing inside names an adapter."""
