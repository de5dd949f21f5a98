"""A session goes on with its model, unless the user says otherwise: against servers that record, over both wires."""

from typing import Any

import pytest

from tests.providers.loopback import PROTOCOLS, Loopback, serving
from tests.support.world import Result, World
from zkchat.app import stores
from zkchat.core.errors import ExitCode
from zkchat.core.prompt import Finish, ModelChunk, TextChunk
from zkchat.core.session import ModelEntry

MODELS: dict[str, list[ModelChunk]] = {
    name: [TextChunk(text=f"{name} says seven hours."), Finish()] for name in ("m", "n")
}


server = serving(lambda: Loopback({**MODELS}, key=""), scope="function")


@pytest.fixture
def user(world: World, server: Loopback) -> World:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    world.variables["ZKCHAT_OLLAMA__HOST"] = ""
    configure(world, server)
    return world


def configure(world: World, server: Loopback, more: str = "") -> None:
    addresses = f'[ollama]\nhost = "{server.address}"\n[openai]\nbase_url = "{server.address}/v1"\n'
    world.configure(f"{more}\n{addresses}")


def asked(server: Loopback) -> list[str]:
    """The models that were asked since the last time."""
    models = [request.body["model"] for request in server.requests if request.path in PROTOCOLS]
    server.requests.clear()
    return models


def ask(world: World, *options: str) -> Result:
    result = world.run("ask", "How many hours of sleep?", *options)
    assert result.code == ExitCode.OK, result.err
    return result


def chat(world: World, *lines: str, options: tuple[str, ...] = ()) -> Result:
    return world.run("chat", "--plain", *options, stdin="".join(f"{line}\n" for line in lines))


def last_session(world: World) -> str:
    name: str = world.run("sessions", "list", "--all", "--json").json[0]["id"]
    return name


def test_a_session_goes_on_with_the_model_that_answered_in_it(user: World, server: Loopback) -> None:
    configure(user, server, 'model = "openai:n"')
    ask(user, "--model", "openai:m")
    session = last_session(user)
    assert asked(server) == ["m"]
    for options in (["-c"], ["--session", session]):
        told = ask(user, *options, "--json").json
        assert (told["model"], told["usage"]["context"]["window"]) == ("openai:m", 8192)
    chat(user, "And children?", options=("--continue",))
    chat(user, f"/resume {session}", "And babies?")
    assert asked(server) == ["m"] * 4
    ask(user)
    assert asked(server) == ["n"]


def test_a_flag_and_a_variable_say_otherwise_and_the_session_goes_on_with_that(user: World, server: Loopback) -> None:
    ask(user, "--model", "openai:m")
    ask(user, "-c", "--model", "openai:n")
    ask(user, "-c")
    user.variables["ZKCHAT_MODEL"] = "openai:m"
    ask(user, "-c")
    user.variables["ZKCHAT_MODEL"] = ""
    ask(user, "-c")
    assert asked(server) == ["m", "n", "n", "m", "m"]


def test_a_reader_at_a_terminal_is_told_which_model_goes_on_and_what_the_settings_name(
    user: World, server: Loopback
) -> None:
    configure(user, server, 'model = "ollama:n"')
    ask(user, "--model", "ollama:m")
    said = user.run("ask", "And children?", "-c", terminal=True).err
    assert "This session continues with its own model, ollama:m (window 8,192 tokens)." in said
    assert "To use the one in your settings: --model ollama:n" in said
    assert "continues with its own" not in user.run("ask", "How?", "--model", "ollama:m", terminal=True).err
    configure(user, server, 'model = "ollama:m"')
    assert "To use the one in your settings" not in user.run("ask", "And babies?", "-c", terminal=True).err


NAMED = '[models.careful]\nprovider = "ollama"\nid = "m"\ncontext_limit = 4096\noptions = { top_p = 0.5 }\n'


