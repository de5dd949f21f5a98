"""The version, as a literal: reading package metadata would cost more than the rest of `--version`."""

__version__ = "0.1.0"
