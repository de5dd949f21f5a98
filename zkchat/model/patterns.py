"""Regular expressions that are compiled when they are first used.

A start of zkchat defines some four hundred and uses a few: compiling all took longer than starting Python ten times.
"""

import re
from typing import Any, AnyStr, cast


class _LazyPattern:
    """As fast as the pattern itself from the second use on: its methods are kept as attributes."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags
        self._compiled: re.Pattern[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        """Called only for what is no attribute yet."""
        if name.startswith("__"):  # asked by copy and pickle, of an instance that may have nothing yet
            raise AttributeError(name)
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self._flags)
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, for patterns of modules and classes; for use by its methods, not as an argument of `re`."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))
