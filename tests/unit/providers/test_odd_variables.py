"""Variables that name proxies, certificates and servers may hold anything: each ends in a sentence."""

import asyncio

import pytest

from zkchat.core.errors import ProviderError
from zkchat.core.prompt import ModelRequest
from zkchat.models.errors import Endpoint, map_error
from zkchat.models.ollama import Ollama
from zkchat.models.openai import OpenAI
from zkchat.models.transport import TransportPolicy

pytestmark = pytest.mark.outside

ELSEWHERE = "http://192.0.2.1:9"
QUICK = TransportPolicy(connect_timeout=2, first_chunk_timeout=2, max_retries=0)


def refusal(provider: Ollama | OpenAI) -> str:
    async def ask() -> None:
        async for _ in provider.stream(ModelRequest(messages=(), window=100)):
            pass

    with pytest.raises(ProviderError) as error:
        asyncio.run(ask())
    return f"{error.value.message} {error.value.hint}"


def providers(address: str) -> list[Ollama | OpenAI]:
    return [Ollama("x", host=address, policy=QUICK), OpenAI("x", base_url=address, api_key="k", policy=QUICK)]


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9", "a kind that zkchat cannot use, such as SOCKS. Name an HTTP proxy"),
        ("HTTP_PROXY", "http://[::1", "the proxy is not well formed. Check the variables HTTPS_PROXY"),
        ("HTTP_PROXY", "ftp://127.0.0.1:9", "the proxy is not well formed. Check the variables HTTPS_PROXY"),
        ("HTTP_PROXY", "http://127.0.0.1:9", "cannot be reached."),
    ],
)
def test_a_proxy_that_cannot_be_used_is_told(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, told: str
) -> None:
    monkeypatch.setenv(variable, value)
    for provider in providers(ELSEWHERE):
        said = refusal(provider)
        assert told in said
        assert "Error" not in said


def test_a_server_on_this_machine_is_asked_whatever_the_variables_say(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ALL_PROXY", "HTTP_PROXY", "NO_PROXY"):
        monkeypatch.setenv(name, "socks9://[")
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    for provider in providers("http://127.0.0.1:9"):
        assert "cannot be reached" in refusal(provider)


def test_what_failed_several_times_at_once_is_explained_by_its_parts() -> None:
    endpoint = Endpoint(server="S", model="m", if_unreachable="Start it.", if_key_refused="", if_model_missing="")
    group = ExceptionGroup("all attempts failed", [ConnectionRefusedError(), OSError()])
    assert map_error(group, endpoint).text == "S (m) cannot be reached."
    assert map_error(ExceptionGroup("x", [Exception()]), endpoint).text == "The request to S (m) failed."
