"""An installation whose tokenizer cannot be loaded: one warning, counts by characters, and the chat goes on."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import zkchat
from tests.providers.loopback import KEY, Loopback, serving
from zkchat.core.prompt import Finish, TextChunk

WARNING = "Tokens are estimated, a little too high."


def damage(installation: Path) -> None:
    file = installation / "zkchat" / "chat" / "context" / "encodings" / "o200k_base.tiktoken"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def break_import(installation: Path) -> None:
    (installation / "tiktoken.py").write_text("raise ImportError('undefined symbol: PyObject')\n")


FAULTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "damaged": (damage, "zkchat's file o200k_base.tiktoken is damaged."),
    "import": (break_import, "The token counter cannot be loaded (undefined symbol: PyObject)."),
}

server = serving(lambda: Loopback({"any": [TextChunk(text="Seven hours."), Finish()]}))


@pytest.fixture
def fault(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of a copy of zkchat that is installed in the folder `installation`."""
    shutil.copytree(Path(zkchat.__file__).parent, tmp_path / "installation" / "zkchat")
    break_it, sentence = FAULTS[request.param]
    break_it(tmp_path / "installation")
    return sentence


def run(tmp_path: Path, server: Loopback, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True, exist_ok=True)
    (vault / "Sleep.md").write_text("# Sleep\n\nAdults need seven hours of sleep.\n")
    variables = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(tmp_path / "installation"),
        "HOME": str(tmp_path / "home"),
        "ZKCHAT_OPENAI__BASE_URL": f"{server.address}/v1",
        "OPENAI_API_KEY": KEY,
    }
    return subprocess.run(
        [sys.executable, "-c", "import sys; from zkchat.__main__ import main; sys.exit(main())", *arguments],
        input=typed, capture_output=True, text=True, timeout=120, check=False, cwd=vault, env=variables,
    )  # fmt: skip


@pytest.mark.parametrize("fault", ["damaged"], indirect=True)
def test_a_chat_goes_on_with_one_warning(tmp_path: Path, server: Loopback, fault: str) -> None:
    before = len(server.requests)
    chat = run(tmp_path, server, "chat", "--model", "openai:any", typed="How long [[Sleep]]?\nAnd then?\n")
    assert chat.returncode == 0, chat.stderr
    assert chat.stdout.count("Seven hours.") == 2
    assert chat.stderr.count(WARNING) == 1
    assert f"{fault} {WARNING}" in " ".join(chat.stderr.split())
    assert "Traceback" not in chat.stderr
    sent = [request.body for request in server.requests[before:] if request.path.endswith("completions")]
    assert [body["messages"][-1]["content"].splitlines()[0] for body in sent] == ["How long [[Sleep]]?", "And then?"]


@pytest.mark.parametrize("fault", ["import"], indirect=True)
def test_for_scripts_it_is_a_warning_and_doctor_tells_of_it(tmp_path: Path, server: Loopback, fault: str) -> None:
    asked = run(tmp_path, server, "ask", "How long?", "--model", "openai:any", "--json")
    assert asked.returncode == 0, asked.stderr
    whole = json.loads(asked.stdout)
    assert whole["answer"] == "Seven hours."
    assert [warning["text"] for warning in whole["warnings"]] == [f"{fault} {WARNING}"]
    assert fault in " ".join(run(tmp_path, server, "doctor").stdout.split())
