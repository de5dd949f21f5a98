"""The interactive chat: reading what the user types, one turn after the other."""
