"""What `sessions delete` deletes: every byte of the session below the user's home."""

from pathlib import Path

import pytest

from tests.support.stored_text import files_holding
from tests.support.world import World
from zkchat.repl.key_bindings import Pastes, SharedHistory, forget_typed

CANARY = "canary7351"


def places_of(world: World, text: str) -> list[str]:
    """The files below the home that hold this text."""
    return sorted(file.name for file in files_holding(world.home, text))


@pytest.fixture
def model(world: World) -> str:
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    return world.script(*[[{"text": f"The {CANARY} sleeps."}]] * 9)


def the_session(world: World) -> str:
    sessions = world.run("sessions", "list", "--all", "--json").json
    return next(str(session["id"]) for session in sessions if CANARY in session["title"])


def test_nothing_of_a_deleted_session_is_left_anywhere(world: World, model: str) -> None:
    assert world.run("ask", f"What is a {CANARY}?", "--model", model).code == 0
    history = SharedHistory(world.environment().data_dir / "history", Pastes())
    history.store_string(f"What is a {CANARY}?")  # a line of an older zkchat says nothing of its session
    history.session_id = the_session(world)
    history.store_string(f"/save [[About the {CANARY}]]")
    history.session_id = "another"
    history.store_string("What is an owl?")
    assert world.run("sessions", "search", CANARY).out
    (database,) = world.home.rglob("sessions.db")
    database.write_bytes(database.read_bytes().replace(b"entries_stay_as", b"entries_\xdd\xdday_as", 1))
    assert world.run("ask", f"And a second {CANARY}?", "--continue", "--model", model).code == 0
    world.run("ask", "What is an owl?", "--model", world.script([{"text": "A bird."}]))
    torn = database.parent / "backups" / "sessions-20260301T120000Z.db"
    torn.write_bytes(b"torn " + CANARY.encode())
    (database.parent / "backups" / "sessions-20260302T120000Z.part-1").write_text(CANARY)
    places = places_of(world, CANARY)
    assert {"history", "messages.db", "sessions.db", torn.name} <= {*places}
    assert any(".damaged-" in name for name in places)

    assert world.run("sessions", "delete", the_session(world), "--yes").code == 0
    assert places_of(world, CANARY) == []
    assert "What is an owl?" in (world.environment().data_dir / "history").read_text()
    assert [session["title"] for session in world.run("sessions", "list", "--all", "--json").json] == [
        "What is an owl?"
    ]


def test_lines_of_other_sessions_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "history"
    history = SharedHistory(file, Pastes())
    for session, text in (("one", "first\nof two lines"), ("two", "second"), ("one", "+ plus"), ("", "/help")):
        history.session_id = session
        history.store_string(text)
    forget_typed(file, "two", set())
    assert list(SharedHistory(file, Pastes()).load_history_strings()) == ["/help", "+ plus", "first\nof two lines"]
    forget_typed(file, "none", {"+ plus"})
    assert list(SharedHistory(file, Pastes()).load_history_strings()) == ["/help", "first\nof two lines"]
    assert file.stat().st_mode & 0o777 == 0o600
