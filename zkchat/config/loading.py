"""Settings from five layers, each value with its origin: defaults < user < vault < variables < flags."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args, get_origin

from msgspec import Struct, convert

from zkchat.config.files import parse_toml, read_table, read_vault_file
from zkchat.config.schema import (
    BY_LOWER_CASE,
    FIELDS,
    MODELS,
    NAME_RULE,
    Setting,
    Settings,
    accepted_values,
    accumulates,
    field_of,
    is_section,
    model_keys,
    path_of,
    section_type,
    settings_of,
)
from zkchat.config.sections import Model, Redacted, Validated, ollama_url
from zkchat.core import HOW_TO_APPROVE, ConfigError, VaultItem, without_password

_S = TypeVar("_S", bound=Struct)
_WHOLE_NUMBER: Final = re.compile(r"\s*([+-]?\d+(?:_\d+)*)(?:\.0+)?\s*", re.ASCII)
LARGEST: Final = 10**12
"""Of all whole numbers: TOML has no bound, but what is reckoned with them has."""
_TRUE: Final = frozenset({"1", "on", "t", "true", "y", "yes"})
_FALSE: Final = frozenset({"0", "off", "f", "false", "n", "no"})


class Problem(Struct, frozen=True, kw_only=True):
    key: str = ""
    """The setting; empty where several do not fit together."""
    value: object = None
    """What was found; nothing where the setting is missing."""
    is_item: bool = False
    """Whether the value is one of a list's."""
    sentence: str = ""
    """Of those that do not fit together."""


class InvalidSettings(ValueError):
    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(", ".join(problem.key for problem in problems))  # not the values: one may be a key
        self.problems = problems


def make_settings(table: Mapping[str, Any]) -> Settings:
    """The settings with these values, by section, and defaults else. Raises `InvalidSettings`."""
    problems: list[Problem] = []
    settings = _make(Settings, table, "", problems)
    if settings is None:
        raise InvalidSettings(problems)
    return settings


def _make(kind: type[_S], table: Mapping[str, Any], prefix: str, problems: list[Problem]) -> _S | None:
    found: list[Problem] = []
    values: dict[str, object] = {}
    for setting in settings_of(kind):
        name, key = setting.name, f"{prefix}{setting.name}"
        if name not in table:
            found += [Problem(key=key)] if setting.is_required else []
        elif below := section_type(setting):
            values[name] = _make(below, table[name], f"{key}.", found)
        elif key == MODELS:
            values[name] = {each: _make(Model, of_it, f"{key}.{each}.", found) for each, of_it in table[name].items()}
        else:
            try:
                made = convert(table[name], setting.annotation)
                if isinstance(made, int) and made > LARGEST:
                    raise ValueError("The number is too large.")
                if isinstance(made, tuple):
                    "".join(made).encode()  # a variable may hold bytes that are no text
                for mark in setting.marks:
                    if isinstance(mark, Validated):
                        mark.validate(made)
                values[name] = made
            except ValueError:  # of msgspec too
                wrong = [*_wrong_items(setting, table[name])]
                found.append(Problem(key=key, value=wrong[0] if wrong else table[name], is_item=bool(wrong)))
    problems += found
    if found:
        return None
    try:
        return kind(**values)
    except ValueError as error:
        problems.append(Problem(sentence=str(error)))
        return None


def _wrong_items(setting: Setting, value: object) -> Iterator[object]:
    """What in a list cannot stand there; nothing where the list itself is wrong."""
    if get_origin(setting.kinds[0]) is tuple and isinstance(value, list | tuple):
        for item in value:
            try:
                convert(item, get_args(setting.kinds[0])[0]).encode()
            except ValueError:
                yield item


def parse_value(key: str, text: str) -> object:
    """A value as a variable, a flag or a command gives it, read as what the setting takes.

    A list is a TOML array or separated by commas, a table is one of TOML. What cannot be read stays a text, for
    `make_settings` to refuse.
    """
    setting = field_of(key)
    assert setting is not None
    shape = get_origin(setting.kinds[0])
    kinds = setting.kinds
    if shape is tuple and not text.strip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    if bool in kinds and text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    try:
        if shape in (tuple, dict):
            return parse_toml(f"value = {text}")["value"]
        if int in kinds and (number := _WHOLE_NUMBER.fullmatch(text)):
            return int(number[1])
        return float(text) if float in kinds and text.isascii() else text
    except ValueError:
        return text


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
    model = key.removeprefix("models.").rpartition(".")[0] if key.startswith("models.") else ""
    known = among or (model_keys(model) if model else FIELDS)
    if elsewhere := _name_elsewhere(key, model):
        return ConfigError(f"Unknown setting '{key}'{f' {origin.phrase}' if origin else ''}.", hint=elsewhere)
    same_name = [each for each in known if each.rpartition(".")[2] == key.rpartition(".")[2]]
    nearest = get_close_matches(key, same_name, n=1) or same_name or get_close_matches(key, known, n=1)
    return ConfigError(
        f"Unknown setting '{key}'{f' {origin.phrase}' if origin else ''}.",
        hint=f"Did you mean '{nearest[0]}'?" if nearest else "All settings: zkchat config show",
    )


_NAMES_ELSEWHERE: Final = Path(__file__).with_name("names_elsewhere.tsv")
"""What other programs call a setting: their name, the program, and ours."""


