"""Edits of mutated notes: each is made with the rest of the note as it was, or refused; none raises anything else."""

from collections import Counter
from random import Random
from typing import get_args

from tests.fuzz import mutation
from tests.fuzz.case import require
from zkchat.core.choices import SectionPosition
from zkchat.core.errors import EditRefused
from zkchat.notes.parse import frontmatter_of, parse_note
from zkchat.writing.passages import replace_passage
from zkchat.writing.properties import add_tag, set_property
from zkchat.writing.sections import edit_section


def passage(text: str, rng: Random) -> None:
    start = rng.randrange(len(text) + 1)
    old = rng.choice((text[start : start + rng.randrange(1, 200)], mutation.line(rng)))
    try:
        edited = replace_passage(text, old, mutation.line(rng), expected=rng.choice((1, 1, 2)))
    except EditRefused:
        return
    require(edited != text, "a passage that is replaced changes the text")


def section(text: str, rng: Random) -> None:
    before = parse_note("", text)
    places = [*(each.text for each in before.headings), *(f"^{each.id}" for each in before.blocks), mutation.line(rng)]
    new, position = mutation.text(rng, 300), rng.choice(get_args(SectionPosition))
    try:
        edited = edit_section(text, rng.choice(places), new, position=position, include_children=rng.random() < 0.5)
    except EditRefused:
        return
    after = parse_note("", edited)
    require(edited[: before.body_start] == text[: before.body_start], "properties stay as they are written")
    if position == "replace":
        return
    require(len(edited) > len(text), "text is added")
    for what in ("headings", "links", "blocks"):
        kept = Counter(each[0] for each in getattr(before, what))
        require(not kept - Counter(each[0] for each in getattr(after, what)), f"{what} stay what they are")


def properties(text: str, rng: Random) -> None:
    before = frontmatter_of(text)
    name = rng.choice([*before.properties, mutation.line(rng), "status"])
    value = rng.choice((mutation.line(rng), mutation.text(rng, 100), [mutation.line(rng), "x"], 5, True, None))
    try:
        edited = rng.choice((lambda: set_property(text, name, value), lambda: add_tag(text, "new")))()
    except EditRefused:
        return
    after = frontmatter_of(edited)
    require(edited.endswith(text[before.end :]), "the text below the properties stays")
    if value is not None:
        names = [each for each in before.properties if each in after.properties]
        require(len(names) == len(before.properties), "no property is lost")
        others = [each for each in names if before.properties[each] != after.properties[each]]
        require(len(others) <= 1, "at most one property changes", repr(others))
