"""Parse agents and rules from Markdown files with frontmatter; a mistake is reported with its line. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar, get_args

from zkchat.model.choices import IncludeMode
from zkchat.model.profile import Agent, ProfileFile, ProfileProblem, Rule, Scalar
from zkchat.vault.notes.frontmatter import Frontmatter, cut, properties_at

AGENT_KEYS: Final = ("description", "model", "context", "rules", "references", "tools", "servers")
RULE_KEYS: Final = ("description", "include")
MODES: Final[tuple[IncludeMode, ...]] = get_args(IncludeMode)
AGENT_NAME: Final = re.compile(r"\w[\w-]*")
"""A name that can be written after an @."""

Read = TypeVar("Read", Agent, Rule)


def parse_agent(file: ProfileFile) -> Agent | ProfileProblem:
    """The agent that a file describes."""
    return _parsed(file, _agent)


def parse_rule(file: ProfileFile) -> Rule | ProfileProblem:
    """The rule that a file describes."""
    return _parsed(file, _rule)


def unix_lines(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


class _ParseError(Exception):
    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.problem = line, text


def _parsed(file: ProfileFile, read: "Callable[[ProfileFile, _ProfileText], Read]") -> Read | ProfileProblem:
    try:
        if file.read_error:
            raise _ParseError(1, file.read_error)
        return read(file, _split(unix_lines(file.text)))
    except _ParseError as mistake:
        line, text = mistake.problem
        return ProfileProblem(kind=file.kind, path=file.path, line=line, text=text)


def _agent(file: ProfileFile, source: "_ProfileText") -> Agent:
    source.check_keys(AGENT_KEYS)
    if not AGENT_NAME.fullmatch(file.name):
        raise _ParseError(
            1, f"'@{file.name}' cannot be written in a message: name the file with letters, digits, - or _."
        )
    return Agent(
        name=file.name,
        description=source.text("description"),
        model=source.text("model"),
        context=source.scalars("context"),
        rules=source.modes("rules"),
        references=source.modes("references"),
        tools=source.modes("tools"),
        servers=source.modes("servers"),
        text=source.body,
        origin=file.origin,
        path=file.path,
    )


def _rule(file: ProfileFile, source: "_ProfileText") -> Rule:
    source.check_keys(RULE_KEYS)
    if not source.body:
        raise _ParseError(
            source.flat.count("\n") + 1, "The rule is empty: write below the frontmatter what is to be done."
        )
    return Rule(
        name=file.name,
        description=source.text("description"),
        include=source.mode("include", source.matter.properties.get("include") or "always"),
        text=source.body,
        origin=file.origin,
        path=file.path,
    )


def _split(flat: str) -> "_ProfileText":
    matter = cut(flat)
    if matter.warning:
        place = re.search(r"in line (\d+)", matter.warning)
        raise _ParseError(int(place[1]) if place else 1, matter.warning.replace("left unread", "not used"))
    if not matter.end and flat.startswith("---\n"):
        raise _ParseError(
            1, "The frontmatter that begins here is not made of `name: value` lines up to the next `---`."
        )
    return _ProfileText(flat, matter)


@dataclass(frozen=True)
class _ProfileText:
    """Frontmatter and body of one file: typed access to the values, with the line of each mistake."""

    flat: str
    matter: Frontmatter

    @property
    def body(self) -> str:
        return self.flat[self.matter.end :].strip()

    def check_keys(self, known: tuple[str, ...]) -> None:
        for key in self.matter.properties:
            if key not in known:
                raise self._error(f"There is no '{key}' here. There is: {', '.join(known)}.", key)

    def text(self, key: str) -> str:
        value = self.matter.properties.get(key)
        if value is not None and not isinstance(value, str):
            raise self._error(f"'{key}' must be a text.", key)
        return " ".join((value or "").split())

    def scalars(self, key: str) -> dict[str, Scalar]:
        values = self._mapping(key)
        for name, value in values.items():
            if not isinstance(value, str | int | float | bool):
                raise self._error(f"'{key}.{name}' must be one value.", key, name)
        return dict(values)

    def modes(self, key: str) -> dict[str, IncludeMode]:
        """Names with their modes; names in a list are there always."""
        value = self.matter.properties.get(key)
        if isinstance(value, list):
            return {self._name(key, item): "always" for item in value}
        return {_unlinked(name): self.mode(key, mode, name) for name, mode in self._mapping(key).items()}

    def mode(self, key: str, value: object, name: str = "") -> IncludeMode:
        for mode in MODES:
            if value == mode:
                return mode
        what = f"{key}.{name}" if name else key
        raise self._error(f"'{what}' must be {', '.join(MODES[:-1])} or {MODES[-1]}, not '{value}'.", key, name)

    def _mapping(self, key: str) -> Mapping[str, Scalar]:
        value = self.matter.properties.get(key)
        if value is not None and not isinstance(value, dict):
            raise self._error(f"'{key}' must be made of `name: value` lines.", key)
        return value or {}

    def _name(self, key: str, item: object) -> str:
        match item:
            case str():
                return _unlinked(item)
            case [[str(linked)]]:  # what YAML makes of [[a link]] without quotes
                return linked
        raise self._error(f"'{key}' must be a list of names.", key)

    def _error(self, text: str, key: str, name: str = "") -> _ParseError:
        start = next((place for place, found in properties_at(self.flat, self.matter.span) if found == key), 0)
        if name:
            inner = re.compile(rf"^[ \t]+[\"']?(?:\[\[)?{re.escape(name)}", re.MULTILINE)
            found = inner.search(self.flat, start, self.matter.span[1])
            start = found.start() if found else start
        return _ParseError(self.flat.count("\n", 0, start) + 1, text)


def _unlinked(name: str) -> str:
    return name.strip().removeprefix("[[").removesuffix("]]")
