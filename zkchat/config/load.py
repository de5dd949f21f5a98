"""Settings from five layers, each value with its origin: defaults < user < vault < variables < flags."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.config.check import InvalidSettings, make_settings, parse_value
from zkchat.config.files import read_table, read_vault_file
from zkchat.config.mistakes import Origin, unknown_setting, validation_error
from zkchat.config.schema import BY_LOWER_CASE, FIELDS, Settings, accumulates, field_of, is_section, model_keys
from zkchat.config.value_types import ollama_url
from zkchat.errors import ConfigError
from zkchat.model.trust import HOW_TO_APPROVE, VaultItem

FlagValue = str | int | float | bool | Sequence[str] | None

PREFIX: Final = "ZKCHAT_"
NOT_SETTINGS: Final = frozenset({"ZKCHAT_VAULT", "ZKCHAT_MCP_TOKEN"})
"""Variables that mean something else; `ZKCHAT_VAULT` names the vault, the other is a token of `zkchat mcp --http`."""

SERVER_VARIABLES: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "openai.base_url": ("OPENAI_BASE_URL", str),
    "ollama.host": ("OLLAMA_HOST", ollama_url),
}
"""Variables of other programs that count where no layer sets a server's address, and how each is read."""


class Loaded(Struct, frozen=True, kw_only=True):
    settings: Settings
    origins: Mapping[str, Origin]
    """For every setting, where its value comes from."""
    warnings: tuple[str, ...] = ()
    unapproved: tuple[str, ...] = ()
    """The settings in the vault's file that are left out because the user has not approved them."""
    of_user: Mapping[str, object] = {}
    """What the user's own file says, whatever other layers add to it or say instead."""
    privacy_unknown: str = ""
    """Why it is not known which notes the vault's file keeps on this machine; empty where it is known."""
    overruled: Mapping[str, str] = {}
    """The settings whose address another program's variable names too, in vain, with the name of that variable."""

    @property
    def every_warning(self) -> tuple[str, ...]:
        """Those about settings without approval too, for commands that have not asked about them."""
        return (*self.warnings, *([left_out_warning(self.unapproved)] if self.unapproved else []))


def left_out_warning(keys: Sequence[str]) -> str:
    return f"Left out of the vault's settings until you approve: {', '.join(keys)}. {HOW_TO_APPROVE}"


def load(
    user_file: Path | None,
    vault_file: Path | None,
    variables: Mapping[str, str],
    flags: Mapping[str, FlagValue],
    trusted: Callable[[VaultItem], bool],
) -> Loaded:
    """The settings in force. `trusted` says whether the user approved what the vault's file asks for.

    Raises `ConfigError` for a broken file, an unknown setting or a wrong value; what can be passed over is a warning.
    """
    values: dict[str, object] = {}
    origins = dict.fromkeys(FIELDS, Origin("default"))
    warnings: list[str] = []
    unapproved: list[str] = []
    unreadable: list[str] = []
    of_user: dict[str, object] = {}
    layers = (
        _from_provider_variables(variables),
        _from_file(Origin("user", str(user_file)), user_file) if user_file else (),
        _from_vault(vault_file, trusted, unreadable, warnings, unapproved) if vault_file else (),
        _from_variables(variables, warnings),
        _from_flags(flags),
    )
    for layer in layers:
        for key, value, origin in layer:
            adds = accumulates(key) or origin.layer == "vault"  # which adds to lists and takes nothing from them
            values[key], origins[key] = _concatenated(values.get(key), value) if adds else value, origin
            if origin.layer == "user":
                of_user[key] = value
    try:
        settings = make_settings(unflatten(values))
    except InvalidSettings as error:
        raise validation_error(error.problems[0], origins) from None
    known = (*FIELDS, *(key for name in settings.models for key in model_keys(name)))
    every = dict.fromkeys(known, Origin("default")) | origins
    return Loaded(
        settings=settings,
        origins=every,
        warnings=(*(f"{message} Its settings are left out." for message in unreadable), *warnings),
        unapproved=tuple(unapproved),
        of_user=of_user,
        privacy_unknown="".join(unreadable),
        overruled={key: origin.where for key, _, origin in _from_provider_variables(variables) if every[key] != origin},
    )


