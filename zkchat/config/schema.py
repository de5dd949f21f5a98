"""Every setting: its default, its bounds, and what it is for. docs/configuration.md is made from here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Final, Literal, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo


@dataclass(frozen=True, slots=True)
class NeedsTrust:
    """Marks a setting that could send notes elsewhere, run a command or allow writing.

    In a vault's own file it counts only after the user's approval.
    """


@dataclass(frozen=True, slots=True)
class Expects:
    """What a value must be, in words, where type and bounds do not say it."""

    words: str


@dataclass(frozen=True, slots=True)
class Unrepeatable:
    """Marks a setting whose wrong values are never shown: somebody may have put a key there."""


HttpAddress = Annotated[
    str, Field(pattern=r"^https?://[^\s/]\S*$"), Expects("an address that begins with http:// or https://")
]
OptionalHttpAddress = Annotated[
    str, Field(pattern=r"^(https?://[^\s/]\S*)?$"), Expects("an address that begins with http:// or https://, or empty")
]
VariableName = Annotated[
    str,
    Field(pattern=r"^[A-Z_][A-Z0-9_]*$"),
    Expects("the name of an environment variable in capitals, and never the key itself"),
    Unrepeatable(),
]
Share = Annotated[float, Field(gt=0, lt=1)]


class Section(BaseModel):
    # Strict: "4096" is a text and not a number. Variables and flags are read as the right type before they come here.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, protected_namespaces=())


class Vault(Section):
    exclude: tuple[str, ...] = Field(
        default=(),
        strict=False,
        description="Files and folders to leave out, as globs: `Archive/**`, `*.excalidraw.md`.",
    )
    max_note_bytes: int = Field(
        default=5_000_000, ge=1, description="Notes larger than this are known by name only, and a notice says so."
    )


class Storage(Section):
    location: Literal["user", "vault"] = Field(
        default="user",
        description="Where the databases live: in your data and cache folders, or in `.zkchat/` inside the vault.",
    )


class Context(Section):
    max_tokens: int | None = Field(
        default=None,
        ge=256,
        description="Size of the context window in tokens. Unset: the model's own limit (at most 32768 for a model "
        "on this machine), else 8192.",
    )
    reserve_tokens: int = Field(
        default=512, ge=1, description="Tokens of the window that are kept free for the answer."
    )
    system_share: Share = Field(default=0.10, description="Share of the window for the system prompt.")
    tools_share: Share = Field(default=0.30, description="Share of the window for the descriptions of tools.")
    messages_share: Share = Field(default=0.60, description="Share of the window for messages and their notes.")
    threshold: float = Field(
        default=0.85, gt=0, le=1, description="How full the window may get before older messages are summarised."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        shares = round(self.system_share + self.tools_share + self.messages_share, 6)
        if shares > 1:
            raise ValueError(
                "'context.system_share', 'context.tools_share' and 'context.messages_share' "
                f"add up to {shares:g}, which is more than the whole window."
            )
        if self.max_tokens is not None and self.reserve_tokens >= self.max_tokens:
            raise ValueError(
                f"'context.reserve_tokens' ({self.reserve_tokens}) leaves nothing of "
                f"'context.max_tokens' ({self.max_tokens}) for the question."
            )
        return self


class Ollama(Section):
    host: Annotated[HttpAddress, NeedsTrust()] = Field(
        default="http://127.0.0.1:11434", description="Address of the Ollama server."
    )


class OpenAI(Section):
    base_url: Annotated[OptionalHttpAddress, NeedsTrust()] = Field(
        default="", description="Address of a server that speaks OpenAI's protocol. Empty: OpenAI itself."
    )
    api_key_env: Annotated[VariableName, NeedsTrust()] = Field(
        default="OPENAI_API_KEY",
        description="Name of the environment variable that holds the key. Keys are never kept in a settings file.",
    )


class UserInterface(Section):
    color: Literal["auto", "always", "never"] = Field(
        default="auto", description="When to use colour. `auto`: on a terminal, unless `NO_COLOR` is set."
    )
    references_shown: int = Field(
        default=10, ge=1, description='Rows of the panel "Referenced Documents"; what is beyond them is folded.'
    )


class Settings(Section):
    # A vault that chooses the model chooses where its reader's notes go.
    model: Annotated[str, NeedsTrust()] = Field(
        default="",
        description="The model to talk to, such as `ollama:qwen3:8b` or `quote`. Empty: the first that is there.",
    )
    vault: Vault = Vault()
    storage: Storage = Storage()
    context: Context = Context()
    ollama: Ollama = Ollama()
    openai: OpenAI = OpenAI()
    ui: UserInterface = UserInterface()


def _walk(section: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _walk(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


FIELDS: Final[Mapping[str, FieldInfo]] = dict(_walk(Settings))
"""Every setting by its dotted key: `context.max_tokens`."""

SECTIONS: Final = frozenset(key.rpartition(".")[0] for key in FIELDS) - {""}

SENSITIVE: Final = frozenset(
    key for key, field in FIELDS.items() if any(isinstance(mark, NeedsTrust) for mark in field.metadata)
)
"""The settings that a vault's own file may set only with the user's approval."""


def value_of(settings: Settings, key: str) -> object:
    return reduce(getattr, key.split("."), settings)


def expected(key: str) -> str:
    """What the setting takes, to be read after "must be": `a whole number of at least 256`."""
    field = FIELDS[key]
    for mark in field.metadata:
        if isinstance(mark, Expects):
            return mark.words
    return _type_in_words(field.annotation) + _bounds_in_words(field)


def _type_in_words(annotation: object) -> str:
    if get_origin(annotation) is tuple:
        return "a list of texts"
    if get_origin(annotation) is Literal:
        *most, last = (f'"{choice}"' for choice in get_args(annotation))
        return f"{', '.join(most)} or {last}"
    if float in (annotation, *get_args(annotation)):
        return "a number"
    if int in (annotation, *get_args(annotation)):
        return "a whole number"
    return "a text"


def _bounds_in_words(field: FieldInfo) -> str:
    bounds = {"ge": "of at least", "gt": "above", "le": "up to", "lt": "below"}
    words = [
        f"{word} {bound}"
        for mark in field.metadata
        for name, word in bounds.items()
        if (bound := getattr(mark, name, None)) is not None
    ]
    return f" {' and '.join(words)}" if words else ""
