"""What may be typed for a parameter of a command: notes, sessions, agents, models, settings, topics."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from zkchat.cli.command_table import PLACES
from zkchat.cli.topics import topics
from zkchat.compose.stored_names import StoredNames
from zkchat.model.note import file_title, without_suffix
from zkchat.repl.note_names import normalize_name

_OPEN_LINK: Final = re.compile(r"\[\[([^\[\]|\n]*)$")
_OPEN_TAG: Final = re.compile(r"(?:^|(?<=\s))-?tag:#?([^\s\"]*)$")


class Candidate(NamedTuple):
    """A word that may stand in the place of the one before the cursor."""

    value: str
    about: str = ""
    is_open: bool = False
    """Whether more is to be typed right after it."""


class Typed(NamedTuple):
    """What was typed: the word before the cursor, and the values of the parameters before it."""

    text: str
    values: Mapping[str, object]


Completer = Callable[[StoredNames, Typed], Iterable[Candidate]]


def complete_note(names: StoredNames, typed: Typed) -> Iterator[Candidate]:
    """The notes whose file name, title or alias begins like this; by path where there is a slash."""
    if "[[" in typed.text:
        yield from complete_link(names, typed)
        return
    for name, about in _note_names(names, typed.text):
        yield Candidate(name, about)


def complete_link(names: StoredNames, typed: Typed) -> Iterator[Candidate]:
    """A link that is begun anywhere in the text, closed."""
    found = _OPEN_LINK.search(typed.text)
    if found is None:
        return
    before, (target, sign, place) = typed.text[: found.start()], found[1].partition("#")
    matches = _headings(names, target, place) if sign else _note_names(names, target)
    for name, about in matches:
        yield Candidate(f"{before}[[{name}]]", about, is_open=bool(before))


def complete_question(names: StoredNames, typed: Typed) -> Iterator[Candidate]:
    """An agent at the beginning, and links."""
    is_first = not typed.values.get("question")
    if is_first and re.fullmatch(r"@[\w-]*", typed.text):
        for candidate in _starting(names.agents(), typed.text[1:]):
            yield Candidate(f"@{candidate.value}", candidate.about)
    yield from complete_link(names, typed)


def complete_query(names: StoredNames, typed: Typed) -> Iterator[Candidate]:
    """A tag after `tag:`, the filters elsewhere."""
    found = _OPEN_TAG.search(typed.text)
    if found is None:
        filters = ("tag:", "path:", "after:", "before:")
        yield from (Candidate(each, is_open=True) for each in filters if typed.text and each.startswith(typed.text))
        return
    before = typed.text[: found.start(1)]
    for tag in _starting([(tag, "") for tag in sorted(names.tags())], found[1]):
        yield Candidate(before + tag.value)


def complete_session(names: StoredNames, typed: Typed) -> Iterator[Candidate]:
    """Titles, as far as they name one session; ids of the others, and ids that begin like this.

    Single questions are offered once something is typed.
    """
    sessions = [each for each in names.sessions() if typed.text or each[2]]
    titles = [normalize_name(title) for _, title, _ in sessions]
    for (session_id, title, _), normalized in zip(sessions, titles, strict=True):
        if title and titles.count(normalized) == 1 and normalized.startswith(normalize_name(typed.text)):
            yield Candidate(title, session_id)
        elif session_id.startswith(typed.text.casefold()) and (typed.text or titles.count(normalized) > 1):
            yield Candidate(session_id, title)


def complete_model(names: StoredNames, typed: Typed) -> Iterator[Candidate]:
    """Names of models that are known without asking anybody, and the beginnings of all others."""
    yield from _starting(names.models(), typed.text)
    for provider in ("ollama:", "openai:", "local:"):
        if provider.startswith(typed.text):
            yield Candidate(provider, is_open=True)


def complete_value(names: StoredNames, typed: Typed) -> Iterator[Candidate]:
    """The words that a setting may be; for `model`, the models."""
    key = str(typed.values.get("key") or "")
    if key == "model":
        yield from complete_model(names, typed)
    yield from _starting([(word, "") for word in names.values_of(key)], typed.text)


def complete_topic(_names: StoredNames, typed: Typed) -> Iterator[Candidate]:
    """The pages of `zkchat help`, and commands."""
    if typed.values.get("topic"):
        return
    named = {**dict.fromkeys(PLACES, ""), **{topic.name: topic.title for topic in topics()}}
    yield from _starting(named.items(), typed.text)


def complete_vault_folder(names: StoredNames, typed: Typed) -> Iterator[Candidate]:
    """Folders of the vault, wherever the user is."""
    folders = {folder for note in names.notes() for folder in _folders_above(note.path)}
    for folder in _starting([(folder, "") for folder in sorted(folders)], typed.text):
        yield Candidate(f"{folder.value}/", is_open=True)


def _of(choose: Callable[[StoredNames], list[tuple[str, str]]]) -> Completer:
    return lambda names, typed: _starting(choose(names), typed.text)


def complete_goal(names: StoredNames, typed: Typed) -> Iterator[Candidate]:
    """A session to go on in after `--resume`, else links."""
    return complete_session(names, typed) if typed.values.get("resume") else complete_question(names, typed)


COMPLETERS: Final[Mapping[str, Completer]] = {
    "NOTE": complete_note,
    "LINK": complete_note,
    "QUESTION": complete_question,
    "QUERY": complete_query,
    "SESSION": complete_session,
    "GOAL | SESSION": complete_goal,
    "session": complete_session,
    "model": complete_model,
    "agent": _of(lambda names: names.agents()),
    "AGENT": _of(lambda names: names.agents()),
    "RULE": _of(lambda names: names.rules()),
    "SERVER": _of(lambda names: names.servers()),
    "FILE | PROGRAM": _of(lambda names: [(name, "") for name in names.mcp_hosts()]),
    "PROGRAM": _of(lambda names: [(name, "") for name in names.mcp_hosts()]),
    "KEY": _of(lambda names: names.settings()),
    "VALUE": complete_value,
    "ID": _of(lambda names: names.facts()),
    "TOPIC": complete_topic,
    "PATH": complete_vault_folder,
    "TAG": _of(lambda names: [(tag, "") for tag in sorted(names.tags())]),
}
"""By what the help calls a parameter, or else by its name."""

FILES: Final = frozenset({"FILE", "FILE.html", "@PATH"})
FOLDERS: Final = frozenset({"FOLDER"})
"""Parameters that the shell itself completes."""


def _folders_above(path: str) -> Iterator[str]:
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


def _starting(named: Iterable[tuple[str, str]], typed: str) -> Iterator[Candidate]:
    beginning = normalize_name(typed)
    return (Candidate(name, about) for name, about in named if _begins(name, beginning))


def _note_names(names: StoredNames, typed: str) -> Iterator[tuple[str, str]]:
    """Each note by the first of its names that begins like this; by its path where another file has that name."""
    beginning, by_path = normalize_name(typed), "/" in typed
    notes = [(note, file_title(note.path)) for note in sorted(names.notes(), key=lambda note: note.path)]
    # Only names that begin like this are compared: all others cannot be taken for one of them.
    count = Counter(normalize_name(file) for _, file in notes if not by_path and _begins(file, beginning))
    for note, file in notes:
        called = (without_suffix(note.path),) if by_path else (file, note.title, *note.aliases)
        name = next((name for name in called if _begins(name, beginning)), None)
        if name is not None:
            is_shared = count[normalize_name(name)] > 1
            yield (without_suffix(note.path), "") if is_shared else (name, note.path)


def _begins(name: str, beginning: str) -> bool:
    """Whether a name begins so; of one in ASCII only as much is normalized as is compared."""
    return normalize_name(name[: len(beginning)] if name.isascii() else name).startswith(beginning)


def _headings(names: StoredNames, target: str, typed: str) -> Iterator[tuple[str, str]]:
    wanted, beginning = normalize_name(target), normalize_name(typed)
    for note in names.notes():
        if wanted in {normalize_name(file_title(note.path)), normalize_name(without_suffix(note.path))}:
            for heading in names.headings(note.path):
                if normalize_name(heading).startswith(beginning):
                    yield f"{target}#{heading}", note.path
            return
