"""Goals that a model works towards in steps."""
