"""Models with a server, a key, headers and time-outs of their own, against servers on loopback that record."""

import pytest

from tests.providers.loopback import KEY, Loopback, serving
from tests.support.world import Result, World
from zkchat.core.errors import ExitCode
from zkchat.core.prompt import Finish, TextChunk

SECRET = "Quollsecret"
NAME = "Claude Sonnet 4.5"
OTHER_KEY = "sk-other-7d1e44"


first = serving(lambda: Loopback({"m": [TextChunk(text="Seven."), Finish()]}), scope="function", name="first")
second = serving(
    lambda: Loopback({"m": [TextChunk(text="Nine."), Finish()]}, key=OTHER_KEY), scope="function", name="second"
)


@pytest.fixture
def user(world: World, first: Loopback, second: Loopback) -> World:
    """Who has two servers of one protocol, each with its own key, and a key for OpenAI."""
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    world.variables |= {"MY_KEY": KEY, "OTHER_KEY": OTHER_KEY, "OPENAI_API_KEY": "sk-for-openai-alone"}
    world.configure(table(NAME, first, api_key_env="MY_KEY") + table("b", second, api_key_env="OTHER_KEY"))
    return world


def table(name: str, server: Loopback, provider: str = "openai", **more: str) -> str:
    facts = {"provider": provider, "id": "m", "base_url": address(server, provider), **more}
    return "\n".join((f'[models."{name}"]', *(f'{key} = "{value}"' for key, value in facts.items()), "", ""))


def address(server: Loopback, provider: str = "openai") -> str:
    return f"{server.address}/v1" if provider == "openai" else server.address


def ask(world: World, model: str, *more: str, question: str = "How many hours?") -> Result:
    return world.run("ask", question, "--model", model, *more)


def keys(server: Loopback) -> set[str]:
    return {request.headers.get("authorization", "").removeprefix("Bearer ") for request in server.requests}


def sent(server: Loopback) -> str:
    return str([request.body for request in server.requests])


def test_two_servers_side_by_side_get_each_its_own_key_and_nothing_else(
    user: World, first: Loopback, second: Loopback
) -> None:
    assert ask(user, NAME).out.strip() == "Seven."
    assert ask(user, "b").out.strip() == "Nine."
    assert (keys(first), keys(second)) == ({KEY}, {OTHER_KEY})


def test_each_is_listed_by_its_own_server_and_the_one_in_use_is_marked(user: World, second: Loopback) -> None:
    second.plays.clear()
    user.run("config", "set", "model", NAME)
    assert f"* {NAME} = openai:m" in user.run("models").out
    named = {row["name"]: row for row in user.run("models", "--json").json["named"]}
    assert (named[NAME]["trouble"], named[NAME]["window"], named[NAME]["on_this_machine"]) == ("", 8192, True)
    assert named["b"]["trouble"] == "not listed by its server"


def test_servers_that_are_away_are_listed_in_order_and_none_for_which_there_is_no_key(user: World) -> None:
    a_model = '[models.m{0}]\nprovider = "ollama"\nid = "m"\nbase_url = "http://127.0.0.{0}:9"\n'
    without_key = '[models.x]\nprovider = "anthropic"\nid = "m"\napi_key_env = "NONE"\n'
    user.configure("".join(map(a_model.format, "725364")) + without_key)
    places = [each["place"] for each in user.run("models", "--json").json["places"]]
    assert [place[-3] for place in places if place.endswith(":9")] == [*"1725364"]


def test_a_server_of_ones_own_gets_no_key_that_is_for_another(user: World, first: Loopback) -> None:
    first.key = ""
    user.configure(table("a", first) + table("o", first, "ollama"))
    user.variables["OLLAMA_API_KEY"] = "ollama-canary"
    assert ask(user, "a").code == ExitCode.OK
    assert keys(first) == {""}
    user.variables |= {"OPENAI_BASE_URL": f"{first.address}/other"}
    assert ask(user, "a").code == ExitCode.OK
    assert keys(first) == {"", "sk-for-openai-alone"}  # which the user's variables send to that server


def test_where_a_key_is_refused_the_sentence_names_the_setting_of_that_model(user: World, first: Loopback) -> None:
    user.configure(table("a", first))
    said = ask(user, "a").err
    assert "refused the key" in said
    assert (
        "Put your key into an environment variable, and the variable's name into the setting models.a.api_key_env."
        in said
    )
    user.configure(table("a", first, api_key_env="GONE"))
    assert "Put a valid key into the environment variable GONE." in ask(user, "a").err


def test_headers_come_from_variables_and_are_shown_nowhere(user: World, first: Loopback) -> None:
    first.key = ""
    user.configure(table("a", first) + 'headers = { api-key = "${MY_KEY}", X-Title = "zkchat" }\n')
    assert ask(user, "a").code == ExitCode.OK
    assert {(each.headers["api-key"], each.headers["x-title"]) for each in first.requests} == {(KEY, "zkchat")}
    shown = user.run("config", "show").out + user.run("config", "get", "models.a.headers").out
    assert '"${MY_KEY}"' in shown
    assert KEY not in shown
    del user.variables["MY_KEY"]
    said = ask(user, "a")
    assert said.code == ExitCode.CONFIG
    assert "'models.a.headers' needs the variable MY_KEY, which is not set." in said.err
    assert "needs the variable MY_KEY" in user.run("models").out


