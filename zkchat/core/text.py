"""Text: shortened, counted, matched by patterns and globs, and what in it looks like a secret."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from fnmatch import translate
from typing import Any, AnyStr, Final, cast

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
        given = [*components]  # of which `**` is never there twice in a row
        self._components = [
            each for each, before in zip(given, ["", *given], strict=False) if (each, before) != (ANY_DEPTH, ANY_DEPTH)
        ]
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


def without_block_ids(text: str) -> str:
    """Without the ids that end blocks (`^glazing`), which nobody reads."""
    return _BLOCK_ID.sub("", text)


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, for patterns of modules and classes; for use by its methods, not as an argument of `re`."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


KEY: Final = lazy_pattern(
    r"""
      -----BEGIN[ A-Z]{0,30}PRIVATE[ ]KEY.*?(?:-----END[ A-Z]{0,30}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----|\Z)
    | \b(?:sk|pk|rk)[-_](?=[\w-]{0,80}(?:\d|[a-z][A-Z]))[\w-]{15,}
    | \bgh[opsur]_[A-Za-z0-9]{15,} | \bgithub_pat_\w{15,} | \bglpat-[\w-]{15,}
    | \bxox[abeprs]-[\w-]{10,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16,}
    | \bAIza[\w-]{15,}
    | \b(?:hf|gsk|r8|npm|tvly|xai)[-_](?=[A-Za-z0-9]{0,80}(?:\d|[a-z][A-Z]))[A-Za-z0-9]{15,}
    | \beyJ[\w-]{10,4000}+\.eyJ[\w-]{10,}+\.[\w-]+
    """,
    re.VERBOSE | re.DOTALL,
)
"""What is a key by its shape. A digit or mixed case tells the short prefixes from words such as sk-learn."""
KEY_MARKS: Final = (
    *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "_pat_", "glpat-", "xox"),
    *("AKIA", "ASIA", "AIza", "hf-", "hf_", "r8-", "r8_", "npm-", "npm_", "tvly", "xai", "eyJ", "PRIVATE KEY"),
)
"""Each of which is much faster to look for than the pattern, which matches nothing that has none of them."""
NAMED_KEY: Final = lazy_pattern(
    r"""
    ( (?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d|passphrase)[\w-]{0,20}["']?\s{0,3}[:=]\s{0,3}["']?
    | \bbearer[ ]{1,3} )
    (?=[^\s"',;]{0,80}\d)(?=[^\s"',;]{0,80}[a-z])
    [^\s"',;]{8,}
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What is called a key or a password, after its name, where it is of letters and digits; a secret told in words is
none."""
NAMED_KEY_MARKS: Final = ("key", "secret", "token", "pass", "bearer")
"""The same for the folded text of what has a name."""


_USERINFO: Final = lazy_pattern(r"(?<=://)[^/?#\s\"']{1,500}@")


def without_password(text: str) -> str:
    """A text without the names and passwords that stand in its addresses: `http://me:secret@host`."""
    return _USERINFO.sub("…@", text)


def local_time(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


_FIRST_WIDE: Final = "\u2e80"
_WIDE_LETTER: Final = lazy_pattern("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60\uffe0-\uffe6]")


def shorten(text: str, length: int, *, whole_words: bool = False) -> str:
    """The text in at most so many characters; where some are left out, an ellipsis ends it."""
    if len(text) <= length:
        return text
    kept = text[: length - 1]
    return (kept.rsplit(" ", 1)[0] if whole_words else kept).rstrip() + "…"


def counted(number: int, thing: str) -> str:
    """`1 note`, `2 notes`, `1,234 notes`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def wide_letters(text: str) -> int:
    """How many letters are as wide as two others."""
    # A look before a slow pattern, whether there may be any, such as those of Chinese.
    return len(_WIDE_LETTER.findall(text)) if not text.isascii() and max(text) >= _FIRST_WIDE else 0


_BLOCK_ID: Final = lazy_pattern(r"[ \t]\^[A-Za-z][\w-]*[ \t]*$", re.MULTILINE)
