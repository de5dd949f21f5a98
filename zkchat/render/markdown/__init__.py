"""Markdown of an answer: parsed, split into blocks while it arrives, and drawn."""
