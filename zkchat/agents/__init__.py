"""Agents and rules: who answers, and by which rules."""
