"""The models zkchat can talk to, behind one protocol."""
