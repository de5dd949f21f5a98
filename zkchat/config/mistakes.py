"""Errors about settings: unknown ones, and values that they cannot have, each with its place and a way out."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Literal

from msgspec import Struct

from zkchat.config.check import LARGEST, Problem
from zkchat.config.schema import FIELDS, accepted_values, field_of, model_keys, model_named_in
from zkchat.config.value_types import Redacted
from zkchat.errors import ConfigError
from zkchat.model.secrets import without_password

Layer = Literal["default", "user", "vault", "variable", "flag"]


class Origin(Struct, frozen=True):
    layer: Layer
    where: str = ""
    """The file or the variable; empty for defaults and flags."""

    @property
    def phrase(self) -> str:
        """To be read after a value or a key: `in /home/me/.config/zkchat/config.toml`."""
        match self.layer:
            case "default":
                return "by default"
            case "flag":
                return "on the command line"
            case "variable":
                return f"in the variable {self.where}"
            case _:
                return f"in {self.where}"


def unknown_setting(key: str, origin: Origin | None = None, *, among: Collection[str] | None = None) -> ConfigError:
    """The error for a setting that does not exist, with the nearest one that does, or of those `among` which it is."""
    model = model_named_in(key)
    known = among or (FIELDS if model is None else model_keys(model))
    same_name = [each for each in known if each.rpartition(".")[2] == key.rpartition(".")[2]]
    nearest = get_close_matches(key, same_name, n=1) or same_name or get_close_matches(key, known, n=1)
    return ConfigError(
        f"Unknown setting '{key}'{f' {origin.phrase}' if origin else ''}.",
        hint=f"Did you mean '{nearest[0]}'?" if nearest else "All settings: zkchat config show",
    )


def validation_error(problem: Problem, origins: Mapping[str, Origin]) -> ConfigError:
    """What is wrong with settings, as an error for the user."""
    key = problem.key
    if not key:
        return ConfigError(problem.sentence, hint="Where each value comes from: zkchat config show")
    if key not in origins:
        return _incomplete(key, origins)
    found, field = ".", field_of(key)
    if field and not field.has(Redacted):
        verb = "holds" if problem.is_item else "is"
        found = f", but it {verb} {_describe(problem.value)}."
    origin = origins[key]
    return ConfigError(f"'{key}' {origin.phrase} must be {accepted_values(key)}{found}", hint=_hint(key, origin))


def _incomplete(key: str, origins: Mapping[str, Origin]) -> ConfigError:
    """For a model of which something is said, but not all that is needed."""
    table, _, name = key.rpartition(".")
    origin = next(origin for known, origin in origins.items() if known.startswith(f"{table}."))
    return ConfigError(
        f"The model '{table}' {origin.phrase} has no '{name}'.", hint=f"Set '{key}'. It must be {accepted_values(key)}."
    )


def _describe(value: object) -> str:
    match value:
        case str():
            return f'the text "{without_password(value)}"'
        case bool():
            return str(value).lower()
        case list():
            return "a list"
        case dict():
            return "a table"
        case int() if value > LARGEST:
            return f"more than {LARGEST:,}"
        case _:
            return str(value)


def _hint(key: str, origin: Origin) -> str:
    match origin.layer:
        case "variable":
            return f"Change the variable, or remove it: unset {origin.where}"
        case "user" | "vault":
            return f"Change it, or go back to the default: zkchat config unset {key} --scope {origin.layer}"
        case _:
            return "What each setting takes: zkchat help configuration"
