"""Values in, characters out: the only door to the terminal."""
