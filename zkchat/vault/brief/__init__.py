"""The daily brief of a vault, made without a model."""
