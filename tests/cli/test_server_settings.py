"""What the user says of servers and models, and what servers then get, over both wires against one that records."""

import pytest

from tests.providers.loopback import Loopback, serving
from tests.support.world import World
from zkchat.core.errors import ExitCode
from zkchat.core.prompt import Finish, TextChunk

SECRET = "Quollsecret"
WIRES = pytest.mark.parametrize("provider", ["ollama", "openai"])


server = serving(lambda: Loopback({"m": [TextChunk(text="Seven."), Finish()]}, key=""), scope="function")
other = serving(lambda: Loopback({"m": [TextChunk(text="Nine."), Finish()]}, key=""), scope="function", name="other")


@pytest.fixture
def user(world: World) -> World:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    world.variables["ZKCHAT_OLLAMA__HOST"] = ""
    return world


def address_of(server: Loopback, provider: str) -> str:
    return f"{server.address}/v1" if provider == "openai" else server.address


def variables_for(server: Loopback) -> dict[str, str]:
    """As other programs set them."""
    return {"OLLAMA_HOST": f"127.0.0.1:{server.port}", "OPENAI_BASE_URL": f"{server.address}/v1"}


def named(provider: str, **more: object) -> str:
    facts = {"provider": provider, "id": "m", **more}
    lines = (
        f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}" for key, value in facts.items()
    )
    return "\n".join(("[models.mine]", *lines, ""))


SETTING = {"ollama": "host", "openai": "base_url"}
VARIABLE = {"ollama": "OLLAMA_HOST", "openai": "OPENAI_BASE_URL"}


@WIRES
def test_a_server_in_the_users_environment_is_asked_where_the_settings_say_nothing(
    user: World, server: Loopback, provider: str
) -> None:
    user.variables |= variables_for(server)
    assert user.run("ask", "How many hours?", "--model", f"{provider}:m").out.strip() == "Seven."
    said = user.run("doctor").out
    assert f"({provider}.{SETTING[provider]} in the variable {VARIABLE[provider]})" in said


@WIRES
def test_the_settings_go_before_the_variables_of_other_programs(
    user: World, server: Loopback, other: Loopback, provider: str
) -> None:
    user.variables |= variables_for(other)
    file = user.configure(f'[{provider}]\n{SETTING[provider]} = "{address_of(server, provider)}"\n')
    assert user.run("ask", "How many hours?", "--model", f"{provider}:m").out.strip() == "Seven."
    assert other.requests == []
    said = user.run("doctor").out
    key = f"{provider}.{SETTING[provider]}"
    assert f"({key} in {file}; the variable {VARIABLE[provider]} is ignored)" in said


def asked_about_the_diary(world: World, server: Loopback, model: str) -> str:
    """What the server got when it was asked about a local note."""
    world.note("Diary.md", f"---\nzkchat: local\n---\nI slept badly: {SECRET}.\n")
    assert world.run("ask", "How did I sleep? [[Diary]]", "--model", model).code == ExitCode.OK
    return str([request.body for request in server.requests])


def test_a_server_on_this_machine_gets_local_notes(user: World, server: Loopback) -> None:
    user.variables |= variables_for(server)
    assert SECRET in asked_about_the_diary(user, server, "openai:m")
    said = user.run("doctor", "--model", "openai:m").out
    assert "openai:m (ready; 8,192 tokens, tools, on this machine)" in said


@pytest.mark.parametrize(("provider", "model"), [("ollama", "mine"), ("openai", "")])
def test_a_server_that_is_declared_not_local_gets_none_of_them(
    user: World, server: Loopback, provider: str, model: str
) -> None:
    user.variables |= variables_for(server)
    file = user.configure(f"[{provider}]\nlocal = false\n{named(provider)}")
    name = model or f"{provider}:m"
    assert SECRET not in asked_about_the_diary(user, server, name)
    said = user.run("doctor", "--model", name).out
    assert f"{provider}:m (ready; 8,192 tokens, tools, elsewhere: private notes are not sent)" in said
    assert f"counts as another machine, because {provider}.local is false in {file}" in said


def windows(server: Loopback) -> set[int]:
    return {request.body["options"]["num_ctx"] for request in server.requests if request.path == "/api/chat"}


def test_a_declared_window_is_used_whole_unless_the_user_limits_all_windows(user: World, server: Loopback) -> None:
    user.variables |= variables_for(server)
    user.configure(named("ollama", context_limit=65_536))
    result = user.run("ask", "How many hours?", "--model", "mine", "--json").json
    assert windows(server) == {65_536}
    assert result["usage"]["context"]["window"] == 65_536
    user.variables["ZKCHAT_CONTEXT__MAX_TOKENS"] = "40000"
    user.run("ask", "How many hours?", "--model", "mine")
    assert windows(server) == {65_536, 40_000}