def test_a_time_out_is_that_of_the_model(user: World, first: Loopback) -> None:
    user.configure(table("a", first, api_key_env="MY_KEY") + "timeout = 0.05\n")

    async def hang(_request: object, connection: object) -> None:
        await connection.hang()  # type: ignore[attr-defined]

    ask(user, "a")
    first.serve = hang  # type: ignore[method-assign, assignment]
    assert "sent nothing for" in ask(user, "a").err


def test_what_happens_to_older_messages_may_differ_by_model(user: World, first: Loopback) -> None:
    first.key = ""
    user.configure(table("a", first, strategy="discard") + table("c", first))
    user.run("chat", "--model", "a", stdin="".join(f"What of {number}?\n" for number in range(8)))

    def strategy(model: str) -> str:
        plan = user.run("context", "compact", "--dry-run", "--keep", "2", "--json", "--model", model)
        return str(plan.json["plan"]["strategy"])

    assert (strategy("a"), strategy("c")) == ("discard", "summarize")
    user.variables["ZKCHAT_CONTEXT__STRATEGY"] = "summarize"
    assert strategy("a") == "summarize"


DIARY = "How did I sleep? [[Diary]]"


def test_whether_private_notes_go_to_a_server_is_judged_by_its_own_address(user: World, first: Loopback) -> None:
    first.key = ""
    user.note("Diary.md", f"---\nzkchat: local\n---\nI slept badly: {SECRET}.\n")
    # The provider's own server is elsewhere, and declared so; that of the model is here.
    user.configure("[openai]\nlocal = false\n\n" + table("a", first))
    ask(user, "a", question=DIARY)
    assert SECRET in sent(first)
    first.requests.clear()
    user.configure(table("a", first) + "local = false\n")
    ask(user, "a", question=DIARY)
    assert SECRET not in sent(first)


def test_a_server_that_is_declared_elsewhere_is_so_under_each_of_its_names(user: World, first: Loopback) -> None:
    first.key = ""
    user.note("Diary.md", f"---\nzkchat: local\n---\nI slept badly: {SECRET}.\n")
    address = f"http://localhost:{first.port}/v1"
    user.configure(f'[openai]\nbase_url = "{address}"\nlocal = false\n\n' + table("a", first))
    ask(user, "a", question=DIARY)
    user.configure(table("b", first) + "local = false\n\n" + table("a", first).replace(first.address, address[:-3]))
    ask(user, "a", question=DIARY)
    assert first.requests
    assert SECRET not in sent(first)


@pytest.mark.parametrize("is_explicit", [True, False])
def test_a_gateway_of_anthropics_protocol_runs_elsewhere_unless_it_is_said_otherwise(
    user: World, is_explicit: bool
) -> None:
    with Loopback({"m": [TextChunk(text="Five."), Finish()]}, key="") as server:
        user.note("Diary.md", f"---\nzkchat: local\n---\nI slept badly: {SECRET}.\n")
        user.configure(table("a", server, "anthropic") + ("local = true\n" if is_explicit else ""))
        assert ask(user, "a", question=DIARY).out.strip() == "Five."
        assert (SECRET in sent(server)) is is_explicit
        assert KEY not in str([request.headers for request in server.requests])


def vault_says(world: World, text: str, *, approve: bool) -> None:
    world.note(".zkchat/config.toml", text)
    if approve:
        assert world.run("config", "trust", "--yes").code == ExitCode.OK


@pytest.mark.parametrize("approve", [False, True])
def test_a_vault_cannot_lead_a_key_or_a_header_to_another_address(
    user: World, first: Loopback, second: Loopback, approve: bool
) -> None:
    second.key = ""
    user.configure(table("a", first, api_key_env="MY_KEY") + 'headers = { X-Token = "${MY_KEY}" }\n')
    vault_says(user, f'[models.a]\nbase_url = "{address(second)}"\n', approve=approve)
    assert ask(user, "a").out.strip() == ("Nine." if approve else "Seven.")
    assert bool(second.requests) is approve  # after a yes that named the address
    assert not any(KEY in str(request.headers) for request in second.requests)
    assert not any("sk-" in str(request.headers) for request in second.requests)


@pytest.mark.parametrize(
    ("setting", "approve"), [('api_key_env = "OTHER_KEY"', False), ('headers = { X-A = "${OTHER_KEY}" }', True)]
)
def test_a_vault_can_name_no_variable_of_the_users(user: World, first: Loopback, setting: str, approve: bool) -> None:
    vault_says(user, f'[models."{NAME}"]\n{setting}\n', approve=approve)
    said = ask(user, NAME)
    key = setting.partition(" ")[0]
    assert f"'models.{NAME}.{key}'" in said.err
    assert "is ignored: it can only be set in your own settings." in said.err
    assert said.out.strip() == "Seven."
    assert OTHER_KEY not in str([request.headers for request in first.requests])
    refused = user.run("config", "set", f"models.{NAME}.{key}", "OTHER_KEY", "--scope", "vault")
    assert refused.code == ExitCode.CONFIG
