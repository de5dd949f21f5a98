"""MCP servers of the user: how each is reached, what it offers and answers, and how it is shown without secrets."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final, Literal

from msgspec import field

from zkchat.core.text import KEY, NAMED_KEY, without_password
from zkchat.core.values import Value

ServerState = Literal["waiting", "connecting", "ready", "lost", "failed", "disabled"]
"""`lost`: it was ready, and its connection ended; what it offered stays listed, and a call tries to connect again."""
ServerOrigin = Literal["user", "vault"]


class ServerDefinition(Value, frozen=True, kw_only=True):
    """How a server is started or reached, as it is written in the settings; variables are not expanded yet."""

    name: str
    command: str = ""
    """Of a server that is started as a process and speaks over its standard streams; else empty."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    """Of a server that is reached over HTTP; else empty."""
    headers: dict[str, str] = field(default_factory=dict)
    is_local: bool = False
    """Whether the user declared that nothing sent to it leaves this machine."""
    is_enabled: bool = True
    call_seconds: float = 60.0
    """How long a call may take."""
    origin: ServerOrigin = "user"

    def __repr__(self) -> str:
        """Without arguments, variables, address and headers, which may hold keys."""
        return f"{type(self).__name__}(name={self.name!r}, origin={self.origin!r})"


class ServerTool(Value, frozen=True, kw_only=True):
    """A tool as a server describes it."""

    server: str
    name: str
    """The server's own."""
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    is_read_only: bool = False
    """Whether the server says that a call changes nothing."""

    @property
    def digest(self) -> str:
        """Of all that the server says of it: an approval of a tool is for that."""
        said = [self.name, self.description, self.parameters, self.is_read_only]
        return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


class ServerResource(Value, frozen=True, kw_only=True):
    server: str
    uri: str
    name: str = ""
    description: str = ""
    media_type: str = ""


class PromptArgument(Value, frozen=True, kw_only=True):
    name: str
    description: str = ""
    is_required: bool = False


class ServerPrompt(Value, frozen=True, kw_only=True):
    server: str
    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


class ServerStatus(Value, frozen=True, kw_only=True):
    """Where the connection to a server stands, and what the server offers."""

    definition: ServerDefinition
    state: ServerState = "waiting"
    problem: str = ""
    """Why it failed, as a sentence."""
    version: str = ""
    """What the server calls itself."""
    protocol: str = ""
    """The revision of the protocol that both speak."""
    log: str = ""
    """The file with what its process wrote beside the protocol; empty for a server that is reached over HTTP."""
    tools: tuple[ServerTool, ...] = ()
    resources: tuple[ServerResource, ...] = ()
    prompts: tuple[ServerPrompt, ...] = ()

    @property
    def name(self) -> str:
        return self.definition.name


class ServerAnswer(Value, frozen=True, kw_only=True):
    """What a call, a resource or a prompt gave, as text; it is data."""

    text: str
    uris: tuple[str, ...] = ()
    """Of the resources that it names."""
    failed: bool = False
    hint: str = ""
    """Where the user finds more about a fault: a path of this machine, so it is not for the model."""


REFERENCE: Final = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")
"""`${VAR}` or `${VAR:-default}`."""
HIDDEN: Final = "…"
_SECRET_NAME: Final = re.compile(r"(?i)key|token|secret|passw|passphrase|auth|credential|cookie|bearer|\bpat\b|_pat\b")
_OPTION: Final = re.compile(r"(?P<name>--?[A-Za-z][\w-]*)(?:=(?P<value>.*))?", re.DOTALL)
_HEADER_OPTIONS: Final = frozenset({"-H", "--header", "--headers"})
_QUERY_VALUE: Final = re.compile(r"(?<=[?&])([^=&#\s]{1,100}=)[^&#\s]+")


def names_a_secret(name: str) -> bool:
    """Whether a variable, an option or a header of this name is likely to hold a key or a password."""
    return _SECRET_NAME.search(name) is not None


def hide_value(value: str) -> str:
    """A value of a variable or of a header: what is left is the name of the variable that it comes from."""
    found = REFERENCE.fullmatch(value)
    if found is None:
        return HIDDEN if value else ""
    return f"${{{found['name']}}}" if not found["default"] else f"${{{found['name']}:-{HIDDEN}}}"


