"""Definitions of MCP servers: from settings and JSON files, with their variables expanded. None is started here."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain, count
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from zkchat.config.files import BYTE_ORDER_MARK, read_file
from zkchat.config.sections import validate_http_url
from zkchat.core import (
    REFERENCE,
    ConfigError,
    ServerDefinition,
    ServerOrigin,
    VaultItem,
    resolve_link,
    texts_of,
    vault_item,
    write_atomically,
)

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class ExpansionError(ConfigError):
    """A server that cannot be started or reached as it is defined; the message holds no value of a variable."""


class MissingVariable(ExpansionError):
    """A variable without a default is not set."""


def expand(definition: ServerDefinition, variables: Mapping[str, str], folder: Path, home: Path) -> ServerDefinition:
    """The definition with the values of variables, and with a whole path as its folder; that is `folder` by default.

    An empty variable counts as not set. Raises `ExpansionError`.
    """
    used = [found for text in texts_of(definition) for found in REFERENCE.finditer(text)]
    missing = sorted({each["name"] for each in used if each["default"] is None and not variables.get(each["name"])})
    if missing:
        raise MissingVariable(
            f"The server '{definition.name}' needs the variable{'s' * (len(missing) > 1)} {', '.join(missing)}, "
            f"which {'are' if len(missing) > 1 else 'is'} not set."
        )

    def value(text: str) -> str:
        return REFERENCE.sub(lambda found: variables.get(found["name"]) or found["default"] or "", text)

    cwd = folder / _at_home(value(definition.cwd), home)
    command = _at_home(value(definition.command), home)
    expanded = replace(
        definition,
        command=str(cwd / command) if "/" in command and definition.command else command,
        args=tuple(map(value, definition.args)),
        env={name: value(text) for name, text in definition.env.items()},
        cwd=str(cwd),
        url=value(definition.url),
        headers={name: value(text) for name, text in definition.headers.items()},
    )
    _expansion_check(expanded, definition)
    return expanded


def check_constants(definition: ServerDefinition) -> None:
    """Raises `ExpansionError` where a url or a header that names no variable can never be used."""
    headers = {name: text for name, text in definition.headers.items() if not REFERENCE.search(text)}
    url = "" if REFERENCE.search(definition.url) else definition.url
    constant = replace(definition, url=url, headers=headers)
    _expansion_check(constant, constant)


def _at_home(path: str, home: Path) -> str:
    return str(home / path[2:]) if path.startswith("~/") else path


def _expansion_check(expanded: ServerDefinition, definition: ServerDefinition) -> None:
    for name, text in expanded.headers.items():
        if _CONTROL.search(text) or not text.isascii():
            raise ExpansionError(f"The header '{name}' of the server '{expanded.name}' has an invalid character.")
    if definition.command and not expanded.command:
        raise ExpansionError(f"The command of the server '{expanded.name}' is empty.")
    try:
        if definition.url:
            validate_http_url(expanded.url.replace("?", "/").replace("#", "/"))
    except ValueError:
        raise ExpansionError(
            f"The url of the server '{expanded.name}' is not an address that begins with http:// or https://."
        ) from None


MAX_SERVERS: Final = 50
"""In one table."""
MAX_TEXT: Final = 4_000
"""Characters of a command with its arguments, of all variables, and of all headers: what is approved is shown whole."""
MAX_CALL_SECONDS: Final = 3_600.0
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_KEYS: Final = ("command", "args", "env", "cwd", "url", "type", "headers", "disabled", "local", "timeout")
_HTTP_TYPES: Final = frozenset({"http", "streamable-http", "streamable_http", "streamablehttp"})
NAME_RULE: Final = "A name has up to 64 letters, digits, - _ and . and begins with a letter, a digit or _."


class ServerProblem(Struct, frozen=True):
    name: str
    sentence: str


class ParsedServers(Struct, frozen=True):
    definitions: tuple[ServerDefinition, ...] = ()
    problems: tuple[ServerProblem, ...] = ()
    warnings: tuple[str, ...] = ()


class _Unusable(ValueError):
    """What is wrong with a definition, as the rest of a sentence that begins with the server."""


def parse_servers(table: Mapping[str, object], origin: ServerOrigin) -> ParsedServers:
    """Every definition of the table that can be used, and what is wrong with the others.

    One that comes with a vault never says of itself that it is local.
    """
    definitions: list[ServerDefinition] = []
    problems: list[ServerProblem] = []
    warnings: list[str] = []
    for number, (name, entry) in enumerate(table.items()):
        try:
            if number >= MAX_SERVERS:
                raise _Unusable(f"is one too many: at most {MAX_SERVERS} are read")
            definitions.append(parse_server(name, entry, origin))
        except ValueError as error:
            problems.append(ServerProblem(name[:80], f"The server '{name[:80]}' {error}."))
            continue
        assert isinstance(entry, Mapping)
        for key in [each for each in entry if each not in _KEYS]:  # those of other programs are passed over
            if close := get_close_matches(key, [each for each in _KEYS if each not in entry], n=1):
                misspelled = f"The server '{name}' has a key '{key[:40]}', which zkchat does not know."
                warnings.append(f"{misspelled} Did you mean '{close[0]}'?")
    return ParsedServers(tuple(definitions), tuple(problems), tuple(warnings))


def parse_server(name: str, entry: object, origin: ServerOrigin) -> ServerDefinition:
    """Raises `ValueError` with the rest of a sentence that begins with the server's name."""
    if not _NAME.fullmatch(name):
        raise _Unusable(f"has a name that cannot be used: {NAME_RULE[0].lower()}{NAME_RULE[1:-1]}")
    if not isinstance(entry, Mapping):
        raise _Unusable("needs a command or a url")
    table = {str(key): value for key, value in entry.items() if value is not None}
    args = table.get("args", [])
    if not isinstance(args, list | tuple):
        raise _Unusable("has 'args' that are not a list of texts")
    definition = ServerDefinition(
        name=name,
        command=_text(table, "command"),
        args=tuple(_checked_text("args", each) for each in args),
        env=_named_texts(table, "env", _VARIABLE_NAME),
        cwd=_text(table, "cwd"),
        url=_text(table, "url"),
        headers=_named_texts(table, "headers", _HEADER_NAME),
        is_local=_flag(table, "local") and origin == "user",
        is_enabled=not _flag(table, "disabled"),
        call_seconds=_seconds(table),
        origin=origin,
    )
    _check(definition, _text(table, "type"))
    return definition


