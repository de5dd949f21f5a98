"""Servers that are started as processes: what they offer and answer, and that no fault of theirs costs more than a
sentence."""

import asyncio
import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.waiting import eventually
from tests.unit.mcp_client.bench import SERVER, Bench, is_alive, plain
from zkchat.core.errors import ConfigError
from zkchat.core.tool_server import ServerAnswer, ServerDefinition
from zkchat.models.mcp_contents import resources_of, tools_of

pytestmark = pytest.mark.outside

UNREADABLE = "it is not a message of the protocol, or nested too deeply"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    definitions = (
        plain(),
        plain(name="brief", call_seconds=0.3),
        plain(name="patient", call_seconds=2),
        plain("exit"),
        plain("noisy"),
        plain("ends on discovery"),
        plain("wrong initialize"),
        plain("wrong version"),
        plain("wrong tools"),
        plain("endless tools"),
        plain("odd tools"),
        plain("new"),
        plain("no resources"),
        plain(name="off", is_enabled=False),
        ServerDefinition(name="missing", command="no-such-program"),
        ServerDefinition(name="relative", command="./server"),
        ServerDefinition(name="no folder", command="sh", cwd="/no/such/folder"),
        ServerDefinition(name="no program", command=str(SERVER)),
        ServerDefinition(name="unset", command="sh", args=("${UNSET}",)),
    )
    with Bench(tmp_path_factory.mktemp("logs"), *definitions, expand=expand) as bench:
        yield bench


def expand(definition: ServerDefinition) -> ServerDefinition:
    if "${UNSET}" in definition.args:
        raise ConfigError("the variable UNSET is not set")
    return definition


def test_a_server_is_connected_with_what_it_offers(bench: Bench) -> None:
    status = bench.status("plain")
    assert (status.state, status.problem, status.version, status.protocol) == ("ready", "", "plain 1.5", "2025-11-25")
    assert bench.status("ends on discovery").protocol == "2025-11-25", "it is asked by the older handshake"
    tools = {tool.name: tool for tool in status.tools}
    assert tools["die"].is_read_only
    assert not tools["slow"].is_read_only
    assert tools["slow"].description == "Does slow."
    assert [(resource.uri, resource.name) for resource in status.resources] == [("memo://a", "A memo")]
    assert [(prompt.name, prompt.arguments[0].is_required) for prompt in status.prompts] == [("talk", True)]


def test_a_server_of_the_newer_revision_is_connected_and_tells_of_changes(bench: Bench) -> None:
    assert bench.status("new").protocol == "2026-07-28"
    assert bench.call("input", server="new").text == "The MCP server new asks for input that zkchat cannot give."
    assert bench.call("echo", {"a": 1}, server="new").text == '{"a": 1}'
    eventually(lambda: "told" in {tool.name for tool in bench.status("new").tools})


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("exit", "ended with exit code 3."),
        ("wrong initialize", "sent what the protocol does not allow: capabilities: Input should be a valid dictionary"),
        ("wrong version", "failed: Unsupported protocol version from the server: 1999-01-01."),
        ("wrong tools", "sent what the protocol does not allow: tools.0.inputSchema: Field required."),
    ],
)
def test_a_server_that_fails_at_the_start_is_one_sentence_and_a_log(bench: Bench, name: str, says: str) -> None:
    status = bench.status(name)
    assert status.state == "failed"
    assert status.problem.startswith(f"The MCP server {name} {says}")
    answer = bench.call("echo", server=name)
    assert answer.failed
    assert answer.hint == f"Its output is in {status.log}."
    assert status.problem == f"{answer.text} {answer.hint}"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing", "cannot be started: there is no program no-such-program (install it or write its full path)."),
        ("relative", "cannot be started: there is no program ./server (install it or write its full path)."),
        ("no folder", "cannot be started: its folder /no/such/folder is not there."),
        ("no program", f"cannot be started: there is no program {SERVER} (check the path)."),
        ("unset", "cannot be used: the variable UNSET is not set."),
    ],
)
def test_a_server_that_cannot_be_started_is_one_sentence(bench: Bench, name: str, says: str) -> None:
    assert bench.status("off").state == "disabled"
    assert bench.call("echo", server="off").text == "There is no MCP server off."
    status = bench.status(name)
    assert (status.state, status.problem) == ("failed", f"The MCP server {name} {says}")
    assert bench.call("echo", server=name) == ServerAnswer(text=status.problem, failed=True)


