"""The settings themselves: what they default to, and how they hold together."""

import pytest

from zkchat.config.check import make_settings
from zkchat.config.schema import FIELDS, HARMLESS, SECTIONS, Settings, accepted_values, needs_trust, value_of


def test_the_defaults_are_those_that_the_product_promises() -> None:
    settings = Settings()
    assert settings.model == ""
    assert settings.context.max_tokens is None
    assert settings.context.reserve_tokens == 512
    assert (settings.context.system_share, settings.context.tools_share, settings.context.messages_share) == (
        0.10,
        0.30,
        0.60,
    )
    assert settings.context.threshold == 0.85
    assert settings.ollama.host == "http://127.0.0.1:11434"
    assert settings.openai.api_key_env == "OPENAI_API_KEY"
    assert settings.storage.location == "user"


def test_every_setting_says_what_it_is_for() -> None:
    assert [key for key, field in FIELDS.items() if not field.description.endswith(".")] == []


def test_every_setting_says_what_it_takes() -> None:
    assert [key for key in FIELDS if not accepted_values(key)] == []


def test_every_setting_is_reached_by_its_dotted_key() -> None:
    assert {key: value_of(Settings(), key) for key in FIELDS} == {key: field.default for key, field in FIELDS.items()}


def test_a_setting_and_a_section_never_share_a_name() -> None:
    assert SECTIONS & FIELDS.keys() == set()


def test_a_vault_may_set_unasked_only_what_is_on_the_list_of_harmless_settings() -> None:
    cosmetic = {"ui.color", "ui.panel", "ui.references_shown", "ui.thinking", "ui.keys"}
    of_calendar = {"calendar.first_day_of_week", "calendar.time_zone"}
    assert cosmetic | of_calendar | {"vault.exclude", "privacy.local_only"} == HARMLESS


@pytest.mark.parametrize("key", [*sorted(FIELDS.keys() - HARMLESS), "models.any.id", "mcp.servers.x.command", "ui.new"])
def test_every_other_setting_known_or_not_needs_trust(key: str) -> None:
    assert needs_trust(key)


def test_settings_cannot_be_changed_after_loading() -> None:
    with pytest.raises(AttributeError):
        Settings().model = "quote"  # type: ignore[misc]


def test_shares_may_leave_some_of_the_window_free() -> None:
    assert make_settings({"context": {"messages_share": 0.2}}).context.messages_share == 0.2


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("model", "a text"),
        ("vault.exclude", "a list of texts (at most 200, of up to 300 characters each)"),
        ("context.max_tokens", "a whole number of at least 256"),
        ("context.threshold", "a number above 0 and up to 1"),
        ("ui.color", '"auto", "always" or "never"'),
        ("ollama.host", "an address that begins with http:// or https://, such as http://127.0.0.1:11434"),
    ],
)
def test_what_a_setting_takes_is_told_in_words(key: str, words: str) -> None:
    assert accepted_values(key) == words
