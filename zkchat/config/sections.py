"""The settings by section: defaults, bounds, and what each is for."""

import re
from collections.abc import Callable, Mapping
from ipaddress import IPv6Address
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from msgspec import Meta, Struct

from zkchat.core import (
    DEFAULT_GOAL_MINUTES,
    DEFAULT_GOAL_STEPS,
    DEFAULT_GOAL_TOKENS,
    THEMES,
    ColorChoice,
    CompactionStrategy,
    ImageDetail,
    OpenWith,
    PanelView,
    ProviderName,
    SummaryDetail,
    ThinkingView,
    Weekday,
    WriteMode,
    parse_theme,
    text,
)


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


class Validated(Struct, frozen=True):
    """What a text must pass, where type and bounds do not say it all."""

    validate: Callable[[Any], object]
    """Raises ValueError."""


_FORBIDDEN = frozenset('\\<>"`{}|^?#')
"""Characters that no part of such a URL holds. Programs differ in what host they see in one that does."""


def validate_http_url(address: str) -> str:
    """The address itself. Raises `ValueError` for one that cannot be called, or that could be read in two ways."""
    if any(letter <= " " or letter in _FORBIDDEN or letter.isspace() for letter in address):
        raise ValueError("it has a character that is not allowed in an address")
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"}:
        raise ValueError("it begins with neither http:// nor https://")
    host = parts.hostname or ""
    if parts.netloc.rpartition("@")[2].startswith("["):
        IPv6Address(host.partition("%")[0])
    elif any(not 0 < len(label) < 64 for label in host.removesuffix(".").split(".")):
        raise ValueError("it names no host")
    if parts.port == 0:  # which also raises for what is no number of a port
        raise ValueError("there is no port 0")
    return address


_EVERY_INTERFACE: Final = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104 - an address to ask, none to serve on


def ollama_url(host: str) -> str:
    """The address that Ollama's own programs understand by this: a scheme and a port may be missing.

    A server that listens on every interface of this machine is asked on this machine.
    """
    scheme, marked, rest = host.rpartition("://")
    host_and_port, slash, path = rest.partition("/")
    found = re.fullmatch(r"(?P<user>.*@)?(?P<name>\[[^\]]*\]|[^:]*)(?::(?P<port>\d*))?", host_and_port)
    if found is None:  # such as ::1, which is a name without its brackets
        name, port, user = f"[{host_and_port}]", "", ""
    else:
        name, port, user = found["name"], found["port"] or "", found["user"] or ""
    name = _EVERY_INTERFACE.get(name or "127.0.0.1", name or "127.0.0.1")
    usual = "" if marked else ":11434"
    return f"{scheme or 'http'}://{user}{name}{f':{port}' if port else usual}{slash}{path}".rstrip("/")


def _validate_whole_path(path: str) -> None:
    """Raises ValueError for a path that means another folder in each current one."""
    if path and Path(path).parts[:1] != ("~",) and not Path(path).is_absolute():
        raise ValueError("Write the full path, beginning with / or ~.")


def _validate_time_zone(name: str) -> None:
    """Raises ValueError for a name that this system knows no time zone by."""
    if name:
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, OSError) as error:
            raise ValueError("There is no such time zone.") from error


_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OUR_HEADERS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding", "user-agent"}
)


def _validate_headers(headers: Mapping[str, str]) -> None:
    """Raises ValueError for what cannot be sent, and for what may be a key: that comes from a variable."""
    from zkchat.core import KEY, REFERENCE, names_a_secret

    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or name.lower() in _OUR_HEADERS:
            raise ValueError("this header cannot be set")
        if not (value.isascii() and value.isprintable()):
            raise ValueError("a header holds printable ASCII only")
        plain = REFERENCE.sub("", value)
        named = [found for found in REFERENCE.finditer(value) if found["default"] is None]
        if KEY.search(plain) or (names_a_secret(name) and not named):
            raise ValueError("put the key into an environment variable")


