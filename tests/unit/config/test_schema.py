import pytest

from zkchat.config.schema import FIELDS, HARMLESS, Settings, needs_trust, value_of


def test_every_setting_says_what_it_is_for() -> None:
    assert [key for key, field in FIELDS.items() if not field.description.endswith(".")] == []


def test_every_setting_is_reached_by_its_dotted_key() -> None:
    assert {key: value_of(Settings(), key) for key in FIELDS} == {key: field.default for key, field in FIELDS.items()}


def test_a_vault_may_set_unasked_only_what_is_on_the_list_of_harmless_settings() -> None:
    cosmetic = {"ui.color", "ui.panel", "ui.width", "ui.references_shown", "ui.suggest", "ui.thinking", "ui.keys"}
    of_calendar = {"calendar.first_day_of_week", "calendar.time_zone"}
    assert cosmetic | of_calendar | {"vault.exclude", "privacy.local_only"} == HARMLESS


@pytest.mark.parametrize("key", [*sorted(FIELDS.keys() - HARMLESS), "models.any.id", "mcp.servers.x.command", "ui.new"])
def test_every_other_setting_known_or_not_needs_trust(key: str) -> None:
    assert needs_trust(key)