def _concatenated(before: object, value: object) -> object:
    """The one list followed by the other. What is none stays, for validation to refuse."""
    if before is None or not isinstance(value, Sequence) or isinstance(value, str):
        return value
    return [*before, *value] if isinstance(before, Sequence) and not isinstance(before, str) else before


_Found = Iterator[tuple[str, object, Origin]]


def _from_file(origin: Origin, file: Path) -> _Found:
    for key, value in flatten(read_table(file), origin):
        yield key, value, origin


def _from_vault(
    file: Path,
    trusted: Callable[[VaultItem], bool],
    unreadable: list[str],
    warnings: list[str],
    unapproved: list[str],
) -> _Found:
    origin = Origin("vault", str(file))
    try:
        found = read_vault_file(file)
    except ConfigError as error:  # no regular file, or no TOML: whatever it says, it is not known
        unreadable.append(error.message)
        return
    if misread := next(filter(_may_mean_privacy, found.unknown), None):
        raise unknown_setting(misread, origin)
    warnings.extend(f"'{key}' {origin.phrase} is left out: it counts in your own settings." for key in found.refused)
    yield from ((key, value, origin) for key, value in found.harmless.items())
    if found.requests and not trusted(found.item):
        unapproved.extend(found.requests)
        return
    for key, value in found.requests.items():
        if key in found.unknown:
            mistake = unknown_setting(key, origin)
            warnings.append(f"{mistake.message} It is left out. {mistake.hint}")
        else:
            yield key, value, origin


def _may_mean_privacy(key: str) -> bool:
    """Whether an unknown setting may be meant to keep notes here: it is never passed over."""
    return any(word in key.casefold() for word in ("privacy", "local_only", "remote"))


def _from_variables(variables: Mapping[str, str], warnings: list[str]) -> _Found:
    for name, text in sorted(variables.items()):
        # An empty variable is the shell's way to say "not set".
        if not name.startswith(PREFIX) or name in NOT_SETTINGS or not text:
            continue
        origin = Origin("variable", name)
        lower = name.removeprefix(PREFIX).lower().replace("__", ".")
        key = BY_LOWER_CASE.get(lower, lower)
        if field_of(key):
            yield key, parse_value(key, text), origin
        elif "." in key:
            raise unknown_setting(key, origin)
        elif close := get_close_matches(key, [key for key in FIELDS if "." not in key], n=1):
            warnings.append(f"The variable {name} is no setting. Did you mean {PREFIX}{close[0].upper()}?")


def _from_provider_variables(variables: Mapping[str, str]) -> _Found:
    """Variables of other programs that say where a server is. An empty one counts as not set."""
    for key, (name, address_of) in SERVER_VARIABLES.items():
        if text := _unquoted(variables.get(name, "")):
            yield key, address_of(text), Origin("variable", name)


def _unquoted(value: str) -> str:
    return value.strip().strip("\"'").strip()


def _from_flags(flags: Mapping[str, FlagValue]) -> _Found:
    for key, value in flags.items():
        if value is not None:
            yield key, parse_value(key, value) if isinstance(value, str) else value, Origin("flag")


def flatten(table: Mapping[str, object], origin: Origin, prefix: str = "") -> Iterator[tuple[str, object]]:
    """The settings of a table by their dotted keys. Raises `ConfigError` for what is no setting."""
    for name, value in table.items():
        key = prefix + name
        if is_section(key):
            if not isinstance(value, Mapping):
                raise ConfigError(
                    f"'{key}' {origin.phrase} is a section.", hint=f"Write [{key}] and its settings below."
                )
            yield from flatten(value, origin, f"{key}.")
        elif field_of(key):
            yield key, value
        elif prefix == "models.":
            raise ConfigError(
                f"'{name}' {origin.phrase} cannot be the name of a model.",
                hint="A name of your own has letters, digits, - and _ only, and is not 'quote'.",
            )
        else:
            raise unknown_setting(key, origin)


def unflatten(values: Mapping[str, object]) -> dict[str, object]:
    """The inverse of `flatten`."""
    table: dict[str, object] = {}
    for key, value in values.items():
        *sections, name = key.split(".")
        within = table
        for section in sections:
            below = within.setdefault(section, {})
            assert isinstance(below, dict)
            within = below
        within[name] = value
    return table
