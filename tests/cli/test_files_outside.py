"""Files outside the vault that a question names: sent after a yes at the terminal or by an option, and never else."""

from pathlib import Path

import pytest

from tests.providers.loopback import serving
from tests.support.egress import Recorder, Scene, make_scene
from zkchat.core.errors import ExitCode

SECRET = "The kookaburra is outside."
HERE, ELSEWHERE = "ollama:here", "ollama:far-cloud"
BOTH = pytest.mark.parametrize("model", [HERE, ELSEWHERE])

server = serving(Recorder)


@pytest.fixture
def scene(tmp_path: Path, server: Recorder) -> Scene:
    server.requests.clear()
    scene = make_scene(tmp_path, server, {"Top.md": "# Top\n", "Private/Diary.md": "The numbat slept.\n"})
    scene.world.settings_file.write_text('[privacy]\nlocal_only = ["Private"]\n')
    (scene.world.home / "todo.txt").write_text(SECRET)
    return scene


def ask(scene: Scene, model: str, question: str, *options: str, typed: str = "", terminal: bool = True) -> str:
    stdin = None if terminal else ""
    said = scene.world.run("ask", question, "--model", model, *options, typed=typed, stdin=stdin, terminal=terminal)
    assert said.code == ExitCode.OK, said
    return said.out + said.err


@BOTH
def test_a_file_outside_is_sent_after_a_yes(scene: Scene, model: str) -> None:
    for name in (str(scene.world.home / "todo.txt"), "~/todo.txt"):
        said = ask(scene, model, f"What is in @{name}?", typed="y\n")
        assert "todo.txt is outside the vault." in said
        assert f"Send it to {model}, which runs {'on this machine' if model == HERE else 'on another machine'}?" in said
        assert SECRET.lower() in scene.server.received()


@BOTH
def test_without_a_yes_it_is_not_sent(scene: Scene, model: str) -> None:
    for typed in ("n\n", "\n", "", "what?\n"):
        assert "~/todo.txt is not sent." in ask(scene, model, "What is in @~/todo.txt?", typed=typed)
        assert "kookaburra" not in scene.server.received()


def test_where_nobody_can_be_asked_it_is_not_sent_and_the_option_is_named(scene: Scene) -> None:
    said = ask(scene, ELSEWHERE, "What is in @~/todo.txt?", terminal=False)
    assert "'~/todo.txt' leads out of the vault." in said
    assert "--file" in said
    assert "kookaburra" not in scene.server.received()
    assert "leads out" in ask(scene, ELSEWHERE, "What is in @~/todo.txt?", "--json", typed="y\n")
    assert "kookaburra" not in scene.server.received()


def test_an_option_sends_the_file_that_it_names_and_no_other(scene: Scene) -> None:
    (scene.world.home / "other.txt").write_text("The emu is outside.")
    file = str(scene.world.home / "todo.txt")
    said = ask(scene, ELSEWHERE, "What of @~/other.txt?", "--file", file, terminal=False)
    received = scene.server.received()
    assert SECRET.lower() in received
    assert "emu" not in received
    assert "~/other.txt is not sent." in said
    ask(scene, ELSEWHERE, "What is it?", "--file", str(scene.world.vault / "Top.md"), terminal=False)
    assert "# top" in scene.server.received()


def test_one_yes_is_enough_for_a_conversation(scene: Scene) -> None:
    typed = "See @~/todo.txt\ny\nAnd @~/todo.txt again\n/exit\n"
    said = scene.world.run("chat", "--model", HERE, "--plain", typed=typed, terminal=True)
    assert (said.out + said.err).count("is outside the vault.") == 1


def test_what_a_model_on_this_machine_was_given_goes_to_no_other(scene: Scene) -> None:
    ask(scene, HERE, "What is in @~/todo.txt?", typed="y\n")
    scene.server.received()
    ask(scene, ELSEWHERE, "And now?", "-c")
    assert "kookaburra" not in scene.server.received()


def test_there_is_no_way_round_the_rules_of_the_vault(scene: Scene) -> None:
    diary = scene.world.vault / "Private" / "Diary.md"
    (scene.world.home / "link.txt").symlink_to(diary)
    for name in (str(diary), "~/link.txt", "~/../vault/Private/Diary.md"):
        assert "is in the vault." in ask(scene, ELSEWHERE, f"What is in @{name}?", typed="y\n")
        assert "numbat" not in scene.server.received()


def test_what_is_no_text_is_told(scene: Scene) -> None:
    (scene.world.home / "data.bin").write_bytes(b"\0\1\2")
    for name, why in (
        ("~/data.bin", "is not a text file"),
        ("~/none.txt", "There is no file"),
        ("~/", "not a regular file"),
        ("/dev/zero", "not a regular file"),
    ):
        assert why in ask(scene, HERE, f"What is in @{name}?", typed="y\n")
    said = scene.world.run("ask", "What is in @~/todo.txt?", "--model", "quote", typed="y\n", terminal=True)
    assert "was not read: no model is in use." in said.err