def test_what_a_server_says_beside_the_protocol_is_in_its_log(bench: Bench) -> None:
    assert bench.status("noisy").state == "ready"
    log = Path(bench.status("noisy").log)
    assert re.findall(r"\(not an MCP message\) (.*)", log.read_text()) == ["Welcome!", "[]", "{}", "ÿ"]
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert "no database\n" in Path(bench.status("exit").log).read_text()


def test_lists_are_bounded_and_what_is_left_out_is_said(bench: Bench) -> None:
    endless = bench.status("endless tools")
    assert (endless.state, len(endless.tools)) == ("ready", 256)
    assert "lists more than 256 tools; the rest is left out" in endless.problem
    odd = bench.status("odd tools")
    assert [(tool.name, len(tool.description)) for tool in odd.tools] == [("good", 4000)]
    assert "lists 4 tools with names or schemas that cannot be used" in odd.problem


def test_a_list_that_fails_leaves_the_others(bench: Bench) -> None:
    status = bench.status("no resources")
    assert (status.state, status.resources) == ("ready", ())
    assert status.tools
    assert status.prompts
    assert "does not list its resources: it answered with an error: no database." in status.problem


@pytest.mark.parametrize(
    ("tool", "text", "uris"),
    [
        ("echo", '{"a": "b"}', ()),
        ("noise", "done", ()),
        ("image", "a picture\n\n[image image/png, not included]\n\n[audio audio/wav, not included]", ()),
        ("structured", '{\n "number": 7\n}', ()),
        ("embedded", "what it says", ("memo://c",)),
        (
            "links",
            "two\n\n[resource a: memo://a]\n\n[resource a: memo://a]\n\n[resource b: memo://b]",
            ("memo://a", "memo://b"),
        ),
        ("mismatch", '{"a": "b"}', ()),  # of headers: it is called again with those of the new list
        ("odd text", "abc\x1b[31m", ()),
        ("ask", "declined [True, True, True], capabilities {}", ()),
    ],
)
def test_an_answer_is_text(bench: Bench, tool: str, text: str, uris: tuple[str, ...]) -> None:
    assert bench.call(tool, {"a": "b\x00\ud800"}) == ServerAnswer(text=text, uris=uris)


def test_a_failed_call_is_told_with_the_words_of_the_server(bench: Bench) -> None:
    assert bench.call("fails") == ServerAnswer(text="there is no such file", failed=True)
    refused = bench.call("error")
    assert (refused.text, refused.failed) == ("The MCP server plain answered with an error: no: {}.", True)
    assert "sent what the protocol does not allow" in bench.call("wrong schema").text


def test_resources_and_prompts_are_text(bench: Bench) -> None:
    answer = asyncio.run(bench.servers.read("plain", "memo://a"))
    assert answer == ServerAnswer(text="a memo\n\n[file application/pdf memo://a, not included]", uris=("memo://a",))
    answer = asyncio.run(bench.servers.prompt("plain", "talk", {"topic": "tea"}))
    assert answer.text == "Talk about tea.\n\n(assistant) Gladly."


def test_lists_are_renewed_when_they_change(bench: Bench) -> None:
    assert bench.call("change").text == "changed"
    eventually(lambda: "fresh" in {tool.name for tool in bench.status("plain").tools})


def test_a_process_gets_few_variables_a_group_and_a_session_of_its_own(bench: Bench) -> None:
    state = json.loads(bench.call("process").text)
    assert set(state["variables"]) - {"LC_CTYPE"} == {"HOME", "PATH"}
    assert (state["folder"], state["leads"], state["session"]) == ("/", True, True)


@pytest.mark.parametrize("tool", ["wrong id", "slow"])  # after the last it is busy
def test_a_call_without_an_answer_ends_at_its_limit(bench: Bench, tool: str) -> None:
    answer = bench.call(tool, server="brief")
    assert answer.failed
    assert f"The MCP server brief did not answer the call of {tool} within 0.3 s" in answer.text


