"""Every setting: its default, its bounds, and what it is for. docs/configuration.md is made from here."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self, get_args, get_origin

from msgspec import Struct
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo

from zkchat.config.urls import validate_http_url
from zkchat.model import globs
from zkchat.model.choices import CompactionStrategy, OpenWith, PanelView, ThinkingView, Weekday, WriteMode
from zkchat.model.goal import DEFAULT_MINUTES, DEFAULT_STEPS, DEFAULT_TOKENS
from zkchat.model.images import ImageDetail
from zkchat.model.providers import ProviderName


class Harmless(Struct, frozen=True):
    """Marks a setting that a vault's own file may hold unasked.

    All others, those of the future too, count there only after the user's approval.
    """


class Expects(Struct, frozen=True):
    """What a value must be, in words, where type and bounds do not say it."""

    words: str


class Accumulates(Struct, frozen=True):
    """Marks a list to which each layer adds, so that none can take away what another names."""


class UserOnly(Struct, frozen=True):
    """Marks a setting that never counts in a vault's own file, approved or not."""


class Redacted(Struct, frozen=True):
    """Marks a setting whose wrong values are never shown: somebody may have put a key there."""


def _validate_whole_path(path: str) -> str:
    """Raises ValueError for a path that means another folder in each current one."""
    if path and Path(path).parts[:1] != ("~",) and not Path(path).is_absolute():
        raise ValueError("The path is not whole.")
    return path


def _validate_time_zone(name: str) -> str:
    """Raises ValueError for a name that this system knows no time zone by."""
    if name:
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, OSError) as error:
            raise ValueError("There is no such time zone.") from error
    return name


HttpAddress = Annotated[
    str,
    AfterValidator(validate_http_url),
    Expects("an address that begins with http:// or https://, such as http://127.0.0.1:11434"),
]
OptionalHttpAddress = Annotated[
    str,
    AfterValidator(lambda address: address and validate_http_url(address)),
    Expects("an address that begins with http:// or https://, such as http://127.0.0.1:8080/v1, or empty"),
]
VariableName = Annotated[
    str,
    Field(pattern=r"^[A-Z_][A-Z0-9_]*$"),
    Expects("the name of an environment variable in capitals, and never the key itself"),
    Redacted(),
]
OptionalVariableName = Annotated[
    str,
    Field(pattern=r"^([A-Z_][A-Z0-9_]*)?$"),
    Expects("the name of an environment variable in capitals, and never the key itself, or empty"),
    Redacted(),
]
Globs = Annotated[
    tuple[Annotated[str, Field(max_length=globs.MAX_CHARS)], ...],
    Field(max_length=globs.MAX_GLOBS),
    Expects(f"a list of texts (at most {globs.MAX_GLOBS}, of up to {globs.MAX_CHARS} characters each)"),
]
TimeZoneName = Annotated[
    str,
    AfterValidator(_validate_time_zone),
    Expects("the name of a time zone, such as Europe/Berlin, or empty"),
]
WholePath = Annotated[
    str,
    AfterValidator(_validate_whole_path),
    Expects("the whole path of a folder, such as ~/notes, or empty"),
]
Share = Annotated[float, Field(gt=0, lt=1)]


class SettingsSection(BaseModel):
    # Strict: "4096" is a text and not a number. Variables and flags are read as the right type before they come here.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, protected_namespaces=())


class Vault(SettingsSection):
    default: Annotated[WholePath, UserOnly()] = Field(
        default="",
        description="The folder of your notes, used where you are in no vault and name none. `zkchat setup` sets it.",
    )
    exclude: Annotated[Globs, Harmless()] = Field(
        default=(),
        strict=False,
        description="Files and folders to leave out, as globs: `Archive/**`, `*.excalidraw.md`.",
    )
    max_note_bytes: int = Field(
        default=5_000_000, ge=1, description="Notes larger than this are known by name only, and a notice says so."
    )
    pdf: bool = Field(
        default=True,
        description="Whether the text of PDFs is read, searched and cited, where the extra `zkchat[pdf]` is installed.",
    )
    max_pdf_bytes: int = Field(
        default=100_000_000, ge=1, description="PDFs larger than this are known by name only, and a notice says so."
    )
    max_pdf_pages: int = Field(
        default=2_000, ge=1, le=100_000, description="Pages that are read of a PDF; a notice says where there are more."
    )
    max_pdf_seconds: int = Field(
        default=60, ge=1, le=3_600, description="Seconds that the text of one PDF may take; after that it is given up."
    )