def test_a_name_that_is_gone_from_the_settings_is_told_and_nothing_is_sent(user: World, server: Loopback) -> None:
    configure(user, server, NAMED)
    ask(user, "--model", "careful")
    configure(user, server, 'model = "ollama:n"')
    asked(server)
    result = user.run("ask", "And children?", "-c")
    assert result.code == ExitCode.CONFIG
    assert "The model of this session, careful (ollama:m), is no longer in your settings." in result.err
    assert "--model ollama:m" in result.err
    assert asked(server) == []
    ask(user, "-c", "--model", "ollama:m")
    ask(user, "-c")
    assert asked(server) == ["m", "m"]


def test_a_model_that_ran_here_and_runs_elsewhere_now_is_sent_nothing(user: World, server: Loopback) -> None:
    ask(user, "--model", "openai:m")
    asked(server)
    user.variables["ZKCHAT_OPENAI__LOCAL"] = "false"
    result = user.run("ask", "And children?", "-c")
    assert result.code == ExitCode.MODEL
    assert "This session's model ran on this machine. openai:m does not" in result.err
    assert user.run("context", "compact", "--keep", "1").code == ExitCode.OK
    assert asked(server) == []
    assert "--model openai:m" in result.err
    ask(user, "-c", "--model", "openai:m")
    ask(user, "-c")
    assert asked(server) == ["m", "m"]


@pytest.mark.parametrize("before", ["ollama:m", "quote"])
def test_it_is_told_once_when_a_session_leaves_the_machine(user: World, server: Loopback, before: str) -> None:
    ask(user, "--model", before)
    user.variables |= {"ZKCHAT_MODEL": "openai:n", "ZKCHAT_OPENAI__LOCAL": "false"}
    warning = f"openai:n is not on this machine; until now {before} answered this session here."
    assert warning in user.run("ask", "And children?", "-c").err
    assert warning not in user.run("ask", "And babies?", "-c").err


def test_a_model_that_never_answered_is_not_kept(user: World, server: Loopback) -> None:
    ask(user, "--model", "ollama:m")
    for wrong in ("ollama:gone", "openai:gone", "nonsense"):
        assert user.run("ask", "And children?", "-c", "--model", wrong).code != ExitCode.OK
    asked(server)
    ask(user, "-c")
    assert asked(server) == ["m"]


def entries(world: World) -> list[Any]:
    with stores.open_sessions(world.environment(), world.vault) as store:
        return [entry.body for entry in store.entries(store.sessions()[0].id)]


def stored(world: World, bodies: list[Any]) -> None:
    """A new session of these entries."""
    with stores.open_sessions(world.environment(), world.vault) as store:
        store.append(store.create().id, bodies)


@pytest.mark.parametrize("name", ["openai:m", "ollama:far-cloud", "scripted:play.json"])
def test_a_session_in_the_vault_leads_to_no_server_elsewhere_and_to_no_file(
    user: World, server: Loopback, name: str
) -> None:
    user.note("play.json", '{"answers": [[{"text": "Do as I say."}]]}')
    user.variables |= {"ZKCHAT_STORAGE__LOCATION": "vault", "ZKCHAT_OPENAI__LOCAL": "false"}
    configure(user, server, 'model = "ollama:n"')
    ask(user)
    stored(user, [*entries(user), ModelEntry(name=name, model=name, chosen=True)])
    asked(server)
    result = ask(user, "-c")
    assert asked(server) == ["n"]
    assert f"This session is stored in the vault and asks for the model {name}" in result.err
    assert f"--model {name}" in result.err


def test_a_session_in_the_vault_is_not_followed_to_a_model_that_a_server_here_forwards(
    user: World, server: Loopback
) -> None:
    user.variables["ZKCHAT_STORAGE__LOCATION"] = "vault"
    configure(user, server, 'model = "openai:n"')
    ask(user)
    stored(user, [*entries(user), ModelEntry(name="ollama:m", model="ollama:m", on_this_machine=True)])
    asked(server)
    shown = server.shown()
    assert isinstance(shown, dict)
    server.shown = lambda: {**shown, "remote_host": "https://ollama.com:443"}  # type: ignore[method-assign]
    assert user.run("ask", "And children?", "-c").code == ExitCode.MODEL
    assert asked(server) == []


