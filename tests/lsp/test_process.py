import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest
from lsprotocol import types

from tests.support.lsp_client import started_editor
from tests.support.world import World

pytestmark = pytest.mark.outside


def frame(message: object) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def request(number: int, method: str, **params: Any) -> bytes:
    return frame({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def started(world: World, *arguments: str) -> subprocess.Popen[bytes]:
    variables = {**os.environ, **world.environment().variables, "HOME": str(world.home)}
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "ZKCHAT_VAULT"):
        variables.pop(name, None)
    command = [sys.executable, "-m", "zkchat", "lsp", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=variables, cwd=world.vault)


def answers(output: bytes) -> list[Any]:
    """Every message of an output, which holds nothing else."""
    found = []
    while output:
        head, _, output = output.partition(b"\r\n\r\n")
        length = int(head.partition(b"Content-Length: ")[2].split(b"\r\n")[0])
        found.append(json.loads(output[:length]))
        output = output[length:]
    return found


INITIALIZE = request(1, "initialize", processId=None, rootUri=None, capabilities={})
INITIALIZED = frame({"jsonrpc": "2.0", "method": "initialized", "params": {}})


def test_the_end_of_input_ends_it(world: World) -> None:
    world.note("A.md", "[[B]]")
    with started(world) as process:
        out, err = process.communicate(INITIALIZE, timeout=60)
    assert process.returncode == 0
    assert [each["id"] for each in answers(out)] == [1]
    assert err == b""


def test_an_editor_that_goes_while_notes_are_read_leaves_an_index_that_goes_on(world: World) -> None:
    for number in range(300):
        world.note(f"{number}.md", f"# Note {number}\n\n[[{number + 1}]]\n")
    with started(world) as process:
        _, err = process.communicate(INITIALIZE + INITIALIZED, timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert world.run("check", "--json").json["notes"] == 300


def test_half_a_message_and_nothing_end_it_too(world: World) -> None:
    for given in (b"", b"Content-Length: 100\r\n\r\n{", b"Content-Length: 1"):
        with started(world) as process:
            assert process.communicate(given, timeout=60) == (b"", b"")
        assert process.returncode == 0


def test_broken_messages_are_passed_over(world: World) -> None:
    world.note("A.md", "[[B]]")
    broken = [
        frame(b"{not json"),
        frame(b"[]"),
        frame(b"null"),
        frame({"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover", "params": {"position": 1}}),
        frame({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"textDocument": {"uri": "file:///x"}}}),
        request(8, "no/such/method"),
        b"X-Header: 1\r\n",
        frame(b"\xff\xfe\x00"),
    ]
    with started(world) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"".join([INITIALIZE, INITIALIZED, *broken, request(9, "workspace/symbol", query="A")]))
        process.stdin.flush()
        by_id: dict[object, Any] = {}
        while 9 not in by_id:
            head = process.stdout.readline()
            while (line := process.stdout.readline()) != b"\r\n":
                head += line
            length = int(head.partition(b"Content-Length: ")[2].split(b"\r\n")[0])
            message = json.loads(process.stdout.read(length))
            by_id |= {message.get("id"): message} if "method" not in message else {}
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert by_id[8]["error"]["code"] == -32601
    assert "result" in by_id[9]
    assert err == b""


@pytest.mark.parametrize(("shuts_down", "code"), [(True, 0), (False, 1)])
def test_an_editor_says_when_it_ends(world: World, shuts_down: bool, code: int) -> None:
    with started(world) as process:
        given = [INITIALIZE, request(2, "shutdown")] if shuts_down else [INITIALIZE]
        exit_ = frame({"jsonrpc": "2.0", "method": "exit"})
        assert process.stdin
        process.stdin.write(b"".join([*given, exit_]))
        process.stdin.flush()
        assert process.wait(60) == code


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_a_signal_ends_it(world: World) -> None:
    world.note("A.md", "[[B]]")
    with started_editor(world, is_process=True) as editor:
        editor.open("A.md")
        editor.diagnostics("A.md")
        assert editor.process
        editor.process.send_signal(signal.SIGTERM)
        editor.run(editor.process.wait())
    assert editor.code == 128 + signal.SIGTERM


def test_a_folder_that_is_not_there_is_told_before_anything_else(world: World) -> None:
    result = world.run("lsp", "--vault", str(world.root / "none"), stdin="")
    assert result.code == 4
    assert result.out == ""
    assert "none" in result.err


def test_without_its_package_it_says_how_to_install_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    result = world.run("lsp", stdin="")
    assert result.code == 3
    assert result.err.startswith("zkchat: zkchat lsp needs the package pygls, which is not installed.\n")
    assert "zkchat[lsp]" in result.err


def test_notes_that_models_may_not_see_are_there_for_their_owner(world: World) -> None:
    world.note("Diary.md", "---\nzkchat: never\n---\n# Diary\n\nThe lighthouse keeper is my cousin.\n")
    world.note("A.md", "[[Diary]]")
    with started_editor(world) as editor:
        editor.open("A.md")
        assert editor.diagnostics("A.md") == []
        params = types.HoverParams(**editor.at("A.md", "[[Di"))
        assert "lighthouse" in editor.run(editor.client.text_document_hover_async(params)).contents.value
