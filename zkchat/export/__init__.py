"""Sessions on their way out and in: JSON that is complete, Markdown that joins the vault, files from elsewhere."""
