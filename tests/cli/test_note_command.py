"""`zkchat note`: each change is shown, asked for, made whole, and told."""

from pathlib import Path

import pytest

from tests.support.world import Result, World
from zkchat.errors import ExitCode

INBOX = "---\nstatus: open\n---\n# Inbox\n\n## Ideas\n\n- One\n\n## Later\n"


@pytest.fixture
def garden(world: World) -> World:
    world.note("Inbox.md", INBOX)
    world.note("Plants/Compost.md", "# Compost\n\nSee [[Inbox]].\n")
    world.note("Plants/Notes.md", "first\n")
    world.note("Tools/Notes.md", "second\n")
    return world


def tree(vault: Path) -> dict[str, bytes]:
    return {
        file.relative_to(vault).as_posix(): file.read_bytes()
        for file in vault.rglob("*")
        if file.is_file() and ".zkchat" not in file.parts
    }


def note(world: World, *arguments: str, typed: str = "", terminal: bool = False, cwd: Path | None = None) -> Result:
    return world.run("note", *arguments, typed=typed, terminal=terminal, cwd=cwd)


def test_a_new_note_is_made_with_its_text(garden: World) -> None:
    made = note(garden, "new", "Compost in winter", "Turn it less often.", "--folder", "Plants", "--yes")
    assert (made.code, made.out) == (0, "Create Plants/Compost in winter.md: done.\n")
    assert garden.run("show", "Compost in winter").out == "Turn it less often.\n"


def test_a_note_is_never_made_over_another(garden: World) -> None:
    before = tree(garden.vault)
    again = note(garden, "new", "Inbox", "Gone.", "--yes")
    assert again.code == ExitCode.VAULT
    assert "Inbox.md is there already" in again.err
    assert tree(garden.vault) == before


def test_a_text_that_looks_like_an_option_is_a_text(garden: World) -> None:
    assert note(garden, "append", "Inbox", "--yes", "- [ ] Buy seeds").code == 0
    assert note(garden, "append", "Inbox", "-- ", "--yes", "-y").code == ExitCode.USAGE
    assert note(garden, "append", "Inbox", "---", "-y").code == 0
    assert (garden.vault / "Inbox.md").read_text() == INBOX + "\n- [ ] Buy seeds\n\n---\n"


def test_words_and_standard_input_are_appended(garden: World) -> None:
    assert note(garden, "append", "Inbox", "buy", "milk", "--yes").code == 0
    assert garden.run("note", "append", "inbox", "-", "--yes", stdin="a line\nand more\n").code == 0
    assert (garden.vault / "Inbox.md").read_text() == INBOX + "\nbuy milk\n\na line\nand more\n"


def test_a_change_is_shown_and_asked_for(garden: World) -> None:
    before = tree(garden.vault)
    no = note(garden, "append", "Inbox", "- New", typed="n\n", terminal=True)
    assert no.code == ExitCode.USAGE
    assert "- New" in no.err
    assert "Nothing was changed." in no.err
    assert tree(garden.vault) == before
    assert note(garden, "append", "Inbox", "- New", typed="y\n", terminal=True).code == 0
    assert (garden.vault / "Inbox.md").read_text() == INBOX + "\n- New\n"


def test_without_a_terminal_nothing_is_changed_unless_told(garden: World) -> None:
    before = tree(garden.vault)
    refused = garden.run("note", "append", "Inbox", "-", stdin="x")
    assert refused.code == ExitCode.USAGE
    assert "--yes" in refused.err
    assert tree(garden.vault) == before


def test_a_change_for_scripts(garden: World) -> None:
    made = note(garden, "append", "Inbox", "x", "--yes", "--json").json
    assert made["applied"] is True
    assert made["id"] == garden.run("changes", "--json").json[0]["id"]
    assert made["files"] == [{"path": "Inbox.md", "action": "edited", "moved_from": None, "edited": True}]


def test_a_name_of_several_notes_is_refused_with_their_paths(garden: World) -> None:
    before = tree(garden.vault)
    told = note(garden, "append", "Notes", "x", "--yes")
    assert told.code == ExitCode.VAULT
    assert "Plants/Notes.md" in told.err
    assert "Tools/Notes.md" in told.err
    assert tree(garden.vault) == before
    assert note(garden, "append", "Tools/Notes.md", "x", "--yes").code == 0
    assert note(garden, "append", "Notes.md", "y", "--yes", cwd=garden.vault / "Tools").code == 0
    assert (garden.vault / "Tools/Notes.md").read_text() == "second\n\nx\n\ny\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["append", "Inbox"], "What shall be appended?"),
        (["append", "Inbox", "  "], "What shall be appended?"),
        (["append", "Inbox", "x", "--prepend"], "--prepend needs a section."),
        (["set", "Inbox", "due"], "What shall due be?"),
        (["set", "Inbox", "due", "x", "--remove"], "set to a value, or removed"),
        (["new", "A", "text", "--template", "T"], "of a template or of a text"),
    ],
)
def test_wrong_use_is_told_with_a_way_out(garden: World, arguments: list[str], told: str) -> None:
    before = tree(garden.vault)
    result = note(garden, *arguments, "--yes")
    assert result.code == ExitCode.USAGE
    assert told in result.err
    assert len(result.err.splitlines()) == 2
    assert tree(garden.vault) == before