HttpAddress = Annotated[
    str,
    Validated(validate_http_url),
    Expects("an address that begins with http:// or https://, such as http://127.0.0.1:11434"),
]
OptionalHttpAddress = Annotated[
    str,
    Validated(lambda address: address and validate_http_url(address)),
    Expects("an address that begins with http:// or https://, such as http://127.0.0.1:8080/v1, or empty"),
]
VariableName = Annotated[
    str,
    Meta(pattern=r"\A[A-Z_][A-Z0-9_]*\Z"),
    Expects("the name of an environment variable in capitals, and never the key itself"),
    Redacted(),
]
OptionalVariableName = Annotated[
    str,
    Meta(pattern=r"\A([A-Z_][A-Z0-9_]*)?\Z"),
    Expects("the name of an environment variable in capitals, and never the key itself, or empty"),
    Redacted(),
]
Globs = Annotated[
    tuple[Annotated[str, Meta(max_length=text.MAX_CHARS)], ...],
    Meta(max_length=text.MAX_GLOBS),
    Expects(f"a list of texts (at most {text.MAX_GLOBS}, of up to {text.MAX_CHARS} characters each)"),
]
TimeZoneName = Annotated[
    str,
    Validated(_validate_time_zone),
    Expects("the name of a time zone, such as Europe/Berlin, or empty"),
]
WholePath = Annotated[
    str,
    Validated(_validate_whole_path),
    Expects("the full path of a folder, such as ~/notes, or empty"),
]
Headers = Annotated[
    dict[str, str],
    Validated(_validate_headers),
    Expects('a table of headers, in which secrets come from environment variables, such as { api-key = "${MY_KEY}" }'),
    Redacted(),
]
Seconds = Annotated[float, Meta(gt=0, le=3_600)]
Share = Annotated[float, Meta(gt=0, lt=1)]
Price = Annotated[float, Meta(ge=0, le=100_000)]
ContextWindow = Annotated[int, Meta(ge=256)]
"""In tokens."""


class Vault(Struct, frozen=True, kw_only=True):
    default: Annotated[
        WholePath,
        UserOnly(),
        "The folder of your notes, used outside of vaults unless `--vault` is given. `zkchat setup` sets it.",
    ] = ""
    exclude: Annotated[
        Globs, Harmless(), "Files and folders to leave out, as globs: `Archive/**`, `*.excalidraw.md`."
    ] = ()
    max_note_bytes: Annotated[
        int, Meta(ge=1), "Notes larger than this are found by name only, and a notice says so."
    ] = 5_000_000
    pdf: Annotated[bool, "Whether PDFs are read, searched and cited; this needs the extra `zkchat[pdf]`."] = True
    max_pdf_bytes: Annotated[int, Meta(ge=1), "PDFs larger than this are found by name only, and a notice says so."] = (
        100_000_000
    )
    max_pdf_pages: Annotated[
        int, Meta(ge=1, le=100_000), "Maximum pages read of a PDF; a notice says if there are more."
    ] = 2_000
    max_pdf_seconds: Annotated[
        int, Meta(ge=1, le=3_600), "Seconds that reading one PDF may take; after that it is skipped."
    ] = 60


class Limits(Struct, frozen=True, kw_only=True):
    max_input_bytes: Annotated[
        int, Meta(ge=1), "Maximum bytes that `zkchat ask` reads from a pipe; more is refused."
    ] = 8_000_000
    max_answer_chars: Annotated[
        int, Meta(ge=1), "Maximum characters of an answer, thinking included. A longer one is cut off there."
    ] = 1_000_000
    max_answer_seconds: Annotated[int, Meta(ge=1), "Maximum seconds for an answer; what arrived is kept."] = 3_600


class Storage(Struct, frozen=True, kw_only=True):
    location: Annotated[
        Literal["user", "vault"],
        "Where the databases live: in your data and cache folders, or in `.zkchat/` inside the vault.",
    ] = "user"


class Context(Struct, frozen=True, kw_only=True):
    max_tokens: Annotated[
        ContextWindow | None,
        "Size of the context window in tokens. Unset: the model's limit (at most 32768 on this machine, "
        "unless `context_limit` is set), or 8192 if unknown.",
    ] = None
    reserve_tokens: Annotated[int, Meta(ge=1), "Tokens of the window that are kept free for the answer."] = 512
    system_share: Annotated[Share, "Share of the window for instructions and rules."] = 0.10
    tools_share: Annotated[Share, "Share of the window for the descriptions of tools."] = 0.30
    messages_share: Annotated[Share, "Share of the window for messages and their notes."] = 0.60
    memory_share: Annotated[
        float,
        Meta(ge=0, lt=1),
        "Share of the window for memory, taken from the share for messages. 0: memory is not sent.",
    ] = 0.20
    threshold: Annotated[
        float, Meta(gt=0, le=1), "How full the window may get before older messages are summarised."
    ] = 0.85
    auto_compact: Annotated[bool, "Summarise older messages when the window is full. Off: the question is refused."] = (
        True
    )
    confirm_compaction: Annotated[
        bool, "Ask before older messages are summarised. In a script, where nobody answers, none are."
    ] = False
    review_summary: Annotated[bool, "Open each summary in your editor before it is used."] = False
    strategy: Annotated[
        CompactionStrategy,
        "What happens to older messages: summarised, left out, or kept by their importance. "
        "In any case they stay in the session.",
    ] = "summarize"
    summary_detail: Annotated[
        SummaryDetail, "How detailed summaries are; a brief one takes a quarter of the space."
    ] = "normal"
    keep_recent: Annotated[int, Meta(ge=1), "How many of the newest messages stay word for word."] = 6
    keep_min: Annotated[int, Meta(ge=1), "How many of the newest messages stay even if there is little room."] = 2
    recall: Annotated[bool, "Send older messages again when they are relevant to the question."] = True
    items_limit: Annotated[
        int,
        Meta(ge=0),
        "Maximum rules, notes and tools (each) that are added because they fit a message (mode `agent`).",
    ] = 5
    items_minimum: Annotated[
        float, Meta(ge=0, le=1), "How well something must fit a message (0 to 1) to be added (mode `agent`)."
    ] = 0.45

    def __post_init__(self) -> None:
        """Raises ValueError where they do not fit together."""
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


