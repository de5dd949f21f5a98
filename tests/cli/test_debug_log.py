"""The debug log: what it holds, who may read it, and that no key ever gets into it."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.providers.loopback import KEY, Connection, Loopback, Request, serving
from tests.support.world import World
from zkchat.core import debug_log
from zkchat.core.errors import ExitCode
from zkchat.core.prompt import Finish, TextChunk

SHAPELESS = 'zq/plain"words+here'
"""A key that looks like none, and is written otherwise in JSON and in an address."""


class Echo(Loopback):
    """Repeats the headers that it got: in small pieces as an answer, or as an error."""

    refuses = False

    async def serve(self, request: Request, connection: Connection) -> None:
        said = str(request.headers)
        if self.refuses and request.path.endswith("completions"):
            return await connection.reply(400, {"error": {"message": f"bad {said}", "headers": request.headers}})
        self.plays["m"] = [*(TextChunk(text=piece) for piece in said), Finish()]
        return await super().serve(request, connection)


server = serving(lambda: Echo({"m": []}, key=""), scope="function")


@pytest.fixture
def user(world: World, server: Loopback) -> Iterator[World]:
    world.note("Sleep.md", f"# Sleep\n\nAdults need seven hours. My key is {KEY} and password: hunter2abc99.\n")
    world.variables |= {"MINE": SHAPELESS, "SECOND_TOKEN": KEY}
    address = f"http://me:{SHAPELESS_IN_ADDRESS}@127.0.0.1:{server.port}/v1"
    world.configure(
        f'model = "a"\n[models.a]\nprovider = "openai"\nid = "m"\nbase_url = "{address}"\napi_key_env = "MINE"\n'
        'headers = { X-Token = "${SECOND_TOKEN}" }\n'
    )
    yield world
    debug_log.open_debug_log(None)


SHAPELESS_IN_ADDRESS = "pass7word7inurl"
SECRETS = (KEY, SHAPELESS, json.dumps(SHAPELESS)[1:-1], SHAPELESS_IN_ADDRESS, "hunter2abc99")


def entries(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def default_file(world: World) -> Path:
    return world.home / ".local" / "state" / "zkchat" / "debug.log"


def test_a_call_with_debug_logs_requests_replies_choices_and_times(user: World) -> None:
    said = user.run("ask", "How many hours of sleep?", "--debug")
    assert said.code == ExitCode.OK
    assert f"The debug log: {default_file(user)}" in said.err
    found = entries(default_file(user))
    assert {"model", "request", "reply", "asking", "answer", "event"} <= {entry["kind"] for entry in found}
    assert all(entry["at"].startswith("20") for entry in found)
    (chosen,) = [entry for entry in found if entry["kind"] == "model"]
    assert (chosen["name"], chosen["why"]) == ("a", f"set in {user.settings_file}")
    bodies = [entry["body"] for entry in found if entry["kind"] == "request" and entry["body"]]
    assert any("How many hours of sleep?" in str(body) for body in bodies)
    assert all(entry["status"] and entry["seconds"] >= 0 for entry in found if entry["kind"] == "reply")
    (answer,) = [entry for entry in found if entry["kind"] == "answer"]
    assert set(answer["seconds"]) == {"first_word", "all"}
    assert user.run("ask", "How many?").code == ExitCode.OK
    assert len(entries(default_file(user))) == len(found)  # the next call has none


def test_no_key_comes_into_it(user: World, server: Echo) -> None:
    user.run("config", "set", "debug.log", "true")
    user.run("ask", f"Is {SHAPELESS} a word? Sleep has {KEY}. [[Sleep]]")
    server.refuses = True
    user.run("ask", "How many hours of sleep?")
    user.run("models")
    user.run("config", "doctor")
    text = default_file(user).read_text()
    assert "Adults need seven hours" in text  # it holds what was sent
    assert [secret for secret in SECRETS if secret in text] == []
    assert any(entry.get("status") == 400 for entry in entries(default_file(user)))


def test_nor_where_another_library_sends_it(user: World, server: Echo) -> None:
    user.configure(
        f'model = "a"\n[models.a]\nprovider = "anthropic"\nid = "m"\nbase_url = "{server.address}"\n'
        'api_key_env = "MINE"\nheaders = { X-Token = "${SECOND_TOKEN}" }\n'
    )
    assert user.run("ask", "How many hours of sleep? [[Sleep]]", "--debug").code == ExitCode.OK
    text, found = default_file(user).read_text(), entries(default_file(user))
    assert [secret for secret in SECRETS if secret in text] == []
    assert any("Adults need seven hours" in str(entry.get("body")) for entry in found if entry["kind"] == "request")
    assert any(entry["kind"] == "reply" and entry["status"] == 200 for entry in found)


def test_only_its_owner_reads_it_and_it_is_rotated(user: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debug_log, "MAX_BYTES", 3_000)
    file = user.root / "logs" / "mine.log"
    file.parent.mkdir()
    file.write_text("old\n")
    file.chmod(0o644)
    user.run("config", "set", "debug.log", str(file))
    for _ in range(3):
        user.run("ask", "How many hours of sleep?", "--debug")
    kept = sorted(each.name for each in file.parent.iterdir())
    assert kept == ["mine.log", "mine.log.1", "mine.log.2", "mine.log.3"]
    assert {stat.S_IMODE(each.stat().st_mode) for each in file.parent.iterdir()} == {0o600}
    assert not default_file(user).exists()


def test_a_log_that_cannot_be_written_is_told_and_stops_nothing(user: World) -> None:
    (user.root / "file").write_text("")
    user.run("config", "set", "debug.log", str(user.root / "file" / "x.log"))
    said = user.run("ask", "How many hours of sleep?")
    assert said.code == ExitCode.OK
    assert "The debug log" in said.err
    assert "cannot be written" in said.err


def test_a_place_is_a_whole_path(user: World) -> None:
    for value in ("relative.log", "3"):
        said = user.run("config", "set", "debug.log", value)
        assert said.code == ExitCode.CONFIG
        assert "true, false, or the full path of a file" in said.err


def test_a_vault_can_have_nothing_logged(user: World) -> None:
    user.note(".zkchat/config.toml", f'[debug]\nlog = "{user.root / "stolen.log"}"\n')
    user.run("config", "trust", "--yes")
    assert "'debug.log'" in user.run("ask", "How many hours of sleep?").err
    assert not (user.root / "stolen.log").exists()