@pytest.mark.parametrize("tool", ["invalid json", "deep"])
def test_an_answer_that_cannot_be_read_fails_its_call(bench: Bench, tool: str) -> None:
    answer = bench.call(tool)
    assert answer.failed
    assert answer.text == f"The MCP server plain sent an answer that cannot be read: {UNREADABLE}."
    assert "(not an MCP message) {" in Path(bench.status("plain").log).read_text()
    assert bench.call("echo").text == "{}"


def test_a_server_that_dies_and_leaves_a_child_is_connected_again_at_the_next_call(bench: Bench) -> None:
    _, child = map(int, bench.call("child").text.split())
    died = bench.call("die")
    assert (died.text, died.failed) == ("The MCP server plain ended with exit code 5.", True)
    assert (bench.status("plain").state, bench.status("plain").problem) == ("lost", f"{died.text} {died.hint}")
    assert bench.status("plain").tools
    assert bench.call("echo").text == "{}"
    assert bench.status("plain").state == "ready"
    assert not is_alive(child)


def test_an_endless_line_ends_the_connection(bench: Bench) -> None:
    assert "sent a message of more than 16 MB" in bench.call("long line").text
    assert bench.call("echo").text == "{}"


def test_notifications_without_end_are_slowed_down(bench: Bench) -> None:
    """As many as would take five seconds at the pace that is allowed, and a fraction of one without it."""
    assert "did not answer the call of flood" in bench.call("flood", server="patient").text


ODD_TEXT = st.text(st.sampled_from("a\0\ud800\udc00é"), max_size=5)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(content=ODD_TEXT, structured=st.dictionaries(ODD_TEXT, JSON_VALUES))
@settings(max_examples=50)
def test_any_answer_can_be_stored(content: str, structured: dict[str, object]) -> None:
    from mcp_types import CallToolResult

    from zkchat.models.mcp_contents import answer_of_tool

    for blocks in ([{"type": "text", "text": content}], []):
        result = CallToolResult.model_validate({"content": blocks, "structuredContent": structured})
        text = answer_of_tool(result).text
        assert "\0" not in text
        text.encode()


def test_a_long_answer_is_cut(bench: Bench) -> None:
    text = bench.call("echo", {"a": "x" * 500_000}).text
    assert text.index("\n\n[") == 400_000
    assert text.endswith("more characters, not included]")


@pytest.mark.parametrize(("name", "is_kept"), [("n" * 256, True), ("n" * 257, False), (" n", False), ("n\n", False)])
def test_only_a_name_of_some_length_is_offered(name: str, is_kept: bool) -> None:
    assert bool([*tools_of("web", [types.Tool(name=name, input_schema={"type": "object"})])]) is is_kept


def test_long_descriptions_schemas_and_addresses_are_cut_or_left_out() -> None:
    schemas = [{"type": "object", "title": "s" * size} for size in (63_960, 64_000)]
    (tool,) = tools_of("web", [types.Tool(name="n", description="d" * 4_001, input_schema=each) for each in schemas])
    assert len(tool.description) == 4_000
    found = [types.Resource(uri=f"m:{'u' * size}", name="r" * 257) for size in (1_998, 1_999)]
    (resource,) = resources_of("web", found)
    assert (len(resource.uri), resource.name) == (2_000, "r" * 255 + "…")


def test_a_schema_holds_no_number_that_json_has_not() -> None:
    odd = {"maximum": float("nan"), "minimum": -float("inf")}
    schema: dict[str, Any] = {"type": "object", "properties": {"q": odd}}
    (tool,) = tools_of("web", [types.Tool(name="ask", input_schema=schema)])
    assert tool.parameters["properties"] == {"q": {"maximum": None, "minimum": None}}


def test_a_log_is_bounded(bench: Bench) -> None:
    for _ in range(4):
        bench.call("stderr", {"size": 400_000})
    log = Path(bench.status("plain").log)
    eventually(lambda: log.read_text().endswith("a warning\n"))
    assert log.stat().st_size <= 1_000_000