class Memory(Struct, frozen=True, kw_only=True):
    enabled: Annotated[
        bool,
        "Whether conversations use memory: `ZKCHAT.md`, facts, and the tools to search them. Off: none of it is "
        "sent, and nothing is proposed or kept.",
    ] = True
    learn: Annotated[
        Literal["ask", "off"],
        "Whether a chat at a terminal proposes, when it ends or is compacted, to remember what you said about "
        "yourself. You are asked about each fact.",
    ] = "ask"


class Privacy(Struct, frozen=True, kw_only=True):
    local_only: Annotated[
        Globs,
        Accumulates(),
        Harmless(),
        "Folders, or globs such as `**/Private`, whose notes are sent only to models on this machine. A vault's "
        "own settings can add folders, but not remove any.",
    ] = ()


class References(Struct, frozen=True, kw_only=True):
    model_summaries: Annotated[
        Literal["local", "always", "never"],
        "Has no effect: models no longer describe documents while you type. Remove this setting.",
    ] = "local"
    look_again: Annotated[
        bool,
        "When a model with tools answers without reading your notes, send it what they say and ask again.",
    ] = True
    check_answers: Annotated[
        bool,
        "When a small model, or any model with `--strict`, contradicts a passage it was given, show that passage "
        "instead of the answer.",
    ] = True


class Write(Struct, frozen=True, kw_only=True):
    enabled: Annotated[
        bool, "Whether a model may propose changes to notes. For one chat only: `--write` or `/write on`."
    ] = False
    mode: Annotated[
        WriteMode,
        "What becomes of a model's proposals. `ask`: you see each as a diff and say yes or no. `propose`: "
        "you only see it.",
    ] = "ask"
    accept: Annotated[
        Globs,
        "Folders, as globs, in which proposals are applied without a question: `Inbox`, `Journal/**`. "
        "You are still asked about private notes if the model runs elsewhere.",
    ] = ()
    git_commit: Annotated[
        bool, "Whether each change to notes is committed to git, if the vault is in a repository."
    ] = False


class Goals(Struct, frozen=True, kw_only=True):
    steps: Annotated[int, Meta(ge=1, le=100), "Maximum steps in the plan of a goal."] = DEFAULT_GOAL_STEPS
    tokens: Annotated[int, Meta(ge=1_000), "Maximum tokens of a goal run, all its requests and answers together."] = (
        DEFAULT_GOAL_TOKENS
    )
    minutes: Annotated[int, Meta(ge=1), "Maximum minutes of a goal run."] = DEFAULT_GOAL_MINUTES


