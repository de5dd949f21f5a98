"""Wikilinks on the screen: their labels, what can be clicked, and what is marked as broken."""

import re
from collections.abc import Sequence

import pytest

from tests.support.screens import in_chunks, on_screen, streamed, terminal, written
from zkchat.core.message import DocumentReference
from zkchat.render.links import LinkTarget
from zkchat.render.markdown import MarkdownStream
from zkchat.render.markdown_parser import label_of

SHARED = {"[[a/Compost]]", "[[b/Compost#Heap]]"}


class Vault:
    """Implements `ClickableLinks`: a vault without the notes whose names begin with "No"."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.sources: set[str | None] = set()

    def clickable(self, _reference: DocumentReference) -> None:
        return None

    def current(self, references: Sequence[DocumentReference]) -> Sequence[DocumentReference]:
        return references

    def target_of(self, written: str, source: str | None = None) -> LinkTarget:
        self.asked.append(written)
        self.sources.add(source)
        name = written.lstrip("![").partition("]")[0]
        if name.startswith("No"):
            return LinkTarget(is_missing=True)
        address = None if name.startswith("Unsafe") else f"file:///vault/{name}.md"
        return LinkTarget(address=address, shares_name=written in SHARED)


@pytest.mark.parametrize(
    ("link", "label"),
    [
        ("[[Note|label]]", "label"),
        ("[[Note|a|b]]", "a|b"),
        ("[[Note|]]", "Note"),
        (r"[[Note\|label]]", "label"),
        ("[[folder/sub/Note]]", "Note"),
        ("[[folder/]]", "folder"),
        ("[[folder/Note#Heading#Sub]]", "Note › Heading › Sub"),
        ("[[#Heading]]", "Heading"),
        ("[[Note#^block]]", "Note › ^block"),
        ("[[paper.pdf#page=7]]", "paper.pdf › page 7"),
        ("[[https://example.org/a/b]]", "https://example.org/a/b"),
        ("![[Picture.png|300x200]]", "Picture.png"),
        ("![[Picture.png|a picture|300]]", "a picture"),
        ("[[300|300]]", "300"),
        ("[[my_snake_case]]", "my_snake_case"),
        ("[[ ]]", ""),
        ("[[#]]", ""),
    ],
)
def test_the_label_is_what_a_note_would_show(link: str, label: str) -> None:
    assert label_of(link) == label
    assert on_screen(streamed([f"see {link} there"])) == [f"see {label or link} there"]


def test_the_folder_is_shown_where_two_notes_share_a_name() -> None:
    text = "[[a/Compost]], [[b/Compost#Heap]] and [[c/Sleep]]"
    assert on_screen(streamed([text], links=Vault())) == ["a/Compost, b/Compost › Heap and Sleep"]


@pytest.mark.parametrize("color", ["auto", "never"])
def test_a_link_to_no_note_is_marked_with_and_without_colour(color: str) -> None:
    text = "[[Nowhere]], [[Nowhere|a label]], ![[Nothing.png]], [[Sleep]]."
    output = streamed([text], links=Vault(), color=color)
    assert on_screen(output) == ["Nowhere[?], a label[?], Nothing.png[?], Sleep."]
    assert ("\x1b[33mNowhere[?]" in output) == (color == "auto")


def addresses(output: str) -> set[str]:
    return set(re.findall(r"\x1b\]8;id=\d+;([^\x1b]*)\x1b", output))


def test_only_known_and_safe_targets_can_be_clicked() -> None:
    text = "**[[Sleep]]** [[Unsafe]] [[Nowhere]] [text](obsidian://open?append=x) `[[Code]]`"
    output = streamed([text], links=Vault())
    assert addresses(output) == {"file:///vault/Sleep.md"}
    assert on_screen(output) == ["Sleep Unsafe Nowhere[?] text (obsidian://open?append=x) [[Code]]"]


def test_links_are_looked_up_once_and_never_in_code() -> None:
    vault = Vault()
    text = "[[Sleep]] and [[Sleep]], `[[Code]]`\n\n```\n[[Fence]]\n```\n\n[[Sleep]] again, [[Nap]]\n"
    streamed(in_chunks(text, 3), links=vault)
    assert vault.asked == ["[[Sleep]]", "[[Nap]]"]


def test_a_link_that_arrives_is_not_drawn_before_it_is_complete() -> None:
    console = terminal()
    now = 0.0
    stream = MarkdownStream(console, clock=lambda: now)
    for character in "see [[Some note|the label]] now, ![[Other]] and [[a":
        now += 1
        stream.feed(character)
    assert "[[" not in written(console)
    stream.finish()
    assert on_screen(written(console)) == ["see the label now, Other and [[a"]


def test_a_row_that_has_not_changed_is_not_drawn_again() -> None:
    """The ids that Rich gives to links are random."""
    console = terminal()
    now = 0.0
    stream = MarkdownStream(console, clock=lambda: now, links=Vault())
    stream.feed("first [[Sleep]]\nsecond line\nthird")
    before = len(written(console))
    now += 1
    stream.feed(" line")
    assert "Sleep" not in written(console)[before:]
