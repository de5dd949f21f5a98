"""Full-text and vector search over sections."""
