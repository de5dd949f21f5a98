"""Globs over the paths of a vault, matched in bounded time whatever they hold: they may be a stranger's."""

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from typing import Final

MAX_GLOBS: Final = 200
"""Of one setting."""
MAX_CHARS: Final = 300
"""Of one glob."""

ANY_DEPTH: Final = "**"
"""As a component: any number of folders."""


class Glob:
    """A path with wildcards: `*`, `?` and `[…]` within a component, `**` in the place of any number of them.

    A path takes at most one comparison for each of its components and each of the glob's.
    """

    def __init__(self, components: Iterable[str], *, whole: bool) -> None:
        """A glob that is not to match the `whole` path matches whatever is below it, too."""
        self._components = _without_repeats(components)
        self._tests = [_test_of(component) for component in self._components]
        self._whole = whole

    def __bool__(self) -> bool:
        return bool(self._components)

    def matches(self, path: Sequence[str]) -> bool:
        """Whether the components of a path match: all places in the glob that may be reached are followed at once."""
        reached = self._with_skipped({0})
        end = len(self._components)
        for component in path:
            if end in reached and not self._whole:
                return True
            reached = self._with_skipped(
                {place + (self._components[place] != ANY_DEPTH) for place in reached if self._takes(place, component)}
            )
            if not reached:
                return False
        return end in reached

    def _takes(self, place: int, component: str) -> bool:
        return place < len(self._tests) and self._tests[place](component)

    def _with_skipped(self, places: set[int]) -> set[int]:
        """And those behind a `**`, which may stand for no folder at all; there are never two in a row."""
        return places | {place + 1 for place in places if self._components[place : place + 1] == [ANY_DEPTH]}


def _without_repeats(components: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for component in components:
        if component != ANY_DEPTH or kept[-1:] != [ANY_DEPTH]:
            kept.append(component)
    return kept


def _test_of(component: str) -> Callable[[str], bool]:
    if component == ANY_DEPTH:
        return lambda _: True
    if not re.search(r"[*?[]", component):
        return component.__eq__
    pattern = re.compile(translate(component))  # which goes back behind no `*` but the last
    return lambda written: written == component or pattern.match(written) is not None


class NameGlobs:
    """Globs as in .gitignore: one without a slash inside means a name in any folder."""

    def __init__(self, globs: Sequence[str]) -> None:
        cut = [glob.strip("/") for glob in globs]
        self._names = frozenset(glob for glob in cut if glob and "/" not in glob)
        self._name = re.compile("|".join(map(translate, sorted(self._names))))
        self._paths = [Glob(glob.split("/"), whole=True) for glob in cut if "/" in glob]

    def __bool__(self) -> bool:
        return bool(self._names or self._paths)

    def match(self, path: str) -> bool:
        if self._names:
            name = path.rpartition("/")[2]
            if name in self._names or self._name.match(name):
                return True
        components = path.split("/") if self._paths else []
        return any(glob.matches(components) for glob in self._paths)
