"""zkchat: a terminal chat over a Markdown vault."""

from zkchat.version import __version__

__all__ = ["__version__"]
