"""Every setting by its dotted key: what it is, what it takes, and who may set it.

docs/configuration.md is made from here.
"""

import re
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Final, Literal, Union, get_args, get_origin

from msgspec import NODEFAULT, Struct

from zkchat.config.sections import (
    Accumulates,
    Anthropic,
    CalendarSettings,
    Context,
    Debug,
    Embeddings,
    Expects,
    Goals,
    Harmless,
    Images,
    Limits,
    Mcp,
    Memory,
    Model,
    Ollama,
    OpenAI,
    Privacy,
    Redacted,
    References,
    Storage,
    UserInterface,
    UserOnly,
    Vault,
    Write,
)
from zkchat.core import PROVIDERS


class Settings(Struct, frozen=True, kw_only=True):
    model: Annotated[
        str,
        "The model to talk to: `ollama:qwen3:8b`, `quote`, the NAME of a `[models.NAME]` table. "
        "Empty: the first that is found.",
    ] = ""
    models: Annotated[dict[str, Model], "Models under names that you choose."] = {}
    vault: Vault = Vault()
    limits: Limits = Limits()
    images: Images = Images()
    storage: Storage = Storage()
    context: Context = Context()
    memory: Memory = Memory()
    privacy: Privacy = Privacy()
    references: References = References()
    ollama: Ollama = Ollama()
    openai: OpenAI = OpenAI()
    anthropic: Anthropic = Anthropic()
    embeddings: Embeddings = Embeddings()
    write: Write = Write()
    goal: Goals = Goals()
    ui: UserInterface = UserInterface()
    calendar: CalendarSettings = CalendarSettings()
    debug: Debug = Debug()
    mcp: Mcp = Mcp()
    mcpServers: Annotated[
        dict[str, object],
        UserOnly(),
        Redacted(),
        "MCP servers whose tools a chat may use, by names of your own: `[mcpServers.NAME]` with `command` "
        "and `args`, or with `url`; `zkchat config servers add` writes them.",
    ] = {}

    def __repr__(self) -> str:
        """Without the values: addresses and servers may hold keys."""
        return f"{type(self).__name__}(…)"


class Setting(Struct, frozen=True, kw_only=True):
    name: str
    annotation: object
    """The type with its bounds, as msgspec reads it."""
    kinds: tuple[object, ...]
    """The types that it may have, without bounds."""
    marks: tuple[object, ...]
    default: object
    """NODEFAULT where it has to be set."""

    @property
    def is_required(self) -> bool:
        return self.default is NODEFAULT

    @property
    def description(self) -> str:
        return next(mark for mark in self.marks if isinstance(mark, str))

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(word for kind in self.kinds if get_origin(kind) is Literal for word in get_args(kind))

    def has(self, mark: type[Struct]) -> bool:
        return any(isinstance(each, mark) for each in self.marks)


def settings_of(section: type[Struct]) -> Iterator[Setting]:
    """The settings of a section, and the sections in it, in the order in which they are written."""
    names, defaults = section.__struct_fields__, section.__struct_defaults__
    required = (NODEFAULT,) * (len(names) - len(defaults))
    for name, default in zip(names, (*required, *defaults), strict=True):
        annotation = section.__annotations__[name]
        kinds, marks = _kinds_and_marks(annotation)
        made = default.factory() if hasattr(default, "factory") else default
        yield Setting(name=name, annotation=annotation, kinds=kinds, marks=marks, default=made)


def _kinds_and_marks(annotation: object) -> tuple[tuple[object, ...], tuple[object, ...]]:
    if get_origin(annotation) is Annotated:
        bare, *own = get_args(annotation)
        kinds, marks = _kinds_and_marks(bare)
        return kinds, (*marks, *own)
    if get_origin(annotation) not in (Union, UnionType):
        return (annotation,), ()
    found = [_kinds_and_marks(part) for part in get_args(annotation)]
    return tuple(kind for kinds, _ in found for kind in kinds), tuple(mark for _, marks in found for mark in marks)


def section_type(setting: Setting) -> type[Struct] | None:
    """The section that stands in this place, if it is no setting."""
    kind = setting.kinds[0]
    return kind if isinstance(kind, type) and issubclass(kind, Struct) else None


MODELS: Final = "models"
"""Its tables have names that only the user knows."""
OF_A_MODEL: Final[Mapping[str, Setting]] = {setting.name: setting for setting in settings_of(Model)}


def _walk(section: type[Struct], prefix: str = "") -> Iterator[tuple[str, Setting]]:
    for setting in settings_of(section):
        if below := section_type(setting):
            yield from _walk(below, f"{prefix}{setting.name}.")
        elif setting.name != MODELS:
            yield f"{prefix}{setting.name}", setting


