"""Slash commands: `table` lists them; the other modules hold their functions."""
