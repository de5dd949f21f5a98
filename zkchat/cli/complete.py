"""The answer to a Tab in a shell, for the scripts of `zkchat completion`.

The first line says how the shell goes on: `words` (or `open`, where no space follows), `files` or `folders`. Each other
line is a word, already quoted for Bash, for the others as it is, then a tab and what it means. Click finds the command
and the parameter.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import typer.main
from msgspec import Struct
from typer._click import Command, Context, Parameter
from typer._click.shell_completion import _resolve_context, _resolve_incomplete

from zkchat.cli.completers import COMPLETERS, FILES, FOLDERS, Candidate, Typed
from zkchat.cli.main import AGENT_AS_COMMAND, app
from zkchat.compose.stored_names import StoredNames
from zkchat.environment import Environment
from zkchat.model.text import shorten
from zkchat.render.sanitize import sanitize_line, sanitize_text

VARIABLE: Final = "_ZKCHAT_COMPLETE"
"""Set by the scripts, and named as Click names it."""

_OPTION_WITH_VALUE: Final = re.compile(r"--[\w-]+=")
_MAX_ABOUT: Final = 70
_SPECIAL_IN_DOUBLE_QUOTES: Final = '\\"$`'
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,")
"""The ASCII characters that mean themselves outside quotes; all others get a backslash."""
_BREAKS_REPLACED: Final = "@$"
"""Readline replaces these too, and of all other breaks only what follows them."""


class TypedLine(Struct, frozen=True, kw_only=True):
    """A command line up to the cursor."""

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
        line = _without_program(line)
    else:
        # Fish hands over the last word as it stands on the line, Zsh without quotes.
        last = arguments[-1] if arguments else ""
        typed = split_line(last).typed if shell == "fish" else last
        line = TypedLine(words=tuple(arguments[:-1]), typed=typed)
    try:
        mode, candidates = complete(line, environment)
    except Exception:  # noqa: BLE001 - a traceback would be printed into the line that the user types
        return
    lines = _for_bash(candidates, line) if shell == "bash" else _with_descriptions(candidates)
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
    context, target, typed = _resolve(words, typed)
    kinds = _kinds(target)
    for files, mode in ((FILES, "files"), (FOLDERS, "folders")):
        if files & {*kinds}:
            return mode, []
    completer = next((COMPLETERS[kind] for kind in kinds if kind in COMPLETERS), None)
    if completer:
        found = completer(_names(context, environment), Typed(typed, context.params))
    else:
        found = (Candidate(str(item.value), item.help or "") for item in target.shell_complete(context, typed))
    # All but Bash, which is told so by `kept`, replace the whole word.
    candidates = [each._replace(value=option[0] + each.value) if option else each for each in _safe(found)]
    return "open" if any(each.is_open for each in candidates) else "words", candidates


def _kinds(target: Command | Parameter) -> tuple[str, ...]:
    """What a parameter is called in the help, and its own name; a command is none."""
    kind = getattr(target, "param_type_name", "")
    if not kind:
        return ()
    shown, name = getattr(target, "metavar", None), target.name or ""
    return (shown or (name.upper() if kind == "argument" else ""), name)


def _resolve(words: list[str], typed: str) -> tuple[Context, Command | Parameter, str]:
    """The command that the words name, and the parameter or command to be completed."""
    command = typer.main.get_command(app)
    _keep_values(command, words)
    context = _resolve_context(command, {}, "zkchat", words)
    return context, *_resolve_incomplete(context, words, typed)


def _keep_values(command: Any, words: list[str]) -> None:
    """Leave values as they were typed, for the commands that are named: not all of them can be converted."""
    for param in command.get_params(typer.Context(command)):
        param.process_value = lambda _context, value: value
    below = getattr(command, "commands", {})
    for position, word in enumerate(words):
        if word in below:
            _keep_values(below[word], words[position + 1 :])


def _names(context: Context, environment: Environment) -> StoredNames:
    vault = context.params.get("vault")
    return StoredNames(environment, Path(vault) if vault else None)


def _safe(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Words of one line without characters that act on a terminal, each once."""
    unique = {each.value: each for each in candidates}
    return [each for each in unique.values() if sanitize_text(each.value) == each.value and _is_line(each.value)]


def _is_line(text: str) -> bool:
    return not {"\n", "\t"} & {*text}


def _for_bash(candidates: Iterable[Candidate], line: TypedLine) -> Iterator[str]:
    """What takes the place of the end of the word; the part that stays on the line must be the same."""
    for each in candidates:
        if each.value.startswith(line.kept):
            yield quote_word(each.value[len(line.kept) :], line.quote)


def _with_descriptions(candidates: Iterable[Candidate]) -> Iterator[str]:
    for each in candidates:
        yield f"{each.value}\t{shorten(sanitize_line(each.about), _MAX_ABOUT)}"


def _without_program(line: TypedLine) -> TypedLine:
    """Without the name of the program, and the variables that are set before it."""
    words = [*line.words]
    while words and re.match(r"\w+=", words[0]):
        del words[0]
    return TypedLine(words=tuple(words[1:]), typed=line.typed, quote=line.quote, kept=line.kept)


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
