"""Key bindings of the prompt, in addition to those of prompt_toolkit for emacs and vi."""

import re
from typing import Final

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, completion_is_selected, has_completions, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from zkchat.repl.paste import Pastes

_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)

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


def bindings(pastes: Pastes, first: FirstSuggestion) -> KeyBindings:
    keys = KeyBindings()
    has_text = Condition(lambda: bool(get_app().current_buffer.text))
    in_fence = Condition(lambda: is_open(get_app().current_buffer.document.text_before_cursor))

    @keys.add("enter", filter=~is_searching & ~completion_is_selected & ~in_fence)
    def _send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("enter", filter=~is_searching & completion_is_selected)
    def _take(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None

    @keys.add("escape", "enter")
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c", filter=~is_searching & has_text)
    def _drop(event: KeyPressEvent) -> None:
        event.current_buffer.reset()

    @keys.add("c-x", "c-e")
    def _edit(event: KeyPressEvent) -> None:
        event.current_buffer.text = pastes.expand(event.current_buffer.text)
        event.current_buffer.open_in_editor()

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

    @keys.add(Keys.BracketedPaste)
    def _paste(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        event.current_buffer.insert_text(pastes.fold(text))

    return keys
