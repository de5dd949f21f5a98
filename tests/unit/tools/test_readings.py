from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.libraries import library_of
from tests.support.write_desk import MessagesBefore
from zkchat.chat.context.assembly import digest
from zkchat.chat.tools.readings import GivenParts, Readings, is_clipping
from zkchat.core.message import DocumentReference
from zkchat.index.library import Library

TEXT = "# Coffee\n\nBeans.\n\n## Brewing\n\nSlowly.\n"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with library_of(tmp_path, {"Coffee.md": TEXT, "Clip.md": "---\nurl: http://example.org\n---\nx\n"}) as library:
        yield library


@pytest.fixture
def note(tmp_path: Path) -> Path:
    return tmp_path / "vault" / "Coffee.md"


def read(path: str, text: str = "") -> DocumentReference:
    known = digest(text) if text else ""
    return DocumentReference(wikilink="", relative_path=path, included=True, digest=known)


def test_a_note_is_unread_current_or_changed(library: Library, note: Path) -> None:
    readings = Readings(library)
    assert readings.knowledge("Coffee.md") == "unread"
    readings.see([read("Coffee.md")])
    assert readings.knowledge("Coffee.md") == "unread"
    readings.see([read("Coffee.md", TEXT)])
    assert readings.knowledge("Coffee.md") == "current"
    note.write_text(TEXT.replace("Slowly", "Fast"))
    assert readings.knowledge("Coffee.md") == "changed"
    assert readings.change("Coffee.md") == "@@ -7 +7 @@\n-Slowly.\n+Fast."


def test_messages_tell_what_was_given(library: Library, note: Path) -> None:
    messages = MessagesBefore()
    readings = Readings(library, messages)
    messages.earlier["Coffee.md"] = "of an older text"
    assert readings.knowledge("Coffee.md") == "changed"
    messages.linked["Coffee.md"] = digest(TEXT)
    assert readings.knowledge("Coffee.md") == "current"
    note.write_text("other")
    assert readings.knowledge("Coffee.md") == "changed"
    assert readings.change("Coffee.md") == ""


def test_a_section_that_was_given_is_known_by_itself(library: Library, note: Path) -> None:
    messages = MessagesBefore()
    messages.linked["Coffee.md#Brewing"] = digest("## Brewing\n\nSlowly.\n")
    readings = Readings(library, messages)
    assert readings.knowledge("Coffee.md", "Brewing") == "current"
    assert readings.knowledge("Coffee.md", "Coffee") == "unread"
    assert readings.knowledge("Coffee.md") == "unread"
    note.write_text(TEXT.replace("Beans", "Good beans"))
    assert readings.knowledge("Coffee.md", "Brewing") == "current"
    note.write_text(TEXT.replace("Slowly", "Fast"))
    assert readings.knowledge("Coffee.md", "Brewing") == "changed"
    assert readings.knowledge("Coffee.md") == "changed"
    readings.show("Coffee.md", "Brewing")
    assert readings.knowledge("Coffee.md", "Brewing") == "current"


def test_clippings_count_in_the_turn_of_their_first_reading(library: Library) -> None:
    messages = MessagesBefore()
    readings = Readings(library, messages)
    readings.see([read("Clip.md"), read("Coffee.md")])
    assert readings.first_clippings() == ["Clip.md"]
    messages.turn, messages.earlier = 2, {"Clip.md": ""}
    assert readings.first_clippings() == []
    readings.see([read("Clip.md")])
    assert readings.first_clippings() == []


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"source": "https://example.org/a"}, True),
        ({"URL": "HTTP://example.org"}, True),
        ({"source": ["[[Book]]", "https://example.org"]}, True),
        ({"source": "[page](https://example.org)"}, True),
        ({"source": "[[Book]]"}, False),
        ({"source": 5, "url": None}, False),
        ({"homepage": "https://example.org"}, False),
    ],
)
def test_a_clipping_is_known_by_its_address(properties: dict[str, object], expected: bool) -> None:
    assert is_clipping(properties) == expected


LINES = "One.\n\nTwo.\nTwo.\nThree.\n"


def test_parts_that_follow_each_other_are_one() -> None:
    given = GivenParts(LINES, ["One.\n\nTw", "o.\nTwo."])
    assert given.hold("One.\n\nTwo.\nTwo.\n")
    assert not given.hold("Two.\nThree.\n")
    assert given.count == len("One.\n\nTwo.\nTwo.")
    assert GivenParts(LINES, [LINES]).count == len(LINES)


def test_the_same_words_elsewhere_were_not_given() -> None:
    row = "Same words.\n"
    given = GivenParts(f"## A\n{row * 20}## B\n{row * 20}", [f"## A\n{row * 20}"])
    assert given.hold(f"## A\n{row * 20}")
    assert not given.hold(f"## B\n{row * 20}")


def test_lines_that_stayed_count_where_others_changed() -> None:
    given = GivenParts("One.\nTwo!\nThree.\n", ["One.\nTwo.\nThree.\n"])
    assert given.hold("One.")
    assert given.hold("Three.")
    assert not given.hold("Two!")


@settings(max_examples=50)
@given(st.text("ab \n", max_size=40), st.lists(st.integers(0, 40), max_size=4))
def test_a_text_that_is_given_page_by_page_is_given_whole(text: str, cuts: list[int]) -> None:
    ends = [0, *sorted(cuts), len(text)]
    pages = [text[start:end] for start, end in pairwise(ends)]
    assert GivenParts(text, pages).hold(text)
    assert GivenParts(text, pages).count == len(text)
