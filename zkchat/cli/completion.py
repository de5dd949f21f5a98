"""Completion of shells: words split as they read them, the command that answers, and the names."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

import typer
import typer.main
from msgspec import Struct
from typer._click import Command, Parameter
from typer._click.shell_completion import _resolve_context, _resolve_incomplete

from zkchat.app import StoredNames
from zkchat.cli.command_table import PLACES
from zkchat.cli.common import current_io
from zkchat.cli.help import ALL
from zkchat.cli.main import AGENT_AS_COMMAND, app
from zkchat.core import Environment, Link, ProviderName, file_title, lazy_pattern, shorten, without_suffix
from zkchat.render import sanitize_line, sanitize_text
from zkchat.repl import normalize_name

_PACKAGE: Final = Path(__file__).parents[1]
_FOR_DEVELOPERS: Final = frozenset({"architecture", "dependencies"})
_FIRST: Final = ("tour", "installation", "recipes")
_LAST: Final = ("python", "json", "events", "scripted", "privacy-forms")
_FENCE: Final = lazy_pattern(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_PICTURE_LINE: Final = lazy_pattern(r"^!\[[^\]]*\]\([^)]*\)\n+", re.MULTILINE)
_LINK: Final = lazy_pattern(r"(?<!!)\[([^\]\[]+)\]\(([^)\s]+)\)")
_BLOCK: Final = lazy_pattern(r"\s*(?:[-*+] |\d+[.)] |[#|>]|<!--)")
_WHOLE_LINE: Final = lazy_pattern(r"\s*(?:#|\||<!--)")
_ADDRESS: Final = lazy_pattern(r"\w+:")


class Topic(Struct, frozen=True):
    """A page, by the name of its file."""

    file: Path

    @property
    def name(self) -> str:
        return self.file.stem

    @property
    def title(self) -> str:
        """The first heading."""
        with self.file.open(encoding="utf-8") as lines:
            return next(
                (line.lstrip("# ").replace("`", "").strip() for line in lines if line.startswith("#")), self.name
            )

    @property
    def text(self) -> str:
        """The page as it is read in a terminal: without pictures, and with links to other pages as commands."""
        text, names = self.file.read_text("utf-8"), {topic.name for topic in topics()}
        parts, end = [], 0
        for fence in _FENCE.finditer(text):
            parts += [_readable(text[end : fence.start()], names), fence[0]]
            end = fence.end()
        return "".join((*parts, _readable(text[end:], names)))


def topics() -> list[Topic]:
    """The pages for users, the tour first and forms last; none where they were left out of an installation."""
    folder = _PACKAGE / "docs"
    if not folder.is_dir() and (_PACKAGE.parent / "pyproject.toml").is_file():
        folder = _PACKAGE.parent / "docs"
    files = {file.stem: file for file in sorted(folder.glob("*.md")) if file.stem not in _FOR_DEVELOPERS}
    others = (name for name in files if name not in {*_FIRST, *_LAST})
    return [Topic(files[name]) for name in (*_FIRST, *others, *_LAST) if name in files]


def _readable(text: str, names: set[str]) -> str:
    return _LINK.sub(lambda link: _as_command(link, names), _unwrapped(_PICTURE_LINE.sub("", text)))


def _unwrapped(text: str) -> str:
    """Each paragraph on one line: the lines of a file are no lines of a screen."""
    lines: list[str] = []
    for line in text.split("\n"):
        is_rest = bool(lines and lines[-1].strip() and line.strip()) and not _BLOCK.match(line)
        if is_rest and not _WHOLE_LINE.match(lines[-1]):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


def _as_command(link: re.Match[str], names: set[str]) -> str:
    """A link to a page as the command that shows it; to what is not installed, its label alone."""
    label, target = link[1], link[2]
    if _ADDRESS.match(target):
        return link[0]
    name = target.partition("#")[0].removesuffix(".md")
    return f"{label} (`zkchat help {name}`)" if name in names else label


VARIABLE: Final = "_ZKCHAT_COMPLETE"
"""Set by the scripts, and named as Click names it."""

_OPTION_WITH_VALUE: Final = re.compile(r"--[\w-]+=")
_SPECIAL_IN_DOUBLE_QUOTES: Final = '\\"$`'
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,")
"""The ASCII characters that mean themselves outside quotes; all others get a backslash."""
_BREAKS_REPLACED: Final = "@$"
"""Readline replaces these too, and of all other breaks only what follows them."""
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


class TypedLine(Struct, frozen=True, kw_only=True):
    words: tuple[str, ...]
    """The complete ones, without their quotes."""
    typed: str
    """The word before the cursor, without its quotes."""
    quote: str = ""
    """The quotation mark that is open there."""
    kept: str = ""
    """The part of the word that stays on the line: Readline replaces only what follows the last quote or break."""


def answer(arguments: Sequence[str], environment: Environment) -> None:
    """Print the candidates; nothing at all where anything is wrong, because the user is in the middle of a line."""
    shell = environment.variables[VARIABLE].removeprefix("complete_")
    variables = environment.variables
    if shell == "bash":
        line = split_line(variables.get("COMP_LINE", ""), variables.get("COMP_WORDBREAKS", ""))
        # Without the name of the program, and the variables that are set before it.
        words = [*line.words]
        while words and re.match(r"\w+=", words[0]):
            del words[0]
        line = TypedLine(words=tuple(words[1:]), typed=line.typed, quote=line.quote, kept=line.kept)
    else:
        # Fish hands over the last word as it stands on the line, Zsh without quotes.
        last = arguments[-1] if arguments else ""
        typed = split_line(last).typed if shell == "fish" else last
        line = TypedLine(words=tuple(arguments[:-1]), typed=typed)
    try:
        mode, candidates = complete(line, environment)
    except Exception:  # noqa: BLE001 - a traceback would be printed into the line that the user types
        return
    if shell == "bash":
        # What takes the place of the end of the word; the part that stays on the line must be the same.
        fitting = [each.value for each in candidates if each.value.startswith(line.kept)]
        lines = [quote_word(value[len(line.kept) :], line.quote) for value in fitting]
    else:
        lines = [f"{each.value}\t{shorten(sanitize_line(each.about), 70)}" for each in candidates]
    # Files may be named in bytes that are no text.
    text = "\n".join((mode, *lines)).encode("utf-8", "surrogateescape")
    os.write(environment.stdout.fileno(), text + b"\n")


def complete(line: TypedLine, environment: Environment) -> tuple[str, list[Candidate]]:
    """How the shell goes on, and the words that may stand where the cursor is."""
    words, typed = [*line.words], line.typed
    if not words and typed.startswith("@"):
        words = ["ask"]
    if words and (agent := AGENT_AS_COMMAND.fullmatch(words[0])):
        words[:1] = ["ask", "--agent", agent[1]]
    option = _OPTION_WITH_VALUE.match(typed)
    command = typer.main.get_command(app)
    _keep_values(command, words)
    context = _resolve_context(command, {}, "zkchat", words)
    target, typed = _resolve_incomplete(context, words, typed)
    kinds = _kinds(target)
    for files, mode in ((FILES, "files"), (FOLDERS, "folders")):
        if files & {*kinds}:
            return mode, []
    completer = next((COMPLETERS[kind] for kind in kinds if kind in COMPLETERS), None)
    if completer:
        vault = context.params.get("vault")
        names = StoredNames(environment, Path(vault) if vault else None)
        found = completer(names, Typed(typed, context.params))
    else:
        found = (Candidate(str(item.value), item.help or "") for item in target.shell_complete(context, typed))
    # All but Bash, which is told so by `kept`, replace the whole word.
    candidates = [
        each._replace(value=option[0] + each.value) if option else each
        for each in {each.value: each for each in found}.values()
        if sanitize_text(each.value) == each.value and not {"\n", "\t"} & {*each.value}  # words of one line
    ]
    return "open" if any(each.is_open for each in candidates) else "words", candidates


def _kinds(target: Command | Parameter) -> tuple[str, ...]:
    """What a parameter is called in the help, and its own name; a command is none."""
    kind = getattr(target, "param_type_name", "")
    if not kind:
        return ()
    shown, name = getattr(target, "metavar", None), target.name or ""
    return (shown or (name.upper() if kind == "argument" else ""), name)


def _keep_values(command: Any, words: list[str]) -> None:
    """Leave values as they were typed, for the commands that are named: not all of them can be converted."""
    for param in command.get_params(typer.Context(command)):
        param.process_value = lambda _context, value: value
    below = getattr(command, "commands", {})
    for position, word in enumerate(words):
        if word in below:
            _keep_values(below[word], words[position + 1 :])


def split_line(line: str, breaks: str = "") -> TypedLine:
    """Split a line at white space outside quotes. At unquoted `breaks`, Readline begins to replace."""
    words: list[str] = []
    word = quote = kept = ""
    is_begun = is_escaped = False
    for sign in line:
        if is_escaped:
            word += ("\\" if quote and sign not in _SPECIAL_IN_DOUBLE_QUOTES else "") + sign
            is_escaped = False
        elif sign == "\\" and quote != "'":
            is_escaped = is_begun = True
        elif sign == quote:
            quote, kept = "", word
        elif quote:
            word += sign
        elif sign in "'\"":
            quote, kept, is_begun = sign, word, True
        elif sign in " \t\n":
            words += [word] if is_begun else []
            word, kept, is_begun = "", "", False
        else:
            if sign in breaks:
                kept = word + ("" if sign in _BREAKS_REPLACED else sign)
            word, is_begun = word + sign, True
    return TypedLine(words=tuple(words), typed=word, quote=quote, kept=kept)


def quote_word(text: str, quote: str = "") -> str:
    """Write a text so that Bash reads it as it is, after the quotation mark that is open, if any.

    Readline closes the quotes, unless the text ends in a quotation mark: then they are closed here.
    """
    if not quote:
        return "".join(sign if sign in _PLAIN or not sign.isascii() else f"\\{sign}" for sign in text)
    if quote == "'":
        quoted = text.replace("'", "'\\''")
    else:
        quoted = "".join(f"\\{sign}" if sign in _SPECIAL_IN_DOUBLE_QUOTES else sign for sign in text)
        quoted = quoted.replace("!", '"\\!"')  # within the quotes it would be looked up in the history
    return quoted + (quote if quoted.endswith(quote) else "")


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
    before, (target, sign, place) = typed.text[: found.start()], Link.split(found[1])
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
        filters = ("tag:", "path:", "on:", "after:", "before:", "during:")
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
    for provider in map("{}:".format, get_args(ProviderName)):
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
    named = {**dict.fromkeys((*PLACES, ALL), ""), **{topic.name: topic.title for topic in topics()}}
    yield from _starting(named.items(), typed.text)


def complete_vault_folder(names: StoredNames, typed: Typed) -> Iterator[Candidate]:
    folders = {str(folder) for note in names.notes() for folder in PurePosixPath(note.path).parents} - {"."}
    for folder in _starting([(folder, "") for folder in sorted(folders)], typed.text):
        yield Candidate(f"{folder.value}/", is_open=True)


def _of(choose: Callable[[StoredNames], list[tuple[str, str]]]) -> Completer:
    return lambda names, typed: _starting(choose(names), typed.text)


COMPLETERS: Final[Mapping[str, Completer]] = {
    "NOTE": complete_note,
    "LINK": complete_note,
    "QUESTION": complete_question,
    "QUERY": complete_query,
    "SESSION": complete_session,
    "GOAL | SESSION": lambda names, typed: (complete_session if typed.values.get("resume") else complete_question)(
        names, typed
    ),
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


Shell = Literal["bash", "zsh", "fish"]


def completion(shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]) -> None:
    """Print the script that sets up completion in your shell.

    Then Tab completes commands, options, notes, sessions and more. Names come from the index; `zkchat config index`
    updates it.

    \b
    Bash, in ~/.bashrc:
        eval "$(zkchat config completion bash)"
    Zsh, in ~/.zshrc after compinit:
        eval "$(zkchat config completion zsh)"
    Fish, once:
        zkchat config completion fish > ~/.config/fish/completions/zkchat.fish
    """
    script = Path(__file__).parent / "shells" / f"completion.{shell}"
    current_io().out(script.read_text("utf-8").rstrip("\n"), as_it_is=True)
