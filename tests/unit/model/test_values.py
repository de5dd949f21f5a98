from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from zkchat.core.choices import ToolName
from zkchat.core.message import (
    DocumentReference,
    LineRange,
    UnknownPart,
)
from zkchat.core.session import read_message
from zkchat.core.values import InvalidValue, explain, from_json, to_plain

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


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
