"""Key bindings of the prompt, pasted texts, and the history that all sessions share."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import Final

from prompt_toolkit.application import get_app, run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import (
    Condition,
    completion_is_selected,
    emacs_mode,
    has_completions,
    has_selection,
    is_searching,
)
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

from zkchat.core import write_atomically
from zkchat.sessions import contains_secret

_MAX_LINES: Final = 10
_MAX_CHARACTERS: Final = 2_000


class Pastes:
    """Maps placeholders to texts as long as the program runs."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """The text itself, or a placeholder for a large one."""
        lines = text.count("\n") + 1
        if lines <= _MAX_LINES and len(text) <= _MAX_CHARACTERS:
            return text
        size = f"{lines:,} lines" if lines > _MAX_LINES else f"{len(text):,} characters"
        names = (f"[pasted {size}]" if number == 1 else f"[pasted {size}, {number}]" for number in range(1, 1_000_000))
        name = next(name for name in names if self._texts.get(name, text) == text)
        self._texts[name] = text
        return name

    def expand(self, text: str) -> str:
        """Replace the placeholders in a text. A placeholder inside a paste is left as it is."""
        if not self._texts:
            return text
        return re.sub("|".join(map(re.escape, self._texts)), lambda name: self._texts[name[0]], text)


_NAMED_SECRET: Final = re.compile(
    r"""(?:pass(?:word|wd|phrase)?|secret|token|api[ _-]?key|credentials?)["']?\s{0,3}[:=]\s{0,3}\S|://[^\s/:@]+:[^\s/@]+@""",
    re.IGNORECASE,
)
"""A password after its name, or in an address. A false positive only costs one line of history."""
_SESSION: Final = "# session "


def looks_secret(text: str, keys: Iterable[str] = ()) -> bool:
    return contains_secret(text, keys) or _NAMED_SECRET.search(text) is not None


class SharedHistory(FileHistory):
    """One file for all sessions that only its owner can read. Where it cannot be written, there is no history."""

    def __init__(self, file: Path, pastes: Pastes, *, keys: Collection[str] = ()) -> None:
        super().__init__(str(file))
        self.session_id = ""
        """The session that lines are typed in: they are deleted with it."""
        self._pastes = pastes
        self._keys = keys

    def load_history_strings(self) -> Iterable[str]:
        with suppress(OSError):
            return [self._pastes.fold(text) for text in super().load_history_strings()]
        return []

    def append_string(self, string: str) -> None:
        if not looks_secret(self._pastes.expand(string), self._keys):
            super().append_string(string)

    def put_aside(self, string: str) -> None:
        """Keep a text that was not sent for the prompts of this process; it is not written to the file."""
        if not self._loaded:  # or loading would replace it
            self._loaded_strings, self._loaded = [*self.load_history_strings()], True
        is_last = self._loaded_strings[:1] == [string]
        if not is_last and not looks_secret(self._pastes.expand(string), self._keys):
            self._loaded_strings.insert(0, string)

    def store_string(self, string: str) -> None:
        file = Path(os.fsdecode(self.filename))
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.touch(mode=0o600)
            typed = "".join(f"+{line}\n" for line in self._pastes.expand(string).split("\n"))
            with file.open("ab") as stream:
                stream.write(f"\n# {datetime.now()}\n{_SESSION}{self.session_id}\n{typed}".encode("utf-8", "replace"))


def forget_typed(file: Path, session: str, texts: Collection[str]) -> None:
    """Remove the lines that were typed in a session, and those equal to one of these texts."""
    try:
        lines = file.read_bytes().decode("utf-8", "replace").splitlines(keepends=True)
    except FileNotFoundError:
        return
    kept: list[str] = []
    for entry in _entries(lines):
        typed = "".join(line[1:] for line in entry if line.startswith("+")).strip()
        if f"{_SESSION}{session}\n" not in entry and typed not in texts:
            kept += entry
    write_atomically(file, "".join(kept), mode=0o600)


def _entries(lines: Iterable[str]) -> Iterator[list[str]]:
    """Split the file into messages, each with the comment lines before it."""
    entry: list[str] = []
    for line in lines:
        if entry and entry[-1].startswith("+") and not line.startswith("+"):
            yield entry
            entry = []
        entry.append(line)
    yield entry


_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)

_ESCAPED_END: Final = re.compile(r"(?<!\\)(?:\\\\)*\\$")
"""A backslash at the end that no other one escapes."""

_MODIFIED_ENTER: Final = Keys.ControlF24
"""Stands for Enter with Shift or Alt, which no key of prompt_toolkit does."""

# Alt-Enter, then Shift-Enter and Alt-Enter in the encodings of kitty and of xterm (modifyOtherKeys). As one key each,
# Esc stays a key that vi need not wait for.
ANSI_SEQUENCES.update(
    dict.fromkeys(
        ("\x1b\r", "\x1b[13;2u", "\x1b[13;3u", "\x1b[27;2;13~", "\x1b[27;3;13~", "\x1b[27;4;13~"), _MODIFIED_ENTER
    )
)

_CHOSEN: Final = re.compile(r"(?:\|[^\[\]|]*)?\]\]$")


def is_open(text: str) -> bool:
    """Whether a code fence is open, so that Enter inserts a line."""
    opened = ""
    for fence in _FENCE.findall(text):
        if not opened:
            opened = fence
        elif fence.startswith(opened):
            opened = ""
    return bool(opened)


