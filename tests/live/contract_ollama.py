"""The provider contract against a real Ollama server (`make live-ollama`); its name keeps it out of the other tests."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.live.ollama_server import PLAIN, TOOLS, NoOllama, running
from tests.providers.contract import FIND, answer, asking, failure, finish_of
from tests.providers.real_model import RealModel
from tests.providers.weights import NoWeights
from tests.support.provider_contexts import provider_context
from tests.support.world import World
from zkchat.core.errors import ExitCode, ProviderError
from zkchat.core.prompt import ModelRequest
from zkchat.models import registry as small_models
from zkchat.models.ollama import PROVIDER, Ollama
from zkchat.models.registry import ModelSettings
from zkchat.models.transport import min_tokens

OPTIONS = ModelSettings(options={"num_thread": 1, "repeat_penalty": 1.0})
TRAINED_FOR = 8192
WINDOW = asking().window
"""The same almost everywhere: with another one the server loads the model again."""
MINE = f"""\
[models.mine]
provider = "ollama"
id = "{PLAIN}"
context_limit = {WINDOW}
temperature = 0
options = {{ num_thread = 1, num_predict = 40 }}
"""


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    try:
        with running() as address:
            yield address
    except (NoOllama, NoWeights) as error:
        pytest.exit(str(error), returncode=1)


@pytest.fixture
def model(host: str) -> Ollama:
    return Ollama(PLAIN, host=host, settings=OPTIONS)


@pytest.fixture
def able(host: str) -> Ollama:
    return Ollama(TOOLS, host=host, settings=OPTIONS)


class TestOllama(RealModel):
    """With Ollama."""


def long(words: int, *, window: int) -> ModelRequest:
    return replace(asking("word " * words), window=window)


def test_window_and_size_are_learnt_from_the_server(model: Ollama) -> None:
    asyncio.run(model.connect())
    assert (model.info.context_limit, model.info.needs_evidence) == (TRAINED_FOR, True)
    assert model.info.on_this_machine


@pytest.mark.parametrize(("name", "tools"), [(PLAIN, False), (TOOLS, True)])
def test_whether_its_template_knows_tools_is_learnt_where_a_small_model_may_use_them(
    host: str, name: str, tools: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_models, "SMALL_MODEL_SIZE", 0)
    model = Ollama(name, host=host)
    asyncio.run(model.connect())
    assert model.info.calls_tools == tools


def test_its_models_are_listed_with_what_is_known_of_them(host: str, tmp_path: Path) -> None:
    found = asyncio.run(PROVIDER.list_models(provider_context(tmp_path, settings={"ollama": {"host": host}})))
    listed = {info.id: (info.context_limit, info.calls_tools) for info in found.models}
    too_small = (TRAINED_FOR, False)
    assert listed == {f"{PLAIN}:latest": too_small, f"{TOOLS}:latest": too_small}


def test_tools_for_a_model_without_them_are_refused_with_a_sentence(model: Ollama) -> None:
    _, error = failure(model, asking(tools=(FIND,)))
    assert "does not support tools" in error.message


def test_the_window_that_was_asked_for_is_the_one_that_counts(model: Ollama) -> None:
    request = long(120, window=WINDOW)
    finish = finish_of(answer(model, request))
    assert finish.warning == ""
    assert finish.usage
    assert finish.usage.prompt_tokens >= min_tokens(request)


def test_a_prompt_that_the_server_cuts_is_found_out_by_its_own_count(model: Ollama) -> None:
    finish = finish_of(answer(model, long(120, window=64)))
    assert "it did not see everything" in finish.warning
    assert finish.usage
    assert finish.usage.prompt_tokens <= 64


@pytest.mark.parametrize("ask", ["connect", "stream"])
def test_a_model_that_is_not_there_is_a_sentence_with_the_way_to_it(host: str, ask: str) -> None:
    nobody = Ollama("nobody", host=host)
    if ask == "stream":
        _, error = failure(nobody)
    else:
        with pytest.raises(ProviderError) as caught:
            asyncio.run(nobody.connect())
        error = caught.value
    assert error.message == f"Ollama at {host} has no model 'nobody' (404)."
    assert "ollama pull nobody" in error.hint


def test_a_question_about_notes_is_answered_with_the_sentence_that_was_handed_over(host: str, world: World) -> None:
    world.variables["ZKCHAT_OLLAMA__HOST"] = host
    world.configure(MINE)
    world.note("Sleep.md", "# Sleep\n\nMost adults need seven to nine hours of sleep.\n")
    result = world.run("ask", "How many hours of sleep do adults need?", "--json", "--model", "mine")
    assert result.code == ExitCode.OK, result.err
    assert result.json["answer"].strip()
    (reference,) = result.json["references"]
    assert (reference["relative_path"], reference["via"], reference["included"]) == ("Sleep.md", "evidence", True)
    assert reference["snippet"] == "Most adults need seven to nine hours of sleep."


def test_with_nothing_set_the_server_is_found_and_its_small_models_are_offered(host: str, world: World) -> None:
    world.variables["ZKCHAT_OLLAMA__HOST"] = host
    found = world.run("models", "--json").json
    assert found["model"] == "quote"
    assert "`zkchat config set model ollama:smollm2" in found["offer"]
    (place,) = (each for each in found["places"] if each["place"] == f"Ollama at {host}")
    assert [each["small"] for each in place["models"]] == [True, True]
