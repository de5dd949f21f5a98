"""Whatever a server does, the turn ends in a sentence, nothing is lost, and the session goes on."""

import pytest

from tests.faults.fault_server import AFTER_TOOLS, FaultServer
from tests.providers.loopback import serving
from tests.support.stored_text import files_holding
from tests.support.world import World
from zkchat.core.errors import ExitCode

CANARY = "sk-canary-0123456789"

EACH = ("ollama", "openai", "anthropic")
FAILING = [("401", "openai"), ("413", "ollama"), ("html", "anthropic"), ("garbage@5", "ollama"), ("fin@5", "openai")]
SURVIVED = [("429@1", "ollama"), ("halved@5", "anthropic"), ("osc52", "openai"), ("loop", "ollama")]
"""Faults, each by one protocol: test_provider_faults.py tries every fault by every protocol."""

server = serving(FaultServer)


@pytest.fixture(params=EACH)
def protocol(request: pytest.FixtureRequest, world: World, server: FaultServer) -> str:
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    world.variables |= {
        "ZKCHAT_OLLAMA__HOST": server.address,
        "ZKCHAT_OPENAI__BASE_URL": f"{server.address}/v1",
        "ZKCHAT_ANTHROPIC__BASE_URL": server.address,
        "OPENAI_API_KEY": CANARY,
        "ANTHROPIC_API_KEY": CANARY,
        "OLLAMA_API_KEY": CANARY,
    }
    name: str = request.param
    return name


def messages(world: World) -> list[dict[str, object]]:
    (session,) = world.run("sessions", "list", "--all", "--json").json
    listed: list[dict[str, object]] = world.run("sessions", "show", session["id"], "--json").json["messages"]
    return listed


@pytest.mark.parametrize(("fault", "protocol"), [*FAILING, ("error@5", "anthropic")], indirect=["protocol"])
def test_a_failing_server_costs_one_sentence_and_the_session_goes_on(world: World, protocol: str, fault: str) -> None:
    result = world.run("ask", "How long?", "--model", f"{protocol}:{fault}")
    assert result.code == ExitCode.MODEL
    assert result.err.startswith("zkchat: ")
    assert len(result.err.splitlines()) <= 3
    assert "Traceback" not in result.err
    kept = messages(world)
    assert kept[0]["role"] == "user"
    if "@5" in fault:
        assert "word5" in result.out
        assert (kept[-1]["role"], kept[-1]["status"]) == ("assistant", "unfinished")
    assert world.run("ask", "And now?", "--model", f"{protocol}:ok", "--continue").code == 0
    assert messages(world)[-1]["status"] == "complete"
    assert CANARY not in result.out + result.err
    assert not files_holding(world.home, CANARY)


@pytest.mark.parametrize(("fault", "protocol"), SURVIVED, indirect=["protocol"])
def test_what_can_be_survived_is_answered(world: World, protocol: str, fault: str) -> None:
    result = world.run("ask", "How long?", "--model", f"{protocol}:{fault}")
    assert result.code in {ExitCode.OK, ExitCode.NO_ANSWER}
    assert "\x1b" not in result.out
    assert messages(world)[-1]["status"] == "complete"


def test_malformed_arguments_of_a_tool_end_in_an_answer_or_a_sentence(world: World, protocol: str) -> None:
    # Ollama's client takes arguments that are no object for a broken answer; in the other protocol they reach the tool.
    result = world.run("ask", "How long?", "--model", f"{protocol}:arguments")
    assert result.code == (ExitCode.MODEL if protocol == "ollama" else ExitCode.NO_ANSWER)
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("fault", "protocol"),
    [("endless", "ollama"), ("endless-line", "openai"), ("endless-thinking", "anthropic"), ("endless-blank", "openai")],
    indirect=["protocol"],
)
def test_an_answer_without_end_is_ended_and_what_came_is_kept(world: World, protocol: str, fault: str) -> None:
    world.variables["ZKCHAT_LIMITS__MAX_ANSWER_CHARS"] = "11000"
    result = world.run("ask", "How long?", "--model", f"{protocol}:{fault}")
    assert result.code == ExitCode.MODEL
    assert "was cut off at 11,000 characters" in result.err
    assert messages(world)[-1]["status"] == "unfinished"


@pytest.mark.parametrize("protocol", ["ollama", "openai"], indirect=True)
def test_a_chunk_of_fifty_megabytes_costs_one_sentence(world: World, protocol: str) -> None:
    result = world.run("ask", "How long?", "--model", f"{protocol}:huge-chunk")
    assert result.code == ExitCode.MODEL
    assert "sent a reply that is too long" in result.err
    assert result.out.strip() == "words"


@pytest.mark.parametrize(
    ("fault", "protocol"),
    [("many-calls", "anthropic"), ("long-arguments", "openai"), ("digits", "ollama"), ("nested", "openai")],
    indirect=["protocol"],
)
def test_calls_without_measure_end_in_an_answer_or_a_sentence(world: World, protocol: str, fault: str) -> None:
    # Ollama's client reads arguments itself, and takes what it cannot read for a broken answer.
    result = world.run("ask", "How long?", "--model", f"{protocol}:{fault}")
    if result.code == ExitCode.OK:
        assert AFTER_TOOLS in result.out
    else:
        assert (protocol, result.code) == ("ollama", ExitCode.MODEL)
        assert "sent " in result.err
    assert "Traceback" not in result.err
    assert world.run("ask", "And now?", "--model", f"{protocol}:ok", "--continue").code == 0


@pytest.mark.parametrize("protocol", ["openai"], indirect=True)
def test_thinking_without_an_end_is_the_answer(world: World, protocol: str) -> None:
    result = world.run("ask", "How long?", "--model", f"{protocol}:unclosed")
    assert (result.code, result.out.strip()) == (ExitCode.OK, "Seven hours.")
    assert "did not say where its thinking ends" in result.err


@pytest.mark.parametrize("protocol", ["ollama"], indirect=True)
def test_an_empty_answer_is_no_answer_and_is_said_to_be_empty(world: World, protocol: str) -> None:
    result = world.run("ask", "How long?", "--model", f"{protocol}:empty")
    assert (result.code, result.out) == (ExitCode.NO_ANSWER, "")
    assert f"{protocol}:empty answered nothing." in result.err
    assert "choose another model" in result.err


@pytest.mark.parametrize("protocol", ["openai"], indirect=True)
def test_an_answer_is_ended_at_a_million_characters_if_nothing_is_set(world: World, protocol: str) -> None:
    result = world.run("ask", "How long?", "--model", f"{protocol}:big")
    assert (result.code, len(result.out) >= 1_000_000) == (ExitCode.MODEL, True)
    assert "was cut off at 1,000,000 characters" in result.err
    assert messages(world)[-1]["status"] == "unfinished"


def test_a_server_that_is_not_there_is_named_with_a_way_out(world: World) -> None:
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    world.variables["ZKCHAT_OLLAMA__HOST"] = "http://127.0.0.1:9"
    result = world.run("ask", "How long?", "--model", "ollama:qwen3")
    assert (result.code, messages(world)[0]["role"]) == (ExitCode.MODEL, "user")
    assert "127.0.0.1:9" in result.err
    assert "ollama serve" in result.err
