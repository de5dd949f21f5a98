"""The JSON of every value: stored sessions, exports and scripts rely on it."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import zkchat.core
from zkchat.core.choices import ToolName
from zkchat.core.events import Notice
from zkchat.core.message import DocumentReference, LineRange, UnknownPart
from zkchat.core.session import read_body, read_entry, read_message
from zkchat.core.values import InvalidValue, Tagged, Unknown, Value, explain, from_json, from_plain, to_json, to_plain

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
# In each line a class, what is read, and what is printed where that is not the same.
FORMS = [line.split("\t") for line in Path(__file__).with_name("json_forms.tsv").read_text("utf-8").splitlines()]


BASES = (Value, Tagged, Unknown, Notice)


@cache
def value_types() -> dict[str, type[Value]]:
    names = (f"zkchat.core.{each.name}" for each in pkgutil.iter_modules(zkchat.core.__path__))
    classes = {
        found for name in names for _, found in inspect.getmembers(importlib.import_module(name), inspect.isclass)
    }
    return {each.__name__: each for each in classes if issubclass(each, Value) and each not in BASES}


def read(name: str, written: Any) -> Value:
    """Parts and entries of a kind that is not known are read with what they are part of."""
    if name == "UnknownPart":
        return read_message({"id": "", "role": "user", "created_at": "2026-03-01T12:00:00Z", "parts": [written]}).parts[
            0
        ]
    reads: dict[str, Callable[[Any], Value]] = {
        "UnknownEntry": read_body,
        "ChatMessage": read_message,
        "Entry": read_entry,
    }
    reads["MessageEntry"] = read_body
    return reads[name](written) if name in reads else from_plain(value_types()[name], written)


def test_every_value_is_there_and_printed_as_ever() -> None:
    assert {form[0] for form in FORMS} == value_types().keys()
    for form in FORMS:
        name, written = form[:2]
        assert to_json(to_plain(read(name, from_json(written)))) == form[-1], name


def test_a_message_of_a_newer_file_keeps_the_parts_that_we_do_not_know() -> None:
    written = {
        "id": "m1",
        "role": "user",
        "created_at": "2026-03-01T12:00:00Z",
        "mood": "cheerful",
        "parts": [{"kind": "text", "text": "Look: "}, {"kind": "hologram", "metres": [1, 2]}],
    }
    message = read_message(written)
    assert message.text == "Look: "
    assert isinstance(message.parts[1], UnknownPart)
    assert to_plain(message)["parts"] == written["parts"]


@pytest.mark.parametrize("priority", [0, 11])
def test_priorities_run_from_one_to_ten(priority: int) -> None:
    with pytest.raises(InvalidValue, match=r"`int` [<>]= "):
        read_message({"id": "m1", "role": "user", "created_at": NOON, "priority": priority})


def test_two_references_to_a_document_become_one_that_is_counted() -> None:
    found = DocumentReference(
        wikilink="[[Sleep]]",
        relative_path="Sleep.md",
        reference_type="search",
        via=ToolName("find_excerpts"),
        score=0.9,
        snippet="eight hours",
        lines=LineRange(first=3, last=4),
        title="Sleep",
    )
    linked = DocumentReference(wikilink="[[sleep#Need]]", relative_path="Sleep.md", anchor="Need", cited=True)
    for merged in (found.merged_with(linked), linked.merged_with(found)):
        assert (merged.wikilink, merged.reference_type, merged.hits) == ("[[sleep#Need]]", "direct", 2)
        assert (merged.score, merged.snippet, merged.lines) == (0.9, "eight hours", LineRange(first=3, last=4))
        assert (merged.title, merged.anchor, merged.cited, merged.included) == ("Sleep", "Need", True, False)


def test_the_heading_of_a_merged_reference_is_that_of_the_lines_it_shows() -> None:
    linked = DocumentReference(wikilink="[[Moka pot]]", relative_path="Moka pot.md")
    found = replace(linked, reference_type="search", included=True, hits=1)
    beginning = replace(found, score=0.8, lines=LineRange(first=7, last=7))
    method = replace(found, score=0.2, lines=LineRange(first=11, last=13), anchor="Method")
    for merged in (beginning.merged_with(method), linked.merged_with(beginning).merged_with(method)):
        assert (merged.anchor, merged.lines) == ("", LineRange(first=7, last=7))
    assert method.merged_with(replace(found, anchor="Care")).anchor == "Method"
    named = replace(linked, wikilink="[[Moka pot#Care]]", anchor="Care")
    assert named.merged_with(method).merged_with(beginning).anchor == "Care"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"role": "king"}, "role: Invalid enum value 'king'"),
        ({"id": None}, "id: Expected `str`, got `null`"),
        ({"parts": [{"kind": "text"}]}, "parts[0].text: Field required"),
        ({"created_at": "noon"}, "created_at: Invalid RFC3339 encoded datetime"),
    ],
)
def test_a_wrong_value_is_refused_with_its_place(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        read_message({"id": "m1", "role": "user", "created_at": NOON, **wrong})
    assert explain(caught.value) == sentence


def test_what_is_nested_too_deeply_is_no_json() -> None:
    with pytest.raises(ValueError, match="Invalid JSON"):
        from_json("[" * 100_000)


@pytest.mark.parametrize("name", ["token_count", "created_at", "local"])
def test_half_of_a_surrogate_pair_in_the_place_of_another_type_is_an_invalid_value(name: str) -> None:
    with pytest.raises(InvalidValue):
        read_message({"id": "m1", "role": "user", "created_at": NOON, name: "\ud800"})
