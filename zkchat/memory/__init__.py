"""What is kept across sessions: the project's own page, facts worth keeping, the documents used most."""
