"""One conversation: the turn, its tool loop, its references."""