class UserInterface(Struct, frozen=True, kw_only=True):
    color: Annotated[
        Literal["auto", "always", "never"],
        Harmless(),
        "When to use colour. `auto`: on a terminal, unless `NO_COLOR` is set.",
    ] = "auto"
    theme: Annotated[
        str,
        Validated(parse_theme),
        Expects('"dark", "light" or "none", and your own colours after it, such as "light link=#0055cc"'),
        "`dark`, `light` or `none`; your own colours may follow: `light link=#0055cc` (or `bright_blue`). "
        f"Parts to colour: {', '.join(f'`{role}`' for role in THEMES['dark'])}.",
    ] = "dark"
    panel: Annotated[
        PanelView,
        Harmless(),
        "What is shown below an answer. `brief`: a line for each document cited or linked, and how full "
        "the context is when that has changed. `footnotes`: what each document says, with its number. `full`: all "
        "documents with what they say, and the whole context bar. `off`: nothing.",
    ] = "brief"
    width: Annotated[
        int, Harmless(), Meta(ge=40), "Longest line of a text, in columns. Tables use the whole terminal."
    ] = 100
    references_shown: Annotated[
        int, Harmless(), Meta(ge=1), "Maximum documents shown below an answer; the rest are counted."
    ] = 10
    suggest: Annotated[
        bool, Harmless(), "Whether to name, below an answer, up to three notes that were found but not used."
    ] = False
    thinking: Annotated[
        ThinkingView,
        Harmless(),
        "What is shown of a model's thinking: its last lines while it thinks, all of it, or nothing.",
    ] = "folded"
    bell: Annotated[
        int,
        Meta(ge=0),
        "The terminal's bell rings when an answer or a goal took this many seconds or more. 0: never.",
    ] = 30
    keys: Annotated[Literal["emacs", "vi"], Harmless(), "The keys that edit what you type in a chat."] = "emacs"
    open_with: Annotated[
        OpenWith,
        "What `/open` uses: `editor` is `$VISUAL` or `$EDITOR`, `desktop` your system's program for the "
        "file. `auto`: Obsidian in its vaults, else the desktop, or the editor if there is no desktop.",
    ] = "auto"

    @property
    def colors(self) -> ColorChoice:
        return ColorChoice(when=self.color, theme=self.theme)


class CalendarSettings(Struct, frozen=True, kw_only=True):
    first_day_of_week: Annotated[
        Weekday, Harmless(), "The day on which `this week` begins. Numbered weeks (`2026-W10`) begin on Monday."
    ] = "monday"
    time_zone: Annotated[
        TimeZoneName, Harmless(), "The time zone in which a day begins, for words such as `today`. Empty: the system's."
    ] = ""


class Images(Struct, frozen=True, kw_only=True):
    max_count: Annotated[
        int,
        Meta(ge=0, le=50),
        "Maximum images sent with one message, to a model that sees images. 0: none, only their names.",
    ] = 8
    detail: Annotated[
        ImageDetail,
        "How closely a model looks at an image. `low`: it is reduced to 512 pixels on its longer side, to save tokens.",
    ] = "high"


_LOCAL_SERVER: Final = (
    "Set `false` if the server only passes requests on to another machine (LiteLLM, a tunnel): it then gets no "
    "private notes."
)


class Ollama(Struct, frozen=True, kw_only=True):
    host: Annotated[HttpAddress, "Address of the Ollama server."] = "http://127.0.0.1:11434"
    local: Annotated[bool, _LOCAL_SERVER] = True


class OpenAI(Struct, frozen=True, kw_only=True):
    base_url: Annotated[
        OptionalHttpAddress, "Address of a server that speaks OpenAI's protocol. Empty: OpenAI itself."
    ] = ""
    api_key_env: Annotated[
        VariableName, "Name of the environment variable that holds the key. Keys are never kept in a settings file."
    ] = "OPENAI_API_KEY"
    local: Annotated[bool, _LOCAL_SERVER] = True


class Anthropic(Struct, frozen=True, kw_only=True):
    base_url: Annotated[
        OptionalHttpAddress, "Address of a server that speaks Anthropic's protocol. Empty: Anthropic itself."
    ] = ""
    api_key_env: Annotated[VariableName, "Name of the variable that holds the key."] = "ANTHROPIC_API_KEY"
    local: Annotated[
        bool,
        "Set `true` if a server on this machine runs the model itself: it then gets private notes too.",
    ] = False


