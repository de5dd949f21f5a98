"""The provider contract for a model in a file: llama.cpp in this process, with a small real model."""

import asyncio
import signal
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.providers.contract import FIND, answer, asking, failure, finish_of, text_of
from tests.providers.real_model import RealModel
from tests.providers.weights import NoWeights, smollm2, with_tools
from zkchat.core.errors import ProviderError
from zkchat.models.local import LlamaCpp
from zkchat.models.registry import ModelSettings

WINDOW = 1024

LEAVE_EARLY = """\
import asyncio, sys
from pathlib import Path
from tests.providers.contract import first_words
from zkchat.models.local import LlamaCpp
from zkchat.models.registry import ModelSettings
model = LlamaCpp(Path(sys.argv[1]), settings=ModelSettings(context_limit=512), threads=1)
print(asyncio.run(first_words(model)))
"""


@pytest.fixture(scope="module")
def file() -> Path:
    try:
        return smollm2()
    except NoWeights as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="module")
def model(file: Path) -> LlamaCpp:
    model = LlamaCpp(file, name="smollm2", settings=ModelSettings(context_limit=WINDOW), threads=1)
    asyncio.run(model.connect())
    return model


@pytest.fixture(scope="module")
def able(file: Path, tmp_path_factory: pytest.TempPathFactory) -> LlamaCpp:
    path = with_tools(file, tmp_path_factory.mktemp("able") / "tools.gguf")
    return LlamaCpp(path, settings=ModelSettings(context_limit=512), threads=1)


class TestLocal(RealModel):
    """With llama.cpp in this process."""


def test_tools_can_be_offered_to_a_model_whose_template_knows_none(model: LlamaCpp) -> None:
    assert text_of(answer(model, asking(tools=(FIND,)))).strip()


def test_who_leaves_while_the_prompt_is_read_can_ask_again(model: LlamaCpp) -> None:
    async def leave() -> None:
        async with aclosing(model.stream(asking("word " * 300))) as stream:
            waiting = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(0.05)  # much less than the model needs to read so many words
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    asyncio.run(leave())
    assert text_of(answer(model)).strip()


def test_tokens_are_counted_as_the_model_counts_them(model: LlamaCpp) -> None:
    def prompt_tokens(text: str) -> int:
        usage = finish_of(answer(model, asking(text))).usage
        assert usage
        return usage.prompt_tokens

    tokenizer = model.tokenizer
    long = "Naïve 眠り, and <|im_end|> is no end of anything here."
    assert tokenizer.exact
    assert tokenizer.count("hello world") == 2
    assert prompt_tokens(long) - prompt_tokens("hello world") == tokenizer.count(long) - 2


def test_a_prompt_that_is_too_long_is_refused_and_not_cut(model: LlamaCpp) -> None:
    _, error = failure(model, asking("word " * 2 * WINDOW))
    assert "The prompt is longer than llama.cpp (smollm2) can take" in error.message
    assert f"{WINDOW} tokens" in error.message


def test_a_file_that_ends_too_early_is_a_sentence(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "half.gguf"
    with file.open("rb") as whole:
        path.write_bytes(whole.read(4_000_000))
    with pytest.raises(ProviderError, match="cannot load"):
        asyncio.run(LlamaCpp(path).connect())


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads the sockets of this process from /proc")
def test_no_port_of_the_network_is_open(model: LlamaCpp) -> None:
    assert model.tokenizer.exact
    links = (str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink())
    ours = {link[len("socket:[") : -1] for link in links if link.startswith("socket:[")}
    rows = [row.split() for name in ("tcp", "tcp6") for row in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    assert not [row for row in rows if row[3] == "0A" and row[9] in ours]


def test_ctrl_c_still_belongs_to_us(model: LlamaCpp) -> None:
    assert model.tokenizer.exact
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert text_of(answer(model)).strip()


def test_a_process_that_leaves_in_the_middle_of_an_answer_ends_well(file: Path) -> None:
    command = [sys.executable, "-c", LEAVE_EARLY, str(file)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()