def server_table(definition: ServerDefinition) -> dict[str, object]:
    """A definition as it is written into the settings: `parse_server` reads it back."""
    default = ServerDefinition(name=definition.name)
    table: dict[str, object] = {
        "command": definition.command,
        "args": list(definition.args),
        "env": dict(definition.env),
        "cwd": definition.cwd,
        "url": definition.url,
        "headers": dict(definition.headers),
        "local": definition.is_local,
        "disabled": not definition.is_enabled,
    }
    if definition.call_seconds != default.call_seconds:
        table["timeout"] = definition.call_seconds * (1 if definition.call_seconds < 1000 else 1000)
    return {key: value for key, value in table.items() if value}


def _check(definition: ServerDefinition, kind: str) -> None:
    if definition.command and definition.url:
        raise _Unusable("has both a command and a url: remove one of them")
    if not (definition.command or definition.url) and definition.is_enabled:
        raise _Unusable("has neither a command nor a url")
    if kind.lower() == "sse":
        raise _Unusable("uses HTTP+SSE, which MCP no longer supports: ask its maker for a 'streamable HTTP' address")
    if kind and kind.lower() not in (_HTTP_TYPES if definition.url else {"stdio"}):
        reached_by = "url" if definition.url else "command"
        raise _Unusable(f"has the type '{kind[:40]}', which does not fit its {reached_by}")
    for what, texts in (
        ("command and arguments", (definition.command, *definition.args)),
        ("env", (*definition.env, *definition.env.values())),
        ("headers", (*definition.headers, *definition.headers.values())),
        ("url", (definition.url, definition.cwd)),
    ):
        if sum(map(len, texts)) > MAX_TEXT:
            raise _Unusable(f"has more than {MAX_TEXT:,} characters in its {what}")


def _text(table: Mapping[str, object], key: str) -> str:
    return _checked_text(key, table.get(key, ""))


