"""Rendering: turns values into sanitized text for terminals, pipes and scripts."""
