"""The user's default vault, read before the settings are loaded, because those depend on the vault."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from zkchat.config.check import InvalidSettings, make_settings
from zkchat.config.files import read_table
from zkchat.config.mistakes import Origin, validation_error

KEY: Final = "vault.default"
VARIABLE: Final = "ZKCHAT_VAULT__DEFAULT"


def read_default_vault(user_file: Path, variables: Mapping[str, str]) -> tuple[str, Origin]:
    """The value of `vault.default` (empty where there is none) and its origin. Raises `ConfigError`."""
    value: object = variables.get(VARIABLE)
    origin = Origin("variable", VARIABLE)
    if not value:
        section = read_table(user_file).get("vault")
        value = section.get("default", "") if isinstance(section, Mapping) else ""
        origin = Origin("user", str(user_file))
    try:
        return make_settings({"vault": {"default": value}}).vault.default, origin
    except InvalidSettings as error:
        raise validation_error(error.problems[0], {KEY: origin}) from None
