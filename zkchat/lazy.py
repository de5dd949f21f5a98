"""Packages whose names are imported when they are first used: all modules take longer than most commands."""

import sys
from collections.abc import Callable, Mapping


def lazy_names(package: str, offered: Mapping[str, str]) -> Callable[[str], object]:
    """A `__getattr__` for a package that offers, of each of its modules, the names that stand beside it."""
    places = {name: module for module, names in offered.items() for name in names.split()}

    def find(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        # Unlike `import_module`, this is seen by `python -X importtime`.
        found: object = getattr(__import__(f"{package}.{places[name]}", fromlist=(name,)), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