def _name_elsewhere(key: str, model: str) -> str:
    """A sentence where other programs call a setting so, by all of the key or by its end."""
    rows = [line.split("\t") for line in _NAMES_ELSEWHERE.read_text("utf-8").splitlines()]
    known = {re.sub(r"[_-]", "", name.casefold()): (name, program, ours) for name, program, ours in rows}
    for typed in (key, key.rpartition(".")[2]):
        if found := known.get(re.sub(r"[_-]", "", typed.casefold())):
            name, program, ours = found
            return f"'{name}' is a setting of {program}; in zkchat it is '{ours.replace('NAME', model or 'NAME', 1)}'."
    return ""


def validation_error(problem: Problem, origins: Mapping[str, Origin]) -> ConfigError:
    key = problem.key
    if not key:
        return ConfigError(problem.sentence, hint="Where each value comes from: zkchat config show")
    if key not in origins:  # of a model of which something is said, but not all that is needed
        table, _, name = key.rpartition(".")
        origin = next(origin for known, origin in origins.items() if known.startswith(f"{table}."))
        missing = f"The model '{table}' {origin.phrase} has no '{name}'."
        return ConfigError(missing, hint=f"Set '{key}'. It must be {accepted_values(key)}.")
    found, field = ".", field_of(key)
    if field and not field.has(Redacted):
        verb = "holds" if problem.is_item else "is"
        found = f", but it {verb} {_describe(problem.value)}."
    origin, hint = origins[key], "What each setting takes: zkchat help configuration"
    if origin.layer == "variable":
        hint = f"Change the variable, or remove it: unset {origin.where}"
    elif origin.layer in {"user", "vault"}:
        hint = f"Change it, or go back to the default: zkchat config unset {key} --scope {origin.layer}"
    return ConfigError(f"'{key}' {origin.phrase} must be {accepted_values(key)}{found}", hint=hint)


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


FlagValue = str | int | float | bool | Sequence[str] | None

PREFIX: Final = "ZKCHAT_"
NOT_SETTINGS: Final = frozenset({"ZKCHAT_VAULT", "ZKCHAT_MCP_TOKEN", "ZKCHAT_SERVE_TOKEN"})
"""Variables that mean something else: `ZKCHAT_VAULT` names the vault, the others are tokens of servers."""

SERVER_VARIABLES: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "openai.base_url": ("OPENAI_BASE_URL", str),
    "anthropic.base_url": ("ANTHROPIC_BASE_URL", str),
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
        left_out = f"Settings of the vault, ignored until you approve them: {', '.join(self.unapproved)}."
        return (*self.warnings, *([f"{left_out} {HOW_TO_APPROVE}"] if self.unapproved else []))


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
        _from_file(user_file) if user_file else (),
        _from_vault(vault_file, trusted, unreadable, warnings, unapproved) if vault_file else (),
        _from_variables(variables, warnings),
        (
            (key, parse_value(key, value) if isinstance(value, str) else value, Origin("flag"))
            for key, value in flags.items()
            if value is not None
        ),
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
        warnings=(*(f"{message} Its settings are ignored." for message in unreadable), *warnings),
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


def _from_file(file: Path) -> _Found:
    origin = Origin("user", str(file))
    yield from ((key, value, origin) for key, value in flatten(read_table(file), origin))


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
    for key in found.unknown:
        if any(word in key.casefold() for word in ("privacy", "local_only", "remote")):  # never passed over
            raise unknown_setting(key, origin)
    warnings.extend(
        f"'{key}' {origin.phrase} is ignored: it can only be set in your own settings." for key in found.refused
    )
    yield from ((key, value, origin) for key, value in found.harmless.items())
    if found.requests and not trusted(found.item):
        unapproved.extend(found.requests)
        return
    for key, value in found.requests.items():
        if key in found.unknown:
            mistake = unknown_setting(key, origin)
            warnings.append(f"{mistake.message} It is ignored. {mistake.hint}")
        else:
            yield key, value, origin


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
            warnings.append(f"The variable {name} is not a setting. Did you mean {PREFIX}{close[0].upper()}?")


def _from_provider_variables(variables: Mapping[str, str]) -> _Found:
    """Variables of other programs that say where a server is. An empty one counts as not set."""
    for key, (name, address_of) in SERVER_VARIABLES.items():
        if text := variables.get(name, "").strip().strip("\"'").strip():
            yield key, address_of(text), Origin("variable", name)


def flatten(table: Mapping[str, object], origin: Origin, prefix: str = "") -> Iterator[tuple[str, object]]:
    """The settings of a table by their dotted keys. Raises `ConfigError` for what is no setting."""
    for name, value in table.items():
        key = prefix + name
        if is_section(name, prefix):
            if not isinstance(value, Mapping):
                raise ConfigError(
                    f"'{key}' {origin.phrase} is a section, not a value.", hint=f"Write [{key}] and its settings below."
                )
            yield from flatten(value, origin, f"{key}.")
        elif prefix == "models.":
            raise ConfigError(f"'{name}' {origin.phrase} cannot be the name of a model.", hint=NAME_RULE)
        elif field_of(key):
            yield key, value
        elif prefix.startswith("models.") and isinstance(value, Mapping):
            whole = key.removeprefix("models.")
            raise ConfigError(
                f"'{key}' {origin.phrase} is not a setting.", hint=f'A name with dots needs quotes: [models."{whole}"]'
            )
        else:
            raise unknown_setting(key, origin)


def unflatten(values: Mapping[str, object]) -> dict[str, object]:
    table: dict[str, object] = {}
    for key, value in values.items():
        *sections, name = path_of(key)
        within = table
        for section in sections:
            below = within.setdefault(section, {})
            assert isinstance(below, dict)
            within = below
        within[name] = value
    return table
