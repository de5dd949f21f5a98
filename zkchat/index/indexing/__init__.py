"""Keeping the index of a vault up to date."""