def test_the_context_commands_name_the_model_of_the_session_and_its_window(user: World, server: Loopback) -> None:
    configure(user, server, 'model = "quote"')
    for day in range(4):
        said = f"On day {day} I went to bed at ten, read for an hour, and slept until the neighbour's dog woke me. " * 9
        assert user.run("ask", f"{said} Is that enough?", "-c", "--model", "openai:m").code == ExitCode.OK
    line = "Model openai:m, context window 8,192 tokens."
    assert line in user.run("context", "show").out
    shown = user.run("context", "show", "--json").json
    assert (shown["model"], shown["window"]) == ("openai:m", 8192)
    assert line in user.run("context", "stats").out
    told = user.run("context", "stats", "--json").json
    assert (told["model"], told["window"], told["trouble"]) == ("openai:m", 8192, "")
    assert line in user.run("context", "compact", "--keep", "2", "--dry-run").out
    planned = user.run("context", "compact", "--keep", "2", "--dry-run", "--json").json
    assert (planned["model"], planned["window"]) == ("openai:m", 8192)
    asked(server)
    done = user.run("context", "compact", "--keep", "5", "--json").json
    assert (done["provider"], done["model"], done["window"]) == ("openai", "m", 8192)
    assert line in user.run("context", "compact", "--keep", "2").out
    assert set(asked(server)) == {"m"}


def test_statistics_without_the_server_keep_the_window_of_the_session_and_say_so(user: World) -> None:
    with Loopback({**MODELS}, key="") as gone:
        configure(user, gone, '[models.wide]\nprovider = "openai"\nid = "m"\n')
        user.variables["ZKCHAT_CONTEXT__MAX_TOKENS"] = "3000"
        ask(user, "--model", "wide")
        user.variables["ZKCHAT_CONTEXT__MAX_TOKENS"] = ""
    result = user.run("context", "stats")
    assert result.code == ExitCode.OK
    assert "Model openai:m, context window 3,000 tokens (last known; its server does not answer now)." in result.out
    assert "This session uses that model." in result.err
    told = user.run("context", "stats", "--json").json
    assert (told["window"], bool(told["trouble"])) == (3000, True)


def test_an_agent_that_is_chosen_later_brings_its_model(user: World, server: Loopback) -> None:
    folder = user.home / ".config" / "zkchat" / "agents"
    folder.mkdir(parents=True)
    (folder / "quick.md").write_text("---\nmodel: ollama:n\n---\nBe brief.\n")
    ask(user, "--model", "ollama:m")
    asked(server)
    chat(user, "/agent quick", "And children?", options=("--continue",))
    ask(user, "-c")
    ask(user, "-c", "--model", "ollama:m")
    ask(user, "-c")
    ask(user, "-c", "--agent", "quick")
    assert asked(server) == ["n", "n", "m", "m", "n"]


def test_a_name_that_means_another_model_now_is_followed_and_told(user: World, server: Loopback) -> None:
    configure(user, server, NAMED)
    ask(user, "--model", "careful")
    configure(user, server, NAMED.replace('id = "m"', 'id = "n"'))
    asked(server)
    said = user.run("ask", "And children?", "-c", terminal=True).err
    assert "careful (was ollama:m, is now ollama:n)" in said
    assert asked(server) == ["n"]


def test_a_session_from_before_goes_on_with_the_model_of_its_last_answer(user: World, server: Loopback) -> None:
    ask(user, "--model", "openai:m")
    stored(user, [body for body in entries(user) if not isinstance(body, ModelEntry)])
    asked(server)
    configure(user, server, 'model = "openai:n"')
    ask(user, "-c")
    assert asked(server) == ["m"]
