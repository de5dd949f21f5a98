import re
from copy import copy

import pytest

from zkchat.model.patterns import lazy_pattern

real_compile = re.compile


def test_a_pattern_is_compiled_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def recorded(source: str, flags: int) -> re.Pattern[str]:
        compiled.append(source)
        return real_compile(source, flags)

    monkeypatch.setattr(re, "compile", recorded)
    word = lazy_pattern(r"\w+", re.ASCII)
    assert word.pattern == r"\w+"
    assert not compiled
    assert word.findall("añb") == ["a", "b"]
    assert word.sub("x", "é a") == "é x"
    assert word.match("a")
    assert compiled == [r"\w+"]


def test_a_wrong_pattern_and_an_unknown_method_fail_as_elsewhere() -> None:
    with pytest.raises(re.error):
        lazy_pattern("(").match("")
    with pytest.raises(AttributeError):
        str(lazy_pattern("a").nothing)  # type: ignore[attr-defined]


def test_a_copy_matches_too() -> None:
    assert copy(lazy_pattern(b"a+")).fullmatch(b"aa")
