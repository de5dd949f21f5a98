import ssl

import pytest

from zkchat.chat.context.tokens import tokenizer_for
from zkchat.core.choices import TokenUsage
from zkchat.core.errors import ProviderError
from zkchat.core.message import ToolCallPart
from zkchat.core.prompt import ModelRequest, PromptMessage
from zkchat.models.errors import Endpoint, Failure
from zkchat.models.registry import display_address
from zkchat.models.transport import (
    TransportPolicy,
    arguments_object,
    client_settings,
    min_tokens,
    open_client,
    truncation_warning,
)

ENDPOINT = Endpoint(server="Server", model="m", if_unreachable="a", if_key_refused="b", if_model_missing="c")


def test_pauses_grow_and_are_never_the_same_for_all() -> None:
    policy = TransportPolicy(backoff=1.0)
    transient = Failure(text="", hint="", transient=True)
    for attempt, most in enumerate([1.0, 2.0, 4.0]):
        delays = {policy.retry_delay(attempt, transient) for _ in range(20)}
        assert len(delays) > 1
        assert all(pause is not None and most / 2 <= pause <= most for pause in delays)
    assert policy.retry_delay(3, transient) is None


def test_the_delay_is_what_the_server_asks_for_up_to_the_longest_back_off() -> None:
    policy = TransportPolicy(max_backoff=30)
    assert policy.retry_delay(0, Failure(text="", hint="", transient=True, retry_after=29.0)) == 29.0
    assert policy.retry_delay(0, Failure(text="", hint="", transient=True, retry_after=31.0)) is None


def test_certificates_are_always_checked_and_a_proxy_may_stand_before_a_server_elsewhere() -> None:
    for address in ("http://example.org", "https://10.0.0.1", "http://localhost.example.org", "http://"):
        assert client_settings(address)["trust_env"] is True
    secure, plain = (client_settings(f"{scheme}://example.org")["verify"] for scheme in ("https", "http"))
    for context in (secure, plain):
        assert isinstance(context, ssl.SSLContext)
        assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert len(secure.get_ca_certs()) > 50
    assert plain.get_ca_certs() == []


def test_a_password_in_an_address_is_not_shown() -> None:
    assert display_address("https://me:secret@example.org:8443/v1/?key=secret") == "https://example.org:8443/v1"


def test_authorities_that_cannot_be_read_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    with pytest.raises(ProviderError, match="The certificates for checking Server cannot be read"):
        open_client("https://example.org", ENDPOINT, 1)


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ('{"a": ', {"not_json": '{"a": '}),
        ("[1]", {"not_json": "[1]"}),
        ("null", {"not_json": "null"}),
        ('{"a": NaN}', {"a": "NaN"}),
        ('{"a": [1e999, -1e999]}', {"a": ["Infinity", "-Infinity"]}),
        (r'{"a": "\ud800"}', {"a": "?"}),
        ("[" * 100_000, {"not_json": "[" * 100_000}),
    ],
    ids=lambda value: str(value)[:20],
)
def test_arguments_go_back_to_a_server_as_an_object(written: str, sent: dict[str, object]) -> None:
    assert arguments_object(ToolCallPart(call_id="1", name="find", arguments=written)) == sent


def request_of(*texts: str) -> ModelRequest:
    return ModelRequest(messages=tuple(PromptMessage(role="user", text=text) for text in texts), window=4096)


PROSE = "It was a bright cold day in April, and the clocks were striking thirteen; `x = [[1, 2], 3]` | a | b |\n\n"
CHINESE = "当你老了,头发白了,睡意昏沉,炉火旁打盹,请取下这部诗歌,慢慢读。"
THAI = "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอนหรือวรรณยุกต์เช่นเดียวกับภาษาจีน"


@pytest.mark.parametrize("text", [PROSE * 30, CHINESE * 30, THAI * 10, "    deeply    indented\n" * 50])
def test_no_tokenizer_makes_fewer_tokens_than_the_least(text: str) -> None:
    assert 0 < min_tokens(request_of(text)) <= tokenizer_for("o200k_base").count(text)


def test_half_a_prompt_is_noticed_and_a_whole_one_is_not() -> None:
    request = request_of(PROSE * 30)
    sent = tokenizer_for("o200k_base").count(PROSE * 30)
    assert "did not see everything" in truncation_warning(request, TokenUsage(prompt_tokens=sent // 2), ENDPOINT)
    for usage in (TokenUsage(prompt_tokens=sent), TokenUsage(prompt_tokens=10, cached_tokens=sent), TokenUsage(), None):
        assert truncation_warning(request, usage, ENDPOINT) == ""
