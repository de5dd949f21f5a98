"""Keys do not stand in what Python shows of a value, as in a trace or a log."""

import pytest

from zkchat.config.loading import InvalidSettings, make_settings
from zkchat.core.tool_server import ServerDefinition, ServerStatus
from zkchat.hosting.http import AccessToken

KEY = "sk-canary-0123456789"


@pytest.mark.parametrize(
    "holding",
    [
        AccessToken(text=KEY),
        ServerStatus(definition=ServerDefinition(name="web", args=(KEY,), env={"A": KEY})),
        ServerStatus(definition=ServerDefinition(name="web", url=f"https://{KEY}@x", headers={"A": KEY})),
        make_settings({"openai": {"base_url": f"https://me:{KEY}@x"}, "mcpServers": {"a": {"env": {"K": KEY}}}}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_that_may_hold_a_key_does_not_show_it(holding: object) -> None:
    assert KEY not in f"{holding!r}{holding}"


def test_an_error_about_settings_does_not_show_the_value() -> None:
    with pytest.raises(InvalidSettings, match=r"^openai\.api_key_env$"):
        make_settings({"openai": {"api_key_env": KEY}})