class Limits(SettingsSection):
    max_input_bytes: int = Field(
        default=8_000_000, ge=1, description="What `zkchat ask` reads from a pipe at most; more is refused."
    )
    max_answer_chars: int = Field(
        default=1_000_000,
        ge=1,
        description="Characters of an answer, thinking included, after which it is ended; what came is kept.",
    )
    max_answer_seconds: int = Field(
        default=3_600, ge=1, description="Seconds after which an answer is ended; what came is kept."
    )


class Storage(SettingsSection):
    location: Literal["user", "vault"] = Field(
        default="user",
        description="Where the databases live: in your data and cache folders, or in `.zkchat/` inside the vault.",
    )


class Context(SettingsSection):
    max_tokens: int | None = Field(
        default=None,
        ge=256,
        description="Size of the context window in tokens. Unset: the model's own limit (at most 32768 for a model "
        "on this machine without a `context_limit`), else 8192.",
    )
    reserve_tokens: int = Field(
        default=512, ge=1, description="Tokens of the window that are kept free for the answer."
    )
    system_share: Share = Field(default=0.10, description="Share of the window for the system prompt.")
    tools_share: Share = Field(default=0.30, description="Share of the window for the descriptions of tools.")
    messages_share: Share = Field(default=0.60, description="Share of the window for messages and their notes.")
    memory_share: float = Field(
        default=0.20,
        ge=0,
        lt=1,
        description="Share of the window, out of that for messages, for what is remembered and recalled. 0: nothing of "
        "it is sent.",
    )
    threshold: float = Field(
        default=0.85, gt=0, le=1, description="How full the window may get before older messages are summarised."
    )
    auto_compact: bool = Field(
        default=True, description="Summarise older messages when the window is full. Off: the turn stops and says so."
    )
    confirm_compaction: bool = Field(default=False, description="Ask in a chat before older messages are summarised.")
    review_summary: bool = Field(default=False, description="Open each summary in your editor before it is used.")
    strategy: CompactionStrategy = Field(
        default="summarize",
        description="What happens to older messages: summarised, left out, or kept by their importance. "
        "In any case they stay in the session.",
    )
    keep_recent: int = Field(default=6, ge=1, description="Messages at the end that stay word for word.")
    keep_min: int = Field(default=2, ge=1, description="And how few of them, where so many do not fit.")
    recall: bool = Field(
        default=True, description="Bring archived messages back into the request when they bear on the question."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        shares = round(self.system_share + self.tools_share + self.messages_share, 6)
        if shares > 1:
            raise ValueError(
                "'context.system_share', 'context.tools_share' and 'context.messages_share' "
                f"add up to {shares:g}, which is more than the whole window."
            )
        if self.keep_min > self.keep_recent:
            raise ValueError(
                f"'context.keep_min' ({self.keep_min}) is more than 'context.keep_recent' ({self.keep_recent})."
            )
        if self.max_tokens is not None and self.reserve_tokens >= self.max_tokens:
            raise ValueError(
                f"'context.reserve_tokens' ({self.reserve_tokens}) leaves nothing of "
                f"'context.max_tokens' ({self.max_tokens}) for the question."
            )
        return self


class Memory(SettingsSection):
    enabled: bool = Field(
        default=True,
        description="Whether conversations use memory: the vault's page, facts, and the tools over them. Off: nothing "
        "of it is sent, and nothing is proposed or kept.",
    )
    learn: Literal["ask", "off"] = Field(
        default="ask",
        description="Whether a chat at a terminal proposes, when it ends or is compacted, to remember what you said of "
        "yourself. You are asked about each fact.",
    )


class Privacy(SettingsSection):
    local_only: Annotated[Globs, Accumulates(), Harmless()] = Field(
        default=(),
        strict=False,
        description="Folders, or globs such as `**/Private`, whose notes go to no model but one on this machine. A "
        "vault's own file can add to them and take none away.",
    )


class References(SettingsSection):
    model_summaries: Literal["local", "always", "never"] = Field(
        default="local",
        description="Whose model describes long documents of the panel in a sentence, while you type: one on this "
        "machine, any, or none. It takes tokens.",
    )
    look_again: bool = Field(
        default=True,
        description="Hand over what your notes say, and ask once more, when a model with tools answers without having "
        "looked there.",
    )
    check_answers: bool = Field(
        default=True,
        description="Show the passage instead when a small model, or any model with `--strict`, contradicts a passage "
        "that it was handed.",
    )


class Write(SettingsSection):
    enabled: bool = Field(
        default=False,
        description="Whether a model may propose changes of notes, as `--write` and `/write on` allow it for one chat.",
    )
    mode: WriteMode = Field(
        default="ask",
        description="What becomes of its proposals. `ask`: you see each as a diff and say yes or no. `propose`: they "
        "are only shown.",
    )
    accept: Globs = Field(
        default=(),
        strict=False,
        description="Folders, as globs, in which proposals are applied without a question: `Inbox`, `Journal/**`. "
        "Private notes are asked about all the same where the model runs elsewhere.",
    )
    git_commit: bool = Field(
        default=False,
        description="Whether each change set becomes a git commit, where the vault is in a repository.",
    )


class Goals(SettingsSection):
    steps: int = Field(default=DEFAULT_STEPS, ge=1, le=100, description="Steps that the plan of a goal may have.")
    tokens: int = Field(
        default=DEFAULT_TOKENS,
        ge=1_000,
        description="Tokens that a goal run may take, all its requests and answers together.",
    )
    minutes: int = Field(default=DEFAULT_MINUTES, ge=1, description="Minutes that a goal run may take.")


_LOCAL_SERVER: Final = (
    "`false`: a server on this machine only forwards to another one, as LiteLLM or a tunnel does, so that its models "
    "get no local notes. A server elsewhere is never local."
)


class Mcp(SettingsSection):
    allow: Annotated[Globs, UserOnly()] = Field(
        default=(),
        strict=False,
        description="Tools of your MCP servers that may be called without a question, also where nobody can be asked: "
        "`server/tool`, or `server` for all of its tools.",
    )


class Ollama(SettingsSection):
    host: HttpAddress = Field(default="http://127.0.0.1:11434", description="Address of the Ollama server.")
    local: bool = Field(default=True, description=_LOCAL_SERVER)


class OpenAI(SettingsSection):
    base_url: OptionalHttpAddress = Field(
        default="", description="Address of a server that speaks OpenAI's protocol. Empty: OpenAI itself."
    )
    api_key_env: VariableName = Field(
        default="OPENAI_API_KEY",
        description="Name of the environment variable that holds the key. Keys are never kept in a settings file.",
    )
    local: bool = Field(default=True, description=_LOCAL_SERVER)


class Embeddings(SettingsSection):
    model: Annotated[
        str,
        Field(pattern=r"^((ollama|openai):.+)?$"),
        Expects('"ollama:NAME" or "openai:NAME", such as ollama:nomic-embed-text, or empty'),
    ] = Field(
        default="",
        description="The model whose vectors the search uses: `ollama:nomic-embed-text`, "
        "`openai:text-embedding-3-small`. Your notes are sent to its server, `local` ones only if it is on this "
        "machine. Empty: the vectors that come with zkchat.",
    )
    base_url: OptionalHttpAddress = Field(
        default="", description="Address of its server. Empty: `ollama.host` or `openai.base_url`."
    )
    api_key_env: OptionalVariableName = Field(
        default="",
        description="Name of the environment variable that holds the key for `embeddings.base_url`. Empty: the key of "
        "`openai.api_key_env` where the server is the same or OpenAI itself, else none.",
    )
    dimensions: int | None = Field(
        default=None,
        ge=16,
        le=16_384,
        description="Numbers that a vector is to have, for models that can shorten theirs. Unset: the model's own.",
    )
    query_prefix: str | None = Field(
        default=None, description="What is put before a question. Unset: what is known of the model."
    )
    document_prefix: str | None = Field(
        default=None, description="What is put before a passage. Unset: what is known of the model."
    )
    batch_size: int = Field(default=32, ge=1, le=2_048, description="Passages that are sent at once.")
    timeout: float = Field(default=60.0, gt=0, le=3_600, description="Seconds that the server may take for them.")
    query_timeout: float = Field(
        default=1.0,
        gt=0,
        le=3,
        description="Seconds that a search waits for the vector of its question. Then it goes by words and by the "
        "vectors that come with zkchat.",
    )
    options: dict[str, object] = Field(
        default={},
        description="What else is sent with every request, as the server knows it: `{ num_ctx = 2048 }`.",
    )
    local: bool = Field(
        default=True,
        description="`false`: the model runs on another machine although its server's address is this one, and gets no "
        "local notes.",
    )


class UserInterface(SettingsSection):
    color: Annotated[Literal["auto", "always", "never"], Harmless()] = Field(
        default="auto", description="When to use colour. `auto`: on a terminal, unless `NO_COLOR` is set."
    )
    panel: Annotated[PanelView, Harmless()] = Field(
        default="brief",
        description="What is shown below an answer. `brief`: a line for each document that is cited or linked, and the "
        "context when its use has changed. `full`: all documents with what they say, the whole bar. `off`: nothing.",
    )
    references_shown: Annotated[int, Harmless()] = Field(
        default=10, ge=1, description="Documents shown below an answer; those beyond are counted."
    )
    thinking: Annotated[ThinkingView, Harmless()] = Field(
        default="folded",
        description="What is shown of a model's thinking: its last lines while it thinks, all of it, or nothing.",
    )
    keys: Annotated[Literal["emacs", "vi"], Harmless()] = Field(
        default="emacs", description="The keys that edit what you type in a chat."
    )
    open_with: OpenWith = Field(
        default="auto",
        description="What `/open` uses: `editor` is `$VISUAL` or `$EDITOR`, `desktop` the program that your system has "
        "for the file. `auto`: Obsidian in its vaults, else the desktop, and the editor where there is no desktop.",
    )


class CalendarSettings(SettingsSection):
    first_day_of_week: Annotated[Weekday, Harmless()] = Field(
        default="monday", description="The day on which `this week` begins. Weeks with a number (`2026-W10`) are ISO's."
    )
    time_zone: Annotated[TimeZoneName, Harmless()] = Field(
        default="", description="The time zone in which a day begins, for words such as `today`. Empty: the system's."
    )


class Images(SettingsSection):
    max_count: int = Field(
        default=8,
        ge=0,
        le=50,
        description="Images that go along with one message, to a model that sees. 0: none; it reads their names.",
    )
    detail: ImageDetail = Field(
        default="high",
        description="How closely a model looks at an image. `low`: it is sent with 512 pixels on its longer side, for "
        "few tokens.",
    )


class Model(SettingsSection):
    provider: ProviderName = Field(description="Who runs it.")
    id: Annotated[str, Field(min_length=1), Expects("the name that the provider knows it by")] = Field(
        description="The model's name there, such as `qwen3:8b`; for `local` a name or a file."
    )
    context_limit: int | None = Field(
        default=None,
        ge=256,
        description="Its context window in tokens, used whole unless `context.max_tokens` is less. Unset: what the "
        "provider says.",
    )
    temperature: float | None = Field(
        default=None,
        ge=0,
        le=2,
        description="How freely it chooses its words. Unset: what the provider takes, 0 for a small model.",
    )
    calls_tools: bool | None = Field(
        default=None,
        description="Whether it is offered tools; else zkchat searches for it. Unset: what the provider says.",
    )
    sees_images: bool | None = Field(
        default=None,
        description="Whether images are sent to it; else it reads their names. Unset: what the provider says, and for "
        "OpenAI's own models what is known of them.",
    )
    options: dict[str, object] = Field(
        default_factory=dict,
        description="What else is sent with every request, as the server knows it: `{ top_p = 0.9 }`.",
    )
    local: bool = Field(
        default=True,
        description="`false`: it runs on another machine although its server's address is this one, and gets no local "
        "notes.",
    )


class Settings(SettingsSection):
    model: str = Field(
        default="",
        description="The model to talk to: `ollama:qwen3:8b`, `quote`, the NAME of a `[models.NAME]` table. "
        "Empty: the first that is there.",
    )
    models: dict[str, Model] = Field(default_factory=dict, description="Models by names of your own.")
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
    embeddings: Embeddings = Embeddings()
    write: Write = Write()
    goal: Goals = Goals()
    ui: UserInterface = UserInterface()
    calendar: CalendarSettings = CalendarSettings()
    mcp: Mcp = Mcp()
    mcpServers: Annotated[dict[str, object], UserOnly(), Redacted()] = Field(  # as other programs call it
        default={},
        description="MCP servers whose tools a chat may use, by names of your own: `[mcpServers.NAME]` with `command` "
        "and `args`, or with `url`; `zkchat mcp add` writes them.",
    )


_MODELS: Final = "models"


def _walk(section: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in section.model_fields.items():
        if name == _MODELS:
            continue  # its tables have names that only the user knows
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _walk(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


FIELDS: Final[Mapping[str, FieldInfo]] = dict(_walk(Settings))
"""Every setting by its dotted key: `context.max_tokens`."""

BY_LOWER_CASE: Final[Mapping[str, str]] = {key.lower(): key for key in FIELDS}
"""The settings by the names that variables have for them."""

SECTIONS: Final = frozenset(key.rpartition(".")[0] for key in FIELDS) - {""} | {_MODELS}

HARMLESS: Final = frozenset(
    key for key, field in FIELDS.items() if any(isinstance(mark, Harmless) for mark in field.metadata)
)
"""The settings that a vault's own file may hold without the user's approval."""


def model_keys(name: str) -> list[str]:
    """The settings of the model that the user calls `name`."""
    return [f"{_MODELS}.{name}.{field}" for field in Model.model_fields]


def model_named_in(key: str) -> str | None:
    """The name in `models.NAME` or `models.NAME.id`; None for other keys, and for what cannot be a name."""
    match key.split("."):
        # No colon, so that nothing is taken for PROVIDER:NAME, and no dot, which parts keys.
        case [section, name, *_] if section == _MODELS and re.fullmatch(r"[\w-]+", name) and name != "quote":
            return name
    return None


def field_of(key: str) -> FieldInfo | None:
    """The setting with this dotted key, if there is one."""
    name = model_named_in(key)
    return FIELDS.get(key) if name is None else Model.model_fields.get(key.removeprefix(f"{_MODELS}.{name}."))


def is_section(key: str) -> bool:
    """Whether settings stand below this key."""
    return key in SECTIONS or (key.count(".") == 1 and model_named_in(key) is not None)


def needs_trust(key: str) -> bool:
    """Whether a setting, known or not, counts in a vault's own file only after the user's approval."""
    return key not in HARMLESS


def is_user_only(key: str) -> bool:
    """Whether a setting never counts in a vault's own file."""
    field = field_of(key)
    return field is not None and any(isinstance(mark, UserOnly) for mark in field.metadata)


def accumulates(key: str) -> bool:
    """Whether each layer adds to the setting, where others are replaced."""
    field = field_of(key)
    return field is not None and any(isinstance(mark, Accumulates) for mark in field.metadata)


def value_of(settings: Settings, key: str) -> object:
    found: object = settings
    for name in key.split("."):
        found = found[name] if isinstance(found, Mapping) else getattr(found, name)
    return found


def accepted_values(key: str) -> str:
    """What the setting takes, to be read after "must be": `a whole number of at least 256`."""
    field = field_of(key)
    assert field is not None
    for mark in field.metadata:
        if isinstance(mark, Expects):
            return mark.words
    return _type_in_words(field.annotation) + _bounds_in_words(field)


_KINDS: Final = {bool: "true or false", float: "a number", int: "a whole number"}
_SHAPES: Final = {tuple: "a list of texts", dict: "a table"}


def _type_in_words(annotation: object) -> str:
    if get_origin(annotation) is Literal:
        *most, last = (f'"{choice}"' for choice in get_args(annotation))
        return f"{', '.join(most)} or {last}"
    for shape, words in _SHAPES.items():
        if get_origin(annotation) is shape:
            return words
    possible = (annotation, *get_args(annotation))
    return next((words for kind, words in _KINDS.items() if kind in possible), "a text")


def _bounds_in_words(field: FieldInfo) -> str:
    bounds = {"ge": "of at least", "gt": "above", "le": "up to", "lt": "below"}
    words = [
        f"{word} {bound}"
        for mark in field.metadata
        for name, word in bounds.items()
        if (bound := getattr(mark, name, None)) is not None
    ]
    return f" {' and '.join(words)}" if words else ""
