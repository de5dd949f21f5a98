"""Export and import of sessions: complete JSON, Markdown notes, and messages of other programs."""