def _checked_text(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise _Unusable(f"has a value in '{where}' that is not text")
    if "\0" in value or value != value.encode(errors="replace").decode():
        raise _Unusable(f"has a value in '{where}' with an invalid character")
    return value


def _named_texts(table: Mapping[str, object], key: str, names: re.Pattern[str]) -> dict[str, str]:
    value = table.get(key, {})
    if not isinstance(value, Mapping):
        raise _Unusable(f"has a '{key}' that is not a table of names and texts")
    for name in value:
        if not isinstance(name, str) or not names.fullmatch(name):
            raise _Unusable(f"has an invalid name in '{key}'")
    return {name: _checked_text(f"{key}.{name}", each) for name, each in value.items()}


def _flag(table: Mapping[str, object], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise _Unusable(f"has a '{key}' that is neither true nor false")
    return value


def _seconds(table: Mapping[str, object]) -> float:
    """A number of 1000 or more is in milliseconds, as other programs write it."""
    value = table.get("timeout", ServerDefinition(name="").call_seconds)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Unusable("has a 'timeout' that is not a number")
    if not 0 < value <= MAX_CALL_SECONDS * 1000:
        raise _Unusable(f"has a 'timeout' that is not between 0 and {MAX_CALL_SECONDS:,.0f} seconds")
    return float(value if value < 1000 else value / 1000)


NAME: Final = ".mcp.json"
"""At the top of a vault."""
TABLE: Final = "mcpServers"
MAX_HOST_BYTES: Final = 32_000_000
"""Some programs keep much else in the file."""
_COMMENT_OR_TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_TEXT_OR_LAST_COMMA: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|,(?=\s*[\]}])', re.DOTALL)


def read_vault_servers(vault: Path) -> ParsedServers:
    """What the file of a vault defines, approved or not; nothing where there is none. Raises `ConfigError`."""
    file = vault / NAME
    text = read_file(file, beneath=vault)
    if text is None:
        return ParsedServers()
    table = parse_object(file, text).get(TABLE, {})
    if not isinstance(table, Mapping):
        raise _unusable(file, f"has a '{TABLE}' that is not a JSON object")
    return parse_servers(table, "vault")


def server_item(definition: ServerDefinition) -> VaultItem:
    """What the user approves of a vault's server: all that counts of its definition."""
    return vault_item("server", definition.name, json.dumps(server_table(definition), sort_keys=True))


def server_of(item: VaultItem) -> ServerDefinition:
    return parse_server(item.name, json.loads(item.content), "vault")


def parse_object(file: Path, text: str, *, has_comments: bool = False) -> dict[str, object]:
    """The JSON object that a file holds. Raises `ConfigError`."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    try:
        value = json.loads(without_comments(text) if has_comments else text, object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as error:
        raise _unusable(file, f"is broken at line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise _unusable(file, "is nested too deeply") from None
    except ValueError as error:
        raise _unusable(file, f"cannot be used: {error}") from None
    if not isinstance(value, dict):
        raise _unusable(file, "is not a JSON object")
    return value


def without_comments(text: str) -> str:
    """JSON as some editors write it, as plain JSON."""
    plain = _COMMENT_OR_TEXT.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    return _TEXT_OR_LAST_COMMA.sub(lambda found: found[0] if found[0].startswith('"') else "", plain)


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object. Raises `ValueError` where a name is there twice: programs differ in which of them they take."""
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"'{twice[:80]}' is there twice")
    return found


def _unusable(file: Path, what: str) -> ConfigError:
    return ConfigError(f"{file} {what}.", hint="Correct it, or move it away.")


class Host(Struct, frozen=True):
    """A program that uses MCP servers, and the places of its file: below the home folder or the one of its settings."""

    name: str
    title: str
    in_home: tuple[str, ...] = ()
    in_settings: tuple[str, ...] = ()
    """Below `~/.config`, `~/Library/Application Support` or `%APPDATA%`."""
    table: str = "mcpServers"
    """Where in its file its servers are."""
    says_type: bool = False
    """Whether an entry says that it is started and spoken to by stdio."""


HOSTS: Final[Sequence[Host]] = (
    Host("claude-desktop", "Claude Desktop", in_settings=("Claude/claude_desktop_config.json",)),
    Host("claude-code", "Claude Code", in_home=(".claude.json",), says_type=True),
    Host("cursor", "Cursor", in_home=(".cursor/mcp.json",)),
    Host(
        "vscode",
        "VS Code",
        in_settings=("Code/User/mcp.json", "Code - Insiders/User/mcp.json"),
        table="servers",
        says_type=True,
    ),
    Host("zed", "Zed", in_settings=("zed/settings.json", "Zed/settings.json"), table="context_servers"),
    Host("windsurf", "Windsurf", in_home=(".codeium/windsurf/mcp_config.json",)),
    Host("gemini", "Gemini CLI", in_home=(".gemini/settings.json",)),
    Host("codex", "Codex", in_home=(".codex/config.toml",), table="mcp_servers"),
    Host("lm-studio", "LM Studio", in_home=(".lmstudio/mcp.json",)),
)