def is_escape(presses: Collection[KeyPress]) -> bool:
    """Whether these keys, which came together, are Esc by itself, once or several times."""
    return bool(presses) and all(press.key == Keys.Escape for press in presses)


_REPLY: Final = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]P_^][^\x07\x1b]*(?:\x07|\x1b\\\\))")
"""What a terminal sends by itself, when it is asked or looked at: no key."""


def without_replies(presses: Sequence[KeyPress]) -> Iterator[KeyPress]:
    """The keys among what came together, without replies of the terminal that are no key of prompt_toolkit."""
    ends = [0, *accumulate(1 if len(press.data) == 1 else 0 for press in presses)]
    text = "".join(press.data if len(press.data) == 1 else "" for press in presses)
    replies = [reply.span() for reply in _REPLY.finditer(text)]
    for press, end in zip(presses, ends[1:], strict=True):
        if len(press.data) != 1 or not any(first < end <= last for first, last in replies):
            yield press


class FirstSuggestion:
    """Lets Tab take the first row of the menu, also of a menu that is still being computed."""

    def __init__(self) -> None:
        self._requested_for: Document | None = None

    def request(self, buffer: Buffer) -> None:
        self._requested_for = buffer.document
        buffer.start_completion()  # does nothing where one has begun

    def take(self, buffer: Buffer) -> None:
        """Call it when the menu has changed."""
        menu, document = buffer.complete_state, buffer.document
        if document != self._requested_for or not (menu and menu.completions) or menu.complete_index is not None:
            return
        first = menu.completions[0]
        if document.text_before_cursor[len(document.text_before_cursor) + first.start_position :] != first.text:
            self._requested_for = None
            buffer.go_to_completion(0)


_HAS_TEXT: Final = Condition(lambda: bool(get_app().current_buffer.text))


def bindings(
    pastes: Pastes, first: FirstSuggestion, toggle_thinking: Callable[[], None], put_aside: Callable[[str], None]
) -> KeyBindings:
    """All of them. `toggle_thinking` may print; `put_aside` gets the text when the prompt is emptied."""
    keys = KeyBindings()
    in_fence = Condition(lambda: is_open(get_app().current_buffer.document.text_before_cursor))

    @keys.add("enter", filter=~is_searching & ~completion_is_selected & ~in_fence)
    def _send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if _ESCAPED_END.search(buffer.document.text_before_cursor):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("enter", filter=~is_searching & completion_is_selected)
    def _take(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None

    @keys.add(_MODIFIED_ENTER, filter=~is_searching)
    @keys.add("c-j", filter=~is_searching)
    @keys.add("escape", "enter", filter=emacs_mode)
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    _bind_emptying(keys, put_aside)
    _bind_completion(keys, first)

    @keys.add("c-x", "c-e")
    @keys.add("c-g", filter=~is_searching & ~has_selection)
    def _edit(event: KeyPressEvent) -> None:
        event.current_buffer.text = pastes.expand(event.current_buffer.text)
        event.current_buffer.open_in_editor()

    @keys.add("c-t")
    def _think(_event: KeyPressEvent) -> None:
        run_in_terminal(toggle_thinking)

    @keys.add(Keys.BracketedPaste)
    def _paste(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        event.current_buffer.insert_text(pastes.fold(text))

    return keys


def answer_bindings() -> KeyBindings:
    """The keys of a question: y and n answer it at once where nothing else was typed."""
    keys = KeyBindings()

    def answer(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(event.data)
        event.current_buffer.validate_and_handle()

    for key in "yYnN":
        keys.add(key, filter=~_HAS_TEXT)(answer)
    return keys


def _bind_emptying(keys: KeyBindings, put_aside: Callable[[str], None]) -> None:
    @keys.add("c-c", filter=~is_searching & _HAS_TEXT)
    @keys.add("escape", "escape", filter=emacs_mode & ~is_searching & _HAS_TEXT)
    def _empty(event: KeyPressEvent) -> None:
        put_aside(event.current_buffer.text)
        event.current_buffer.reset()
        event.current_buffer.load_history_if_not_yet_loaded()  # so that Up finds it at once

    @keys.add("escape", "escape", filter=emacs_mode & ~is_searching & ~_HAS_TEXT)
    def _edit_last(event: KeyPressEvent) -> None:
        event.app.exit(result="/edit")


def _bind_completion(keys: KeyBindings, first: FirstSuggestion) -> None:
    @keys.add("tab", filter=~has_completions)
    def _complete(event: KeyPressEvent) -> None:
        first.request(event.current_buffer)

    @keys.add("#", filter=completion_is_selected)
    def _heading(event: KeyPressEvent) -> None:
        """Continue with a heading of the note that was just chosen."""
        buffer = event.current_buffer
        if link := _CHOSEN.search(buffer.document.text_before_cursor):
            buffer.delete_before_cursor(len(link[0]))
        buffer.insert_text("#")
        buffer.start_completion()

    @keys.add("/", filter=completion_is_selected)
    def _inside(event: KeyPressEvent) -> None:
        """Continue with what is in the folder that was just chosen."""
        buffer = event.current_buffer
        before = buffer.document.text_before_cursor
        if before.endswith('/"'):  # a folder whose name holds a space
            buffer.delete_before_cursor()
        elif before.endswith("/"):
            buffer.complete_state = None
        else:
            buffer.insert_text("/")
        buffer.start_completion()