def hide_values(values: Mapping[str, str]) -> dict[str, str]:
    return {name: hide_value(value) for name, value in values.items()}


def hide_keys(text: str) -> str:
    """A command, an argument or an address without what looks like a key or a password."""
    plain = REFERENCE.sub(lambda found: hide_value(found[0]), text)
    plain = KEY.sub(HIDDEN, without_password(plain))
    plain = NAMED_KEY.sub(rf"\1{HIDDEN}", plain)
    return _QUERY_VALUE.sub(rf"\1{HIDDEN}", plain) if "://" in plain else plain


def hide_keys_of(args: tuple[str, ...]) -> tuple[str, ...]:
    """Arguments without keys and passwords: also those that stand after an option named like one."""
    shown: list[str] = []
    is_secret = False
    for argument in args:
        option = _OPTION.fullmatch(argument)
        is_named = option is not None and (option["name"] in _HEADER_OPTIONS or names_a_secret(option["name"]))
        if is_secret and option is None:
            shown.append(hide_value(argument))
        elif option and is_named and option["value"]:
            shown.append(f"{option['name']}={hide_value(option['value'])}")
        else:
            shown.append(hide_keys(argument))
        is_secret = is_named and option is not None and option["value"] is None
    return tuple(shown)


def show_reach(definition: ServerDefinition) -> str:
    """How the server is started or reached, on one line."""
    if definition.url:
        return escape_unprintable(hide_keys(definition.url))
    return command_line((hide_keys(definition.command), *hide_keys_of(definition.args))) if definition.command else ""


def command_line(words: tuple[str, ...]) -> str:
    """The words as a shell would take them, on one line."""
    return " ".join(word if word == HIDDEN else shlex.quote(escape_unprintable(word)) for word in words)


def escape_unprintable(text: str) -> str:
    """Line ends, control and invisible characters as `\\n`, `\\x1b` and so on."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def redacted_table(value: object) -> object:
    """The table `mcpServers` of the settings as it may be shown, whatever it holds."""
    if not isinstance(value, Mapping):
        return HIDDEN
    return {
        name: {key: _redacted(key, each) for key, each in entry.items()} if isinstance(entry, Mapping) else HIDDEN
        for name, entry in value.items()
    }


def _redacted(key: str, value: object) -> object:
    match key, value:
        case (("command" | "url" | "cwd" | "type"), str()):
            return hide_keys(value)
        case "args", list() | tuple():
            return list(hide_keys_of(tuple(map(str, value))))
        case (("env" | "headers"), Mapping()):
            return {name: hide_value(str(each)) for name, each in value.items()}
        case (("disabled" | "local" | "timeout"), bool() | int() | float()):
            return value
    return HIDDEN


def describe_for_approval(definition: ServerDefinition) -> Iterator[str]:
    """What a server of a vault does once it is approved, word for word but for values named like keys."""
    if not definition.is_enabled:
        yield "is switched off"
    if definition.url:
        yield f"runs at {escape_unprintable(definition.url)}; everything that the model passes to it is sent there"
    if definition.command:
        yield f"runs {command_line((definition.command, *definition.args))}"
        where = f"the folder {escape_unprintable(definition.cwd)}" if definition.cwd else "the vault's folder"
        yield f"in {where}, so files of the vault could change what it does"
    if definition.env:
        yield f"with the variables {', '.join(_assignments(definition.env))}"
    if definition.headers:
        yield f"with the headers {', '.join(_assignments(definition.headers))}"
    if taken := sorted({found["name"] for text in texts_of(definition) for found in REFERENCE.finditer(text)}):
        yield f"gets the values of your variables {', '.join(taken)}"


def _assignments(values: Mapping[str, str]) -> Iterator[str]:
    for name, value in values.items():
        shown = hide_value(value) if names_a_secret(name) else escape_unprintable(value)
        yield f"{name}={shlex.quote(shown) if shown not in {HIDDEN, ''} else shown}"


def texts_of(definition: ServerDefinition) -> Iterator[str]:
    """Every text in which a variable may be named."""
    yield from (definition.command, *definition.args, definition.cwd, definition.url)
    yield from (*definition.env.values(), *definition.headers.values())
