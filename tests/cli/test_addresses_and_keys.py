"""Where keys go, and that no password in an address is ever printed."""

from collections.abc import Iterator

import pytest

from tests.providers.loopback import Loopback
from tests.support.world import World
from zkchat.app import conversation
from zkchat.app.conversation_core import ConversationOptions
from zkchat.core.prompt import Finish, TextChunk

PASSWORD = "hunter2canary"
KEY = "ollama-canary-key"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A user whose servers have a password in their addresses."""
    world = World(tmp_path_factory.mktemp("asked"))
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    with Loopback({"m": [TextChunk(text="Seven."), Finish()]}) as server:
        address = server.address.replace("//", f"//me:{PASSWORD}@")
        world.variables |= {"ZKCHAT_OLLAMA__HOST": address, "OPENAI_BASE_URL": f"{address}/v1"}
        yield world


@pytest.fixture
def note(world: World) -> World:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    return world


@pytest.mark.parametrize(
    "command",
    [
        "config show",
        "config show --json",
        "config get ollama.host --json",
        "config get openai.base_url",
        "doctor",
        "doctor --json",
        "models",
        "models --json",
        "ask hours? --json",
        "ask hours? --model ollama:gone",
        "ask hours? --model openai:gone",
    ],
)
def test_no_command_prints_a_password_that_stands_in_an_address(asked: World, command: str) -> None:
    result = asked.run(*command.split())
    assert PASSWORD not in result.out + result.err


def test_a_wrong_address_is_told_without_its_password(note: World) -> None:
    note.variables["ZKCHAT_OLLAMA__HOST"] = f"ftp://me:{PASSWORD}@example.org"
    result = note.run("config", "show")
    assert "ftp://…@example.org" in result.err
    assert PASSWORD not in result.out + result.err


def keys_sent(world: World, server: Loopback) -> set[str]:
    world.run("ask", "How many hours of sleep?", "--model", "ollama:m")
    world.run("models")
    return {request.headers.get("authorization", "") for request in server.requests} - {""}


def test_ollamas_key_goes_to_a_server_of_the_users_choice_only(note: World) -> None:
    note.variables["OLLAMA_API_KEY"] = KEY
    with Loopback({"m": [TextChunk(text="Seven."), Finish()]}) as server:
        note.variables["ZKCHAT_OLLAMA__HOST"] = ""
        note.note(".zkchat/config.toml", f'[ollama]\nhost = "{server.address}"\n')
        note.run("trust", "--yes")
        assert keys_sent(note, server) == set()
        assert server.requests
        note.variables["OLLAMA_HOST"] = server.address.removeprefix("http://")
        note.note(".zkchat/config.toml", "")
        assert keys_sent(note, server) == {f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("model", "variables", "warning"),
    [
        (
            "openai:m",
            {"OPENAI_BASE_URL": "http://192.0.2.1:9/v1", "OPENAI_API_KEY": KEY},
            "go to http://192.0.2.1:9/v1",
        ),
        ("ollama:m", {"OLLAMA_HOST": "192.0.2.1:9", "OLLAMA_API_KEY": KEY}, "is not sent to http://192.0.2.1:9"),
    ],
)
def test_a_key_for_another_machine_over_plain_http_is_told_once_where_it_matters(
    note: World, model: str, variables: dict[str, str], warning: str
) -> None:
    note.variables |= {"ZKCHAT_OLLAMA__HOST": "", **variables}
    (said,) = warnings_with(note, model)
    assert warning in said
    assert KEY not in said
    assert warnings_with(note, "quote") == []


def warnings_with(world: World, model: str) -> list[str]:
    """What a conversation with that model begins with; nobody is asked anything yet."""
    options = ConversationOptions(vault=world.vault, model=model)
    with conversation.open_conversation(world.environment(), options) as opened:
        return [warning.text for warning in opened.warnings]
