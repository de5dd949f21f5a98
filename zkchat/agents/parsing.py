"""Parse agents and rules from Markdown files with frontmatter; mistakes are reported with their line. Pure.

An unknown key, and a wrong value for which there is a safe default, are passed over with a warning. A file whose
frontmatter cannot be read, or which names its model wrongly, is not used: another model would get the question.
"""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Final, TypeVar, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.model.choices import IncludeMode
from zkchat.model.patterns import lazy_pattern
from zkchat.model.profile import Agent, ProfileFile, ProfileProblem, Rule, Scalar
from zkchat.model.text import shorten
from zkchat.vault.notes.frontmatter import Frontmatter, cut, properties_at

AGENT_KEYS: Final = ("description", "model", "context", "rules", "references", "tools", "servers", "memory", "enabled")
RULE_KEYS: Final = ("description", "include", "enabled")
MODES: Final[tuple[IncludeMode, ...]] = get_args(IncludeMode)
AGENT_NAME: Final = lazy_pattern(r"\w[\w-]*")
"""A name that can be written after an @."""

_SWITCHES: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_NEVER: Final = frozenset({"never", "none", *(word for word, is_on in _SWITCHES.items() if not is_on)})
_MAX_SHOWN: Final = 60

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
        source = _split(unix_lines(file.text))
        profile = read(file, source)
    except _ParseError as mistake:
        line, text = mistake.problem
        return ProfileProblem(kind=file.kind, path=file.path, line=line, text=text)
    return replace(profile, warning=source.warning(file)) if source.mistakes else profile


def _agent(file: ProfileFile, source: "_ProfileText") -> Agent:
    source.report_unknown(AGENT_KEYS)
    if not AGENT_NAME.fullmatch(file.name):
        raise _ParseError(
            1, f"'@{file.name}' cannot be written in a message: name the file with letters, digits, - or _."
        )
    return Agent(
        name=file.name,
        description=source.text("description"),
        model=source.text("model", is_required=True),
        context=source.scalars("context"),
        rules=source.modes("rules"),
        references=source.modes("references"),
        tools=source.modes("tools"),
        servers=source.modes("servers"),
        memory=source.switch("memory"),
        text=source.body,
        enabled=source.switch("enabled"),
        origin=file.origin,
        path=file.path,
    )


def _rule(file: ProfileFile, source: "_ProfileText") -> Rule:
    source.report_unknown(RULE_KEYS)
    enabled, written = source.switch("enabled"), source.matter.properties.get("include")
    if enabled and not source.body:
        raise _ParseError(
            source.flat.count("\n") + 1, "The rule is empty: write below the frontmatter what is to be done."
        )
    return Rule(
        name=file.name,
        description=source.text("description"),
        include=source.mode("include", "always" if written in (None, "") else written, "always"),
        text=source.body,
        enabled=enabled,
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


class _ProfileText(Struct, frozen=True):
    """Frontmatter and body of one file: typed access to the values, with the line of each mistake."""

    flat: str
    matter: Frontmatter
    mistakes: list[tuple[int, str]] = field(default_factory=list)
    """What was passed over: the line of each, and a sentence."""

    @property
    def body(self) -> str:
        return self.flat[self.matter.end :].strip()

    def warning(self, file: ProfileFile) -> ProfileProblem:
        """All that was passed over, as one warning."""
        line, _ = min(self.mistakes)
        text = " ".join(text for _, text in self.mistakes)
        return ProfileProblem(kind=file.kind, path=file.path, line=line, text=text, is_used=True)

    def report_unknown(self, known: tuple[str, ...]) -> None:
        for key in self.matter.properties:
            if key not in known:
                close = get_close_matches(key.casefold(), known, n=1)
                instead = f"Did you mean '{close[0]}'?" if close else f"There is: {', '.join(known)}."
                self._pass_over(f"There is no '{shorten(key, _MAX_SHOWN)}' here. {instead}", key)

    def text(self, key: str, *, is_required: bool = False) -> str:
        value = self.matter.properties.get(key)
        if value is not None and not isinstance(value, str):
            if is_required:
                raise self._error(f"'{key}' must be a text.", key)
            self._pass_over(f"'{key}' must be a text, and is left out.", key)
            return ""
        return " ".join((value or "").split())

    def switch(self, key: str) -> bool:
        """True unless it is switched off; what is neither yes nor no counts as no."""
        value = self.matter.properties.get(key)
        if value is None:
            return True
        meant = _SWITCHES.get(str(value).strip().casefold())
        if meant is None:
            self._pass_over(f"'{key}' must be true or false; '{_shown(value)}' counts as false.", key)
        return bool(meant)

    def scalars(self, key: str) -> dict[str, Scalar]:
        values = dict(self._mapping(key))
        for name, value in [*values.items()]:
            if not isinstance(value, str | int | float | bool):
                self._pass_over(f"'{key}.{name}' must be one value, and is left out.", key, name)
                del values[name]
        return values

    def modes(self, key: str) -> dict[str, IncludeMode]:
        """Names with their modes; names in a list are there always. What has a wrong mode is not sent by itself."""
        value = self.matter.properties.get(key)
        if isinstance(value, list):
            names = (self._name(key, item) for item in value)
            return {name: "always" for name in names if name}
        return {_unlinked(name): self.mode(key, mode, "manual", name) for name, mode in self._mapping(key).items()}

    def mode(self, key: str, value: object, otherwise: IncludeMode, name: str = "") -> IncludeMode:
        for mode in MODES:
            if value == mode:
                return mode
        if str(value).casefold() in _NEVER:
            otherwise = "manual"
        what = f"{key}.{name}" if name else key
        modes = f"{', '.join(MODES[:-1])} or {MODES[-1]}"
        self._pass_over(f"'{what}' must be {modes}; '{_shown(value)}' counts as {otherwise}.", key, name)
        return otherwise

    def _mapping(self, key: str) -> Mapping[str, Scalar]:
        value = self.matter.properties.get(key)
        if value is not None and not isinstance(value, dict):
            self._pass_over(f"'{key}' must be made of `name: value` lines, and is left out.", key)
            return {}
        return value or {}

    def _name(self, key: str, item: object) -> str:
        match item:
            case str():
                return _unlinked(item)
            case [[str(linked)]]:  # what YAML makes of [[a link]] without quotes
                return linked
        self._pass_over(f"'{key}' must be a list of names; '{_shown(item)}' is left out.", key)
        return ""

    def _pass_over(self, text: str, key: str, name: str = "") -> None:
        self.mistakes.append(self._error(text, key, name).problem)

    def _error(self, text: str, key: str, name: str = "") -> _ParseError:
        start = next((place for place, found in properties_at(self.flat, self.matter.span) if found == key), 0)
        if name:
            inner = re.compile(rf"^[ \t]+[\"']?(?:\[\[)?{re.escape(name)}", re.MULTILINE)
            found = inner.search(self.flat, start, self.matter.span[1])
            start = found.start() if found else start
        return _ParseError(self.flat.count("\n", 0, start) + 1, text)


def _shown(value: object) -> str:
    return shorten(str(value), _MAX_SHOWN)


def _unlinked(name: str) -> str:
    return name.strip().removeprefix("[[").removesuffix("]]")
