"""Packages whose names are imported when they are first used: all modules take longer than most commands."""

import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

_IMPORT = re.compile(r"^    from (\S+) import (?:\(([^)]*)\)|(.*))", re.MULTILINE)


def lazy_names(package: str, face: str) -> Callable[[str], object]:
    """A `__getattr__` for a package that offers what the file `face`, its own, imports for type checkers."""

    @cache
    def places() -> dict[str, str]:
        found = _IMPORT.findall(Path(face).read_text("utf-8"))
        return {name: module for module, many, few in found for name in (many or few).replace(",", " ").split()}

    def find(name: str) -> object:
        if name not in places():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # Unlike `import_module`, this is seen by `python -X importtime`.
        found: object = getattr(__import__(places()[name], fromlist=(name,)), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