def host_places(host: Host, home: Path, variables: Mapping[str, str]) -> Iterator[Path]:
    """The usual places on each system, whether a file is there or not."""
    yield from (home / path for path in host.in_home)
    config = Path(variables.get("XDG_CONFIG_HOME", ""))
    folders = [config if config.is_absolute() else home / ".config", home / "Library" / "Application Support"]
    if Path(variables.get("APPDATA", "")).is_absolute():
        folders.append(Path(variables["APPDATA"]))
    yield from (folder / path for folder in folders for path in host.in_settings)


_FIRST_INDENT: Final = re.compile(r'^([ \t]+)"', re.MULTILINE)

EntryState = Literal["new", "same", "other", "commented", "foreign", "absent"]
"""Whether an entry of that name is in the file; `commented`: it has comments, which would be lost; `foreign`: it is no
JSON; `absent`: the program keeps no settings here."""


class HostEntry(Struct, frozen=True, kw_only=True):
    """A server as a program describes it, and the file where it belongs."""

    host: Host
    name: str
    command: Sequence[str]
    file: Path
    state: EntryState

    @property
    def value(self) -> dict[str, object]:
        program, *arguments = self.command
        kind = {"type": "stdio"} if self.host.says_type else {}
        return {**kind, "command": program, "args": arguments}

    @property
    def text(self) -> str:
        """As it stands in the file, within its table."""
        if self.file.suffix == ".toml":
            pairs = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in self.value.items()]
            return "\n".join([f"[{self.host.table}.{json.dumps(self.name, ensure_ascii=False)}]", *pairs])
        return json.dumps({self.host.table: {self.name: self.value}}, indent=2, ensure_ascii=False)

    @property
    def is_writable(self) -> bool:
        return self.state in {"new", "other"}


def find_entry(host: Host, name: str, command: Sequence[str], home: Path, variables: Mapping[str, str]) -> HostEntry:
    """Where an entry belongs, and what is there. Raises `ConfigError` for a file that cannot be used."""
    places = [*host_places(host, home, variables)]
    file = next((place for place in places if place.exists()), None)
    state: EntryState = "new"
    if file is None:
        file = next((place for place in places if place.parent != home and place.parent.is_dir()), None)
        state = "new" if file else "absent"
    file = file or places[0]
    entry = HostEntry(host=host, name=name, command=command, file=file, state=state)
    if file.suffix == ".toml":
        return replace(entry, state="foreign")
    if state == "absent" or (text := read_file(file, max_bytes=MAX_HOST_BYTES)) is None:
        return entry
    try:
        settings = _settings_in(file, text)
    except ConfigError:
        parse_object(file, text, has_comments=True)  # raises for what is no JSON with comments either
        return replace(entry, state="commented")
    found = _table_of(entry, settings).get(name)
    return replace(entry, state="new" if found is None else "same" if found == entry.value else "other")


def write_entry(entry: HostEntry) -> Path | None:
    """Put it into the file, as that is now; all else in it stays. Returns where the file as it was is kept.

    Raises `ConfigError`, and `StorageError` where a file cannot be written.
    """
    file = resolve_link(entry.file)
    before = read_file(file, max_bytes=MAX_HOST_BYTES)
    text = _with_entry(entry, before)
    backup = None
    if before is not None:
        first = file.with_name(file.name + ".before-zkchat")
        names = chain([first], (first.with_name(f"{first.name}-{number}") for number in count(2)))
        backup = next(name for name in names if not os.path.lexists(name))  # it takes the place of no earlier one
        write_atomically(backup, before, mode=0o600)
    write_atomically(file, text, mode=0o600)
    return backup


def _with_entry(entry: HostEntry, before: str | None) -> str:
    text = before or "{}"
    try:
        settings = _settings_in(entry.file, text)
        settings[entry.host.table] = {**_table_of(entry, settings), entry.name: entry.value}
        indent = _FIRST_INDENT.search(text)
        written = json.dumps(settings, indent=indent[1] if indent else 2, ensure_ascii=text.isascii(), allow_nan=False)
        written.encode()
    except ValueError as error:
        raise ConfigError(
            f"{entry.file} was not changed: zkchat cannot add to it without altering the rest.",
            hint="Add the entry for zkchat by hand.",
        ) from error
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    return f"{mark}{written}\n"


def _settings_in(file: Path, text: str) -> dict[str, object]:
    return parse_object(file, text) if text.removeprefix(BYTE_ORDER_MARK).strip() else {}


def _table_of(entry: HostEntry, settings: Mapping[str, object]) -> dict[str, object]:
    table = settings.get(entry.host.table, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{entry.file} has a '{entry.host.table}' that is not a JSON object.")
    return table
