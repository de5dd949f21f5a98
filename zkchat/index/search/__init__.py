"""Search by words and by vectors."""