class Embeddings(Struct, frozen=True, kw_only=True):
    model: Annotated[
        str,
        Meta(pattern=r"\A((local|ollama|openai):.+)?\Z"),
        Expects('"local:NAME", "ollama:NAME" or "openai:NAME", such as ollama:nomic-embed-text, or empty'),
        "The model for the search by meaning: `local:all-minilm-l6-v2`, `ollama:nomic-embed-text`, "
        "`openai:text-embedding-3-small`. Your notes are sent to its server, private ones only if it is on this "
        "machine. Empty: the small one that comes with zkchat.",
    ] = ""
    base_url: Annotated[
        OptionalHttpAddress,
        "Address of the server of `embeddings.model`. Empty: the one in `ollama.host` or `openai.base_url`.",
    ] = ""
    api_key_env: Annotated[
        OptionalVariableName,
        "Name of the environment variable that holds the key for `embeddings.base_url`. Empty: "
        "the one in `openai.api_key_env`, for OpenAI and `openai.base_url`; no key for other servers.",
    ] = ""
    dimensions: Annotated[
        Annotated[int, Meta(ge=16, le=16_384)] | None,
        "Length of the vectors, for embedding models that offer several. Unset: the usual one.",
    ] = None
    query_prefix: Annotated[
        str | None, "Words that the embedding model needs before each search (`query:`). Unset: its usual ones."
    ] = None
    document_prefix: Annotated[
        str | None, "Words that the embedding model needs before each passage (`passage:`). Unset: its usual ones."
    ] = None
    batch_size: Annotated[int, Meta(ge=1, le=2_048), "Passages that are sent at once."] = 32
    timeout: Annotated[float, Meta(gt=0, le=3_600), "Seconds to wait for the embedding server."] = 60.0
    query_timeout: Annotated[
        float,
        Meta(gt=0, le=3),
        "Seconds that a search waits for the embedding model before it uses the one that comes with zkchat.",
    ] = 1.0
    options: Annotated[dict[str, object], "Extra options, sent to the server as they are: `{ num_ctx = 2048 }`."] = {}
    local: Annotated[
        bool,
        "Set `false` if the server only passes requests on to another machine: it then gets no private notes.",
    ] = True


class Model(Struct, frozen=True, kw_only=True):
    provider: Annotated[ProviderName, "The program or service that runs the model."]
    id: Annotated[
        str,
        Meta(min_length=1),
        Expects("the model's name at the provider"),
        "The model's name at the provider, such as `qwen3:8b`; for `local` a name or a file.",
    ]
    base_url: Annotated[
        OptionalHttpAddress,
        "Address of its own server. Empty: the provider's.",
    ] = ""
    api_key_env: Annotated[
        OptionalVariableName,
        UserOnly(),
        "Environment variable that holds its key. Empty: the provider's usual one, but only for the provider's server.",
    ] = ""
    headers: Annotated[
        Headers, UserOnly(), 'HTTP headers for its server, secrets from variables: `{ api-key = "${MY_KEY}" }`.'
    ] = {}
    connect_timeout: Annotated[Seconds | None, "Seconds to wait for a connection. Unset: 5."] = None
    timeout: Annotated[Seconds | None, "Seconds to wait for its answer to begin. Unset: 120."] = None
    chunk_timeout: Annotated[Seconds | None, "Seconds to wait when its answer pauses. Unset: 60."] = None
    strategy: Annotated[
        CompactionStrategy | None,
        "`context.strategy` for this model, unless a variable or an agent sets it.",
    ] = None
    context_limit: Annotated[
        ContextWindow | None,
        "Its context window in tokens, used whole unless `context.max_tokens` is less. Unset: what the provider says.",
    ] = None
    temperature: Annotated[
        Annotated[float, Meta(ge=0, le=2)] | None,
        "How freely it chooses its words. Unset: the provider's default, 0 for a small model.",
    ] = None
    calls_tools: Annotated[
        bool | None, "Whether the model may search by itself; otherwise zkchat searches. Unset: what the provider says."
    ] = None
    sees_images: Annotated[
        bool | None,
        "Whether images are sent to it; otherwise only their names. Unset: what the provider says, or what "
        "zkchat knows about OpenAI's own models.",
    ] = None
    price_input: Annotated[
        Price | None,
        "Price of a million tokens sent, in dollars; the cost of each answer is then shown. Unset: what the "
        "server says.",
    ] = None
    price_cached: Annotated[
        Price | None, "Price of a million tokens from the server's cache. Unset: as `price_input`."
    ] = None
    price_output: Annotated[Price | None, "What a million tokens of its answers cost, in dollars."] = None
    options: Annotated[dict[str, object], "Extra options, sent to the server as they are: `{ top_p = 0.9 }`."] = {}
    local: Annotated[
        bool, "Set `false` if its server only passes requests on to another machine: it then gets no private notes."
    ] = True


class Debug(Struct, frozen=True, kw_only=True):
    log: Annotated[
        bool | str,
        Validated(lambda path: isinstance(path, bool) or _validate_whole_path(path)),
        Expects("true, false, or the full path of a file"),
        UserOnly(),
        "Whether and where to log requests, replies, decisions and times: without keys, but with the notes sent.",
    ] = False


class Mcp(Struct, frozen=True, kw_only=True):
    allow: Annotated[
        Globs,
        UserOnly(),
        "Tools of your MCP servers that models may call without asking you, even if nobody can be asked: "
        "`server/tool`, or `server` for all of its tools.",
    ] = ()
    connect_seconds: Annotated[float, Meta(gt=0, le=600), "Seconds to wait for an MCP server to connect."] = 10.0
