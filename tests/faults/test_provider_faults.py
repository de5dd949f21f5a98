"""Every fault of a server ends in one sentence and in time; what had arrived before it is there."""

import asyncio
import socket
import traceback
from collections.abc import Callable
from functools import cache

import pytest

from tests.faults.fault_server import HALVED, WORDS, FaultServer
from tests.providers.contract import answer, asking, failure, finish_of, first_words, text_of
from tests.providers.loopback import KEY, serving
from zkchat.core.errors import ExitCode, ProviderError
from zkchat.core.ports import ModelProvider
from zkchat.core.prompt import Finish, ModelChunk
from zkchat.models.anthropic import Anthropic
from zkchat.models.ollama import Ollama
from zkchat.models.openai import OpenAI
from zkchat.models.transport import TransportPolicy

RETRYING = TransportPolicy(backoff=0.001)
Ask = Callable[[str], ModelProvider]
"""From the name of a fault to a provider that runs into it."""

FAILURES = {
    "307": "redirects to another address",
    "400": "did not accept the request (400): Something is wrong",
    "401": "refused the key (401)",
    "403": "refused the key (403)",
    "404": "has no model '404'",
    "413": "prompt is longer than",
    "429": "refuses more requests for now (429): Slow down",
    "500": "failed (500): Out of memory",
    "503": "failed (503): Loading model",
    "quota": "exceeded your current quota",
    "wait-an-hour": "refuses more requests",
    "nodone@0": "sent a reply that zkchat cannot read",
    "html": "sent a reply that zkchat cannot read",
    "no-http": "closed the connection",
    "reset": "closed the connection",
    "silent": "sent nothing for 0.3 seconds",
    "stall@0": "sent nothing for 0.3 seconds",
    "stall@5": "sent nothing for 0.3 seconds",
    "fin@0": "closed the connection",
    "fin@5": "closed the connection",
    "rst@5": "closed the connection",
    "garbage@0": "sent a reply that zkchat cannot read",
    "garbage@5": "sent a reply that zkchat cannot read",
    "shape@5": "sent a reply that zkchat cannot read",
    "null@5": "sent a reply that zkchat cannot read",
    "no-utf-8@5": "sent a reply that zkchat cannot read",
    "error@5": "broke off the answer: The runner has crashed",
}

server = serving(FaultServer)


@pytest.fixture(autouse=True)
def forget(server: FaultServer) -> None:
    server.counts.clear()
    server.gone.clear()


