"""zkchat from end to end with real models (`make live`); its name keeps it out of the other tests.

What is asserted holds of any model: what it says is not tested, but that it is an answer, and that it is kept.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.live.model_weights import MODELS, NoNpm, model_file
from tests.providers.loopback import KEY
from tests.providers.test_contract_llama_cpp import serving
from tests.providers.weights import NoWeights
from tests.support.world import GARDEN
from zkchat.core.errors import ExitCode
from zkchat.models.gguf import RECOMMENDED

QUESTIONS = (
    "Who is Mara?",
    "How long should adults sleep?",
    "Which notes talk about sleep?",
    "What is the capital of Mongolia?",
    "Summarise [[Greenhouse decisions]]",
)
MARKUP = ("<document", "<evidence", "<tool_call", '"arguments":')
"""What only the model is meant to see, or to write to us."""
WINDOW = 8192
SECONDS_TO_ANSWER = 900


@dataclass(frozen=True)
class User:
    """Somebody with an empty home, a copy of the garden, and one model."""

    root: Path
    model: str
    address: str = ""

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "LANG": "C.UTF-8",
            "ZKCHAT_OLLAMA__HOST": "http://127.0.0.1:9",
        }
        if self.address:
            variables |= {"ZKCHAT_OPENAI__BASE_URL": self.address, "OPENAI_API_KEY": KEY}
        command = [sys.executable, "-m", "zkchat", *arguments, "--json", "--vault", str(self.root / "garden")]
        return subprocess.run(
            command, env=variables, capture_output=True, text=True, check=False, timeout=SECONDS_TO_ANSWER
        )


@pytest.fixture(scope="module", params=[*(f"local:{name}" for name in MODELS), f"openai:{RECOMMENDED}"])
def user(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    place, _, name = request.param.partition(":")
    try:
        file = model_file(name)
    except NoNpm as error:
        pytest.skip(str(error))
    except NoWeights as error:
        pytest.fail(str(error), pytrace=False)
    root = tmp_path_factory.mktemp("home")
    shutil.copytree(GARDEN, root / "garden")
    with ExitStack() as servers:
        if place == "openai":
            threads = len(os.sched_getaffinity(0))
            address = servers.enter_context(serving(file, window=WINDOW, threads=threads, name=name))
            yield User(root, request.param, address)
        else:
            models = root / ".cache" / "zkchat" / "models"
            models.mkdir(parents=True)
            (models / file.name).symlink_to(file)
            yield User(root, request.param)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_an_answer_that_is_kept(user: User, question: str) -> None:
    asked = user.run("ask", question, "--model", user.model)
    assert asked.returncode in (ExitCode.OK, ExitCode.NO_ANSWER), asked.stderr
    answer = json.loads(asked.stdout)
    sys.stdout.write(f"{user.model}: {question}\n{answer['answer']}\n{asked.stderr}")
    assert answer["answer"].strip()
    assert answer["model"] == user.model

    shown = json.loads(user.run("sessions", "show", answer["session"]).stdout)["messages"]
    assert text_of(shown[0]) == question
    assert text_of(next(message for message in shown if message["id"] == answer["message"])) == answer["answer"]
    assert [mark for mark in MARKUP if mark in answer["answer"]] == []


def text_of(message: dict[str, Any]) -> str:
    return "".join(part["text"] for part in message["parts"] if part["kind"] == "text")
