"""Changes of notes: proposed, reviewed, applied."""
