import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.changeable_files import FilesInMemory
from tests.support.libraries import library_of
from zkchat.core.note import Resolved
from zkchat.index.library import Library
from zkchat.notes.parse import parse_note
from zkchat.writing.links.mentions import MentionGroup, MentionLinks, stage_links
from zkchat.writing.staging import StagedChanges
from zkchat.writing.targets import LinkStyle


@contextmanager
def finder(
    folder: Path, notes: dict[str, str], style: LinkStyle | None = None
) -> Iterator[tuple[MentionLinks, StagedChanges, FilesInMemory, Library]]:
    folder.mkdir(exist_ok=True)
    with library_of(folder, notes) as library:
        files = FilesInMemory(notes)
        staged = StagedChanges(files)
        yield MentionLinks(library, staged.read, style or LinkStyle()), staged, files, library


def links_of(groups: Iterator[MentionGroup]) -> list[tuple[str, int, str]]:
    return [(group.first.source, group.first.line, group.first.link) for group in groups]


GARDEN = {
    "Compost.md": "---\naliases: [Black gold]\n---\n# Compost\n\nWorms help. See Soil life and [[Worms]].\n",
    "Soil life.md": "It feeds on compost, and compost again.\n\n| a | b |\n|---|---|\n| black gold | x |\n",
    "Worms.md": "Worms and\r\nsoil life, Soil life.\r\n",
    "deep/Roots.md": "Soil life and [[../Compost]]; compost, black gold.",
}


def test_mentions_of_a_note_and_inside_it(tmp_path: Path) -> None:
    with finder(tmp_path, GARDEN) as (found, _, _, library):
        assert links_of(found.of("Compost.md")) == [("Soil life.md", 1, "[[Compost|compost]]")]
        assert links_of(found.inside("Compost.md")) == [("Compost.md", 6, "[[Soil life]]")]
        assert sorted(links_of(found.about(None))) == [
            ("Compost.md", 6, "[[Soil life]]"),
            ("Soil life.md", 1, "[[Compost|compost]]"),
            ("Worms.md", 2, "[[Soil life|soil life]]"),
            ("deep/Roots.md", 1, "[[Soil life]]"),
        ]
        assert not any("\r" in group.first.after for group in found.about(None))
        os.utime(next(tmp_path.rglob("Worms.md")), (2_000_000_000, 2_000_000_000))
        library.refresh()
        assert next(found.about(None)).first.source == "Worms.md", "what changed last comes first"
        (group,) = found.of("Compost.md")  # the mentions of one note in another are one group
    assert [(each.line, each.link) for each in group.links] == [
        (1, "[[Compost|compost]]"), (1, "[[Compost|compost]]"), (5, r"[[Compost\|black gold]]")
    ]  # fmt: skip
    assert (group.first.before, group.first.text, group.first.after) == (
        "It feeds on ", "compost", ", and compost again."
    )  # fmt: skip


def test_chosen_links_are_staged_unless_their_note_changed_meanwhile_and_nothing_else_changes(tmp_path: Path) -> None:
    with finder(tmp_path, GARDEN) as (found, staged, files, _):
        chosen = [(group, group.links) for group in found.about(None)]
        files.files["Compost.md"] = b"Other words"
        made = stage_links(staged, chosen)
        files.apply(staged.change_set())
    assert (len(made.links), made.changed_meanwhile) == (6, ("Compost.md",))
    assert files.files["Compost.md"] == b"Other words"
    assert files.files["Worms.md"] == b"Worms and\r\n[[Soil life|soil life]], [[Soil life]].\r\n"
    assert b"| [[Compost\\|black gold]] | x |" in files.files["Soil life.md"]


@pytest.mark.parametrize(
    ("style", "link"),
    [
        (LinkStyle(), "[[Fungi|fungi]]"),
        (LinkStyle(format="absolute"), "[[wild life/Fungi|fungi]]"),
        (LinkStyle(format="relative"), "[[../wild life/Fungi|fungi]]"),
        (LinkStyle(markdown=True), "[fungi](Fungi.md)"),
        (LinkStyle(format="absolute", markdown=True), "[fungi](wild%20life/Fungi.md)"),
    ],
)
def test_links_are_written_as_the_vault_writes_them(tmp_path: Path, style: LinkStyle, link: str) -> None:
    notes = {"wild life/Fungi.md": "", "deep/Roots.md": "With fungi."}
    with finder(tmp_path, notes, style) as (found, _, _, library):
        assert links_of(found.inside("deep/Roots.md")) == [("deep/Roots.md", 1, link)]
        (written,) = parse_note("deep/Roots.md", link).links
        assert library.resolve(written, "deep/Roots.md") == Resolved(
            path="wild life/Fungi.md", via="path" if "/" in written.target else "name"
        )


def test_ordinary_words_are_linked_only_for_the_note_that_is_asked_for(tmp_path: Path) -> None:
    with finder(tmp_path, {"Ideas.md": "", "Roots.md": "Some ideas today."}) as (found, *_):
        assert links_of(found.about(None)) == []
        assert links_of(found.of("Ideas.md")) == [("Roots.md", 1, "[[Ideas|ideas]]")]


def test_of_notes_with_one_name_that_at_the_top_is_linked_by_its_name(tmp_path: Path) -> None:
    notes = {"Plan.md": "---\naliases: [Big plan]\n---\n", "Work/Plan.md": "", "Roots.md": "The big plan."}
    with finder(tmp_path, notes) as (found, *_):
        assert links_of(found.of("Plan.md")) == [("Roots.md", 1, "[[Plan|big plan]]")]


def test_a_name_that_no_wikilink_can_hold_becomes_a_hyperlink(tmp_path: Path) -> None:
    with finder(tmp_path, {"C# basics.md": "", "Roots.md": "Learn C# basics."}) as (found, *_):
        assert links_of(found.inside("Roots.md")) == [("Roots.md", 1, "[C# basics](C%23%20basics.md)")]


def test_templates_and_saved_answers_neither_link_nor_are_linked(tmp_path: Path) -> None:
    notes = {
        ".obsidian/templates.json": '{"folder": "Templates"}',
        "Templates/Weekly review.md": "Soil life",
        "Saved.md": "---\nzkchat-note: answer\n---\nSoil life\n",
        "Soil life.md": "Weekly review",
    }
    with finder(tmp_path, notes) as (found, *_):
        assert links_of(found.about(None)) == []
