"""Images: what their files are, and how they are sent."""
