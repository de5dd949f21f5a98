from typing import get_args

from zkchat.core.note import NoteWarning, WarningKind
from zkchat.notes.parse import summarize_warnings


def warning(path: str, kind: WarningKind, text: str = "It is odd.") -> NoteWarning:
    return NoteWarning(path=path, text=text, kind=kind)


def test_every_kind_has_a_sentence_for_several() -> None:
    for kind in get_args(WarningKind):
        (sentence,) = summarize_warnings([warning("a.md", kind), warning("b.md", kind), warning("b.md", kind)])
        assert sentence.startswith("2 ")
        assert sentence.endswith(", e.g. a.md. zkchat check lists them.")


def test_a_single_warning_is_told_as_it_is() -> None:
    assert summarize_warnings([]) == []
    assert summarize_warnings([warning("a.md", "frontmatter"), warning("b.md", "unreadable", "b.md is locked.")]) == [
        "a.md: It is odd.",
        "b.md is locked.",
    ]


def test_kinds_are_told_apart_and_the_list_is_named_once() -> None:
    of_frontmatter = [warning(f"{name}.md", "frontmatter") for name in "acd"]
    assert summarize_warnings([*of_frontmatter, warning("b.md", "encoding")]) == [
        "3 notes have frontmatter that cannot be read, e.g. a.md.",
        "b.md: It is odd. zkchat check lists them.",
    ]
