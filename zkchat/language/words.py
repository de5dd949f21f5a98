"""The words of the languages that zkchat knows: one file of `data` for each, all loaded once (20 ms).

`data/en.toml` says what each list is for. A list has words between spaces, or phrases between bars and line ends. The
words of languages without spaces (`is_spaced = false`) are found anywhere in a text. To add a language, add a file.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = Path(__file__).with_name("data")


@cache
def languages() -> Mapping[str, Mapping[str, Any]]:
    """By ISO 639-1 code all that is known of a language; of several that may be meant the one of the lowest rank is."""
    found = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in _FOLDER.glob("*.toml")}
    return dict(sorted(found.items(), key=lambda item: item[1]["rank"]))


@cache
def by_code(key: str, *, spaced: bool | None = None) -> dict[str, Any]:
    """By code what the languages have under a key; only of those with or without spaces, if that is said."""
    return {
        code: known[key]
        for code, known in languages().items()
        if key in known and spaced in {None, known.get("is_spaced", True)}
    }


def by_name(key: str) -> dict[str, str]:
    """The same by the names of the languages in lower case."""
    return {languages()[code]["name"].lower(): listed for code, listed in by_code(key).items()}


def of_all(key: str, *, spaced: bool | None = None) -> str:
    """The words that all languages have under a key."""
    return "\n".join(["", *by_code(key, spaced=spaced).values(), ""])


def any_of(key: str, *, spaced: bool | None = None) -> str:
    """A regular expression for one of the words of all languages."""
    return "|".join(phrases(of_all(key, spaced=spaced)))


def phrases(listed: str) -> list[str]:
    """What stands between bars and line ends."""
    return [phrase.strip() for phrase in listed.replace("\n", "|").split("|") if phrase.strip()]
