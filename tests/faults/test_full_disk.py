"""When nothing more can be written, the answer still comes and the user is warned that it is not saved."""

import os
import resource
import signal
import subprocess
import sys

from tests.support.world import World
from zkchat.core.errors import ExitCode


def forbid_writing() -> None:
    """In the child: every write to a file fails, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def ask_without_room(world: World, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zkchat", "ask", "How many hours of sleep?", "--vault", str(world.vault), *arguments],
        env={**os.environ, "HOME": str(world.home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=forbid_writing,
        check=False,
    )


def test_a_models_answer_comes_with_a_warning_and_later_turns_are_saved_again(world: World) -> None:
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    model = world.script([{"text": "Seven."}])
    assert world.run("ask", "How long?", "--model", model).code == 0

    full = ask_without_room(world, "--model", model)
    assert (full.returncode, full.stdout) == (0, "Seven.\n")
    assert "not saved" in full.stderr
    assert "Traceback" not in full.stderr

    assert world.run("ask", "And now?", "--model", model).code == 0
    sessions = world.run("sessions", "list", "--all", "--json").json
    assert [session["message_count"] for session in sessions] == [2, 2]


def test_where_the_notes_cannot_be_indexed_quoting_fails_with_a_sentence(world: World) -> None:
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    full = ask_without_room(world, "--model", "quote")
    assert full.returncode == ExitCode.STORAGE
    assert "Traceback" not in full.stderr
    assert len(full.stderr.splitlines()) <= 4


def test_a_session_that_cannot_be_opened_is_not_silently_replaced_by_a_new_one(world: World) -> None:
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    model = world.script([{"text": "Seven."}])
    world.run("ask", "How long?", "--model", model)
    assert ask_without_room(world, "--model", model, "--continue").returncode == ExitCode.STORAGE
