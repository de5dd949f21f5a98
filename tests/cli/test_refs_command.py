"""`zkchat refs`: which conversations used which notes."""

import stat
from datetime import timedelta

import pytest

from tests.support.sessions import NOON
from tests.support.world import World
from zkchat.app import stores
from zkchat.core.errors import ExitCode
from zkchat.core.message import ChatMessage, DocumentReference
from zkchat.core.session import MessageEntry


def talk(world: World, title: str, *turns: list[str]) -> str:
    with stores.open_sessions(world.environment(), world.vault) as store:
        session = store.create(title)
        for number, paths in enumerate(turns):
            references = tuple(DocumentReference(wikilink=f"[[{path}]]", relative_path=path) for path in paths)
            at = NOON + timedelta(hours=number)
            message = ChatMessage(id=f"m{number}", role="user", references=references, created_at=at)
            store.append(session.id, [MessageEntry(message=message)])
        return session.id


@pytest.fixture
def world(world: World) -> World:
    world.note("Sleep.md", "# Sleep\n")
    world.note("Coffee.md", "# Coffee\n")
    talk(world, "Nights", ["Sleep.md"], ["Sleep.md", "Coffee.md"])
    talk(world, "Days", ["Coffee.md", "Gone.md"], ["Sleep.md"])
    return world


def test_the_conversations_that_used_a_note_are_shown_the_latest_first(world: World) -> None:
    assert world.run("refs", "[[Sleep]]").out.count("linked in the message; message m") == 3
    uses = world.run("refs", "Sleep", "--json").json
    assert {use["session_title"] for use in uses} == {"Nights", "Days"}
    assert [use["at"] for use in uses] == sorted((use["at"] for use in uses), reverse=True)
    assert set(uses[0]) == {"path", "session_id", "session_title", "message_id", "at", "why", "cited", "is_gone"}


def test_a_note_that_is_gone_is_still_found_in_the_conversations(world: World) -> None:
    for name in ("Gone.md", "[[Gone]]", "Gone"):
        (use,) = world.run("refs", name, "--json").json
        assert (use["session_title"], use["is_gone"]) == ("Days", True)
    assert world.run("refs", "Gone").err == "Gone.md no longer exists.\n"
    world.note("New.md", "# New\n")
    assert "No conversation has used New.md." in world.run("refs", "New").err


def test_wrong_use_is_told(world: World) -> None:
    for number in ("0", "many", "-1", "9" * 5_000):
        assert world.run("refs", "--top", number).code == ExitCode.USAGE
    for arguments in ([], ["Sleep", "--graph", "x.html"], ["--top", "--graph", "x.html"]):
        result = world.run("refs", *arguments)
        assert (result.code, "Say what to show." in result.err) == (ExitCode.USAGE, True)


def test_the_notes_used_most_come_first_and_it_is_said_which_are_gone(world: World) -> None:
    assert world.run("refs", "--top").out.splitlines()[0] == "    3 times in 2 conversations     Sleep.md"
    top = world.run("refs", "--top", "2", "--json").json
    assert [(each["path"], each["turns"], each["sessions"]) for each in top] == [
        ("Sleep.md", 3, 2),
        ("Coffee.md", 2, 2),
    ]
    (world.vault / "Sleep.md").unlink()
    assert [line.rpartition("  ")[2] for line in world.run("refs", "--top").out.splitlines()] == [
        "Sleep.md (no longer exists)",
        "Coffee.md",
        "Gone.md (no longer exists)",
    ]
    gone = {note["path"]: note["is_gone"] for note in world.run("refs", "--top", "--json").json}
    assert gone == {"Sleep.md": True, "Coffee.md": False, "Gone.md": True}


def test_a_page_is_drawn_for_its_owner_alone(world: World) -> None:
    result = world.run("refs", "--graph", "refs.html", "--vault", str(world.vault), cwd=world.root)
    page = world.root / "refs.html"
    assert result.out == f"Drew 3 notes and 2 conversations: {page}\n"
    assert "Sleep.md" in page.read_text()
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    again = world.run("refs", "--graph", "refs.html", "--json", "--vault", str(world.vault), cwd=world.root).json
    assert again == {"file": str(page), "notes": 3, "conversations": 2}


def test_a_file_that_is_no_page_of_ours_is_not_overwritten_unasked(world: World) -> None:
    (world.root / "mine.html").write_text("<p>mine")
    world.confirm(world.root)
    assert world.run("refs", "--graph", "mine.html", cwd=world.root).code == ExitCode.USAGE
    assert (world.root / "mine.html").read_text() == "<p>mine"
    assert world.run("refs", "--graph", "mine.html", "--yes", cwd=world.root).code == ExitCode.OK
    assert world.run("refs", "--graph", "Sleep.md", "--yes").code == ExitCode.USAGE
    assert (world.vault / "Sleep.md").read_text() == "# Sleep\n"


def test_a_page_in_the_vault_is_taken_back_by_undo(world: World) -> None:
    result = world.run("refs", "--graph", "refs.html")
    assert (result.code, result.err) == (0, "zkchat undo reverts it.\n")
    page = world.vault / "refs.html"
    assert page.is_file()
    assert world.run("undo", "--yes").out == "refs.html is removed again.\n"
    assert not page.exists()
