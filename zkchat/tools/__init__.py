"""Typed functions that the model may call."""