@pytest.fixture(params=["ollama", "openai", "anthropic"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ask(protocol: str, server: FaultServer) -> Ask:
    return lambda fault: provider(protocol, fault, server.address)


def provider(protocol: str, model: str, address: str, policy: TransportPolicy | None = None) -> ModelProvider:
    policy = policy or policy_for(model)
    if protocol == "ollama":
        return Ollama(model, host=address, api_key=KEY, policy=policy)
    if protocol == "anthropic":
        return Anthropic(model, base_url=address, api_key=KEY, policy=policy)
    return OpenAI(model, base_url=f"{address}/v1", api_key=KEY, policy=policy)


def policy_for(fault: str) -> TransportPolicy:
    """Short only where it is to run out: a busy machine must not look like a fault."""
    if fault in ("silent", "stall@0"):
        return TransportPolicy(first_chunk_timeout=0.3)
    return TransportPolicy(chunk_timeout=0.3) if fault.startswith("stall") else RETRYING


@cache
def failed(protocol: str, fault: str, address: str) -> tuple[list[ModelChunk], ProviderError]:
    return failure(provider(protocol, fault, address))


@pytest.mark.parametrize("fault", FAILURES)
def test_a_fault_is_one_sentence_and_what_arrived_before_it_is_kept(
    protocol: str, server: FaultServer, fault: str
) -> None:
    arrived, error = failed(protocol, fault, server.address)
    assert FAILURES[fault] in error.message
    assert fault in error.message
    assert server.address in error.message
    assert "\n" not in error.message
    assert error.hint
    assert error.exit_code == ExitCode.MODEL
    assert text_of(arrived) == "".join(WORDS[: int(fault.partition("@")[2] or 0)])
    assert not any(isinstance(chunk, Finish) for chunk in arrived), "it is not taken for whole"


@pytest.mark.parametrize("fault", FAILURES)
def test_no_fault_shows_the_key(protocol: str, server: FaultServer, fault: str) -> None:
    _, error = failed(protocol, fault, server.address)
    model = provider(protocol, fault, server.address)
    texts = [error.message, error.hint, repr(error), *traceback.format_exception(error), repr(model), repr(vars(model))]
    assert KEY not in "".join(texts)


def test_a_refused_connection_is_a_sentence_with_a_way_out(protocol: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        arrived, error = failure(provider(protocol, "any", f"http://127.0.0.1:{taken.getsockname()[1]}"))
    assert arrived == []
    assert "cannot be reached" in error.message
    assert {"ollama": "ollama serve"}.get(protocol, f"{protocol}.base_url") in error.hint


def test_a_name_that_nobody_knows_is_a_sentence(protocol: str) -> None:
    _, error = failure(provider(protocol, "any", "http://nowhere.invalid:1"))
    assert "cannot be reached" in error.message


@pytest.mark.parametrize("fault", ["429@2", "500@3", "503@1", "reset@2", "no-wait@3"])
def test_a_fault_that_passes_before_the_first_word_is_waited_for(ask: Ask, server: FaultServer, fault: str) -> None:
    assert text_of(answer(ask(fault))) == "".join(WORDS)
    assert server.counts[fault] == int(fault.partition("@")[2]) + 1


@pytest.mark.parametrize(
    ("fault", "times"),
    [
        ("500", 4),
        ("429", 4),
        ("reset", 4),
        ("fin@0", 4),
        ("400", 1),
        ("401", 1),
        ("404", 1),
        ("413", 1),
        ("quota", 1),
        ("wait-an-hour", 1),
    ],
)
def test_only_what_may_pass_is_tried_again_and_not_forever(
    ask: Ask, server: FaultServer, fault: str, times: int
) -> None:
    failure(ask(fault))
    assert server.counts[fault] == times


@pytest.mark.parametrize("fault", ["rst@1", "fin@5", "stall@5", "error@5", "silent"])
def test_what_has_begun_or_taken_too_long_is_not_tried_again(ask: Ask, server: FaultServer, fault: str) -> None:
    failure(ask(fault))
    assert server.counts[fault] <= 1, "on a busy machine the time may be up before the request has left"


def test_a_server_says_itself_how_long_to_wait(protocol: str, server: FaultServer) -> None:
    policy = TransportPolicy(backoff=3600, max_backoff=7200)
    assert text_of(answer(provider(protocol, "no-wait@2", server.address, policy))) == "".join(WORDS)


def test_an_answer_without_its_end_is_no_whole_answer(ask: Ask) -> None:
    chunks = answer(ask("nodone@5"))
    assert text_of(chunks) == "".join(WORDS[:5])
    assert not any(isinstance(chunk, Finish) for chunk in chunks)


def test_characters_cut_at_the_edge_of_a_chunk_are_whole_again(ask: Ask) -> None:
    chunks = answer(ask("halved@3"))
    assert text_of(chunks) == "".join(WORDS[:3]) + HALVED
    assert finish_of(chunks).reason == "stop"


def test_what_is_packed_unasked_is_not_unpacked(ask: Ask) -> None:
    arrived, error = failure(ask("packed"))
    assert arrived == []
    assert "sent a reply that zkchat cannot read" in error.message


def test_leaving_early_closes_the_connection(protocol: str, server: FaultServer) -> None:
    assert asyncio.run(first_words(provider(protocol, "stall@5", server.address, RETRYING))) == WORDS[0]
    assert server.gone.wait(5)


def test_cancelling_closes_the_connection(protocol: str, server: FaultServer) -> None:
    async def cancel() -> None:
        arrived = asyncio.Event()

        async def listen() -> None:
            async for _ in provider(protocol, "stall@5", server.address, RETRYING).stream(asking()):
                arrived.set()

        task = asyncio.create_task(listen())
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert server.gone.wait(5)


def test_there_is_no_talking_to_openai_itself_without_a_key() -> None:
    with pytest.raises(ProviderError, match="no key for OpenAI") as caught:
        answer(OpenAI("gpt-5", hints=("openai.base_url", "Look at MY_KEY.")))
    assert "MY_KEY" in caught.value.hint