FIELDS: Final[Mapping[str, Setting]] = dict(_walk(Settings))
"""Every setting by its dotted key: `context.max_tokens`."""

BY_LOWER_CASE: Final[Mapping[str, str]] = {key.lower(): key for key in FIELDS}
"""The settings by the names that variables have for them."""

SECTIONS: Final = frozenset(key.rpartition(".")[0] for key in FIELDS) - {""} | {MODELS}

HARMLESS: Final = frozenset(key for key, setting in FIELDS.items() if setting.has(Harmless))
"""The settings that a vault's own file may hold without the user's approval."""


def model_keys(name: str) -> list[str]:
    """The settings of the model that the user calls `name`."""
    return [f"{MODELS}.{name}.{field}" for field in OF_A_MODEL]


NAME_RULE: Final = (
    "Choose one line of up to 80 characters, without \" and \\. It must not be 'quote', begin with a provider (such as "
    "ollama:), or end like a setting (such as .base_url)."
)


def is_model_name(name: str) -> bool:
    """Whether a model may be called so: nothing that means another model, an address, or a setting of a model."""
    provider, colon, _ = name.partition(":")
    before, _, last = name.rpartition(".")
    return (
        0 < len(name) <= 80
        and name.isprintable()
        and name.strip(" '") == name
        and not {*'"\\'} & {*name}
        and name != "quote"
        and "://" not in name
        and not (colon and provider in PROVIDERS)
        and not (before and last in OF_A_MODEL)
    )


def model_named_in(key: str) -> str | None:
    """The name in `models.NAME` or `models.NAME.id`; None for other keys, and for what cannot be a name."""
    section, _, rest = key.partition(".")
    before, _, last = rest.rpartition(".")
    name = before if before and last in OF_A_MODEL else rest
    return name if section == MODELS and is_model_name(name) else None


def path_of(key: str) -> list[str]:
    """The names of the tables that lead to a setting, and its own: that of a model may hold dots."""
    name = model_named_in(key)
    if name is None:
        return key.split(".")
    return [MODELS, name, *filter(None, [key.removeprefix(f"{MODELS}.{name}").removeprefix(".")])]


def as_key(typed: str) -> str:
    """The key that was typed; the name of a model may stand in quotes, as TOML has it."""
    return re.sub(rf"^{MODELS}\.([\"'])(.+)\1(?=\.\w+$|$)", rf"{MODELS}.\2", typed)


def shown_key(key: str) -> str:
    """The key as TOML has it: a model's name with more than letters, digits, - and _ stands in quotes."""
    name = model_named_in(key)
    return key if name is None or re.fullmatch(r"[\w-]+", name) else key.replace(name, f'"{name}"', 1)


def field_of(key: str) -> Setting | None:
    *tables, name = path_of(key)
    return OF_A_MODEL.get(name) if tables[:1] == [MODELS] and tables[1:] else FIELDS.get(key)


def is_section(name: str, prefix: str) -> bool:
    """Whether a table of this name, below the tables of the prefix, holds settings."""
    return is_model_name(name) if prefix == f"{MODELS}." else not prefix and name in SECTIONS


def needs_trust(key: str) -> bool:
    """Whether a setting, known or not, counts in a vault's own file only after the user's approval."""
    return key not in HARMLESS


def is_user_only(key: str) -> bool:
    """Whether a setting never counts in a vault's own file."""
    field = field_of(key)
    return field is not None and field.has(UserOnly)


def accumulates(key: str) -> bool:
    """Whether each layer adds to the setting, where others are replaced."""
    field = field_of(key)
    return field is not None and field.has(Accumulates)


def value_of(settings: Settings, key: str) -> object:
    found: object = settings
    for name in path_of(key):
        found = found[name] if isinstance(found, Mapping) else getattr(found, name)
    return found


def accepted_values(key: str) -> str:
    """What the setting takes, to be read after "must be": `a whole number of at least 256`."""
    field = field_of(key)
    assert field is not None
    for mark in field.marks:
        if isinstance(mark, Expects):
            return mark.words
    if field.choices:
        *most, last = (f'"{choice}"' for choice in field.choices)
        return f"{', '.join(most)} or {last}"
    shape = _SHAPES.get(get_origin(field.kinds[0]))
    kind = shape or next((words for kind, words in _KINDS.items() if kind in field.kinds), "a text")
    bounds = {"ge": "of at least", "gt": "above", "le": "up to", "lt": "below"}
    said = [
        f"{word} {bound}"
        for mark in field.marks
        for name, word in bounds.items()
        if (bound := getattr(mark, name, None)) is not None
    ]
    return f"{kind} {' and '.join(said)}" if said else kind


_KINDS: Final = {bool: "true or false", float: "a number", int: "a whole number"}
_SHAPES: Final[Mapping[object, str]] = {tuple: "a list of texts", dict: "a table"}
