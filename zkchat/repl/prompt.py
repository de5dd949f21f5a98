"""The prompt, edited with prompt_toolkit, and the status bar below it."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from prompt_toolkit import PromptSession
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.cursor_shapes import ModalCursorShapeConfig
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

from zkchat.chat import Conversation
from zkchat.core import ContextUsage, Session
from zkchat.render import sanitize_in_place, sanitize_line
from zkchat.repl.key_bindings import (
    FirstSuggestion,
    Pastes,
    SharedHistory,
    answer_bindings,
    bindings,
    is_escape,
    without_replies,
)
from zkchat.repl.picker import Further, PickRow, pick, truncate_cells
from zkchat.repl.surface import menu_rows

PROMPT: Final = "you › "
_ESCAPE_SECONDS: Final = 0.1
"""After which Esc is a key by itself and not the beginning of another one's sequence."""
_STYLE: Final = Style.from_dict(
    {
        "prompt": "bold",
        "mode": "bold",
        "bottom-toolbar": "noreverse dim",
        "bottom-toolbar.text": "noreverse dim",
        "completion-menu.meta.completion": "bg:default fg:default dim",
    }
)
_SEPARATOR: Final = " · "


class _Sanitizer(Processor):
    """Sanitizes the text in the prompt, which may come from a note's name or a paste."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        fragments: StyleAndTextTuples = [
            (style, sanitize_in_place(text)) for style, text, *_ in transformation_input.fragments
        ]
        return Transformation(fragments)


class PromptHost(Protocol):
    """The chat around the prompt: supplies the status line and is notified of what the user does."""

    @property
    def session_id(self) -> str:
        """Of the session that lines are typed in; empty before the first message."""

    def status_line(self, width: int) -> str:
        """The text of the bar below the prompt."""

    def prompt_painted(self) -> None:
        """Called whenever the prompt has been drawn."""

    def text_changed(self) -> None:
        """Called at every change of the text."""

    def text_accepted(self, text: str) -> None:
        """Called as Enter is pressed, before anything is drawn."""

    def text_dropped(self) -> None:
        """Called when the user empties the prompt instead of sending its text."""

    def toggle_thinking(self) -> None:
        """Show or fold the thinking of models from now on. May print."""


class Prompt:
    """Reads one message after the other. While it reads, nothing else may be written to the terminal."""

    def __init__(
        self,
        host: PromptHost,
        *,
        completer: Completer,
        history_file: Path,
        keys: tuple[str, ...],
        vi: bool,
        color: bool,
    ) -> None:
        self._host = host
        self._color = color
        self._pastes = Pastes()
        self._history = SharedHistory(history_file, self._pastes, keys=keys)
        first = FirstSuggestion()
        self._session: PromptSession[str] = PromptSession(
            [("class:prompt", PROMPT)],
            history=self._history,
            completer=completer,
            complete_while_typing=True,
            complete_in_thread=True,
            multiline=True,
            # A mark before a new line of the message, and none before a wrapped one.
            prompt_continuation=lambda width, _, wraps: [("class:prompt", ("" if wraps else "· ").rjust(width))],
            key_bindings=bindings(self._pastes, first, host.toggle_thinking, self._put_aside),
            input_processors=[_Sanitizer()],
            vi_mode=vi,
            cursor=ModalCursorShapeConfig() if vi else None,
            enable_suspend=True,
            tempfile_suffix=".md",
            search_ignore_case=True,
            bottom_toolbar=self._toolbar,
            style=_STYLE,
            color_depth=None if color else ColorDepth.DEPTH_1_BIT,
        )
        self._session.app.ttimeoutlen = _ESCAPE_SECONDS
        self._session.app.after_render += lambda _: host.prompt_painted()
        self._session.default_buffer.on_text_changed += lambda _: host.text_changed()
        self._session.default_buffer.on_completions_changed += first.take
        self._accept_handler = self._session.default_buffer.accept_handler
        self._session.default_buffer.accept_handler = self._accept

    @property
    def buffer(self) -> Buffer:
        return self._session.default_buffer

    @property
    def width(self) -> int:
        return self._session.output.get_size().columns

    async def read(self, text: str = "", *, accept: bool = False) -> str:
        """Prompt for a message, with `text` to begin with; with `accept`, that is the message.

        Raises EOFError for Ctrl-D, KeyboardInterrupt for Ctrl-C.
        """
        self._session.reserve_space_for_menu = menu_rows(self._session.output.get_size().rows)
        typed = await self._session.prompt_async(default=text, accept_default=accept)
        return self._pastes.expand(typed)

    def take_early_keys(self) -> None:
        """Let the next prompt begin with what was typed before.

        The Enter that the terminal has made a line feed is the Enter it was.
        """
        presses = self._session.input.read_keys()
        enter = KeyPress(Keys.ControlM, "\r")
        self._keep([enter if press.key == Keys.ControlJ else press for press in presses])

    @contextmanager
    def listening(self, toggle_thinking: Callable[[], None], stop: Callable[[], object]) -> Iterator[None]:
        """Keep keys for the next prompt while the body runs in an event loop; Ctrl-T and Esc act at once.

        Not after Ctrl-V, which lets the next prompt insert them; and Esc is vi's own where something was typed ahead.
        """
        typed: list[KeyPress] = []
        loop = asyncio.get_running_loop()
        waiting: asyncio.TimerHandle | None = None
        acts = [stop]

        def hear() -> None:
            nonlocal waiting
            if waiting:
                waiting.cancel()
            take(keyboard.read_keys())
            waiting = loop.call_later(_ESCAPE_SECONDS, lambda: take(keyboard.flush_keys()))

        def take(presses: list[KeyPress]) -> None:
            for press in without_replies(presses):
                is_quoted = bool(typed) and typed[-1].key == Keys.ControlV
                if press.key == Keys.ControlT and not is_quoted:
                    toggle_thinking()
                elif is_escape(presses) and not is_quoted and not (typed and self._is_vi):
                    acts[0]()
                else:
                    typed.append(press)
                    self._keep([press])

        keyboard, screen = self._session.input, self._session.output
        screen.enable_bracketed_paste()
        screen.flush()
        try:
            with keyboard.attach(hear):
                yield
        finally:
            if waiting:
                waiting.cancel()
            acts[0] = lambda: None
            take(keyboard.flush_keys())
            screen.disable_bracketed_paste()
            screen.flush()

    @property
    def _is_vi(self) -> bool:
        return self._session.app.editing_mode == EditingMode.VI

    def _keep(self, presses: list[KeyPress]) -> None:
        store_typeahead(self._session.input, presses)

    def hold_typed(self) -> None:
        """Let what was typed ahead stand in the next prompt instead of being sent by it."""
        presses = get_typeahead(self._session.input)
        held = [KeyPress(Keys.ControlJ, "\n") if press.key == Keys.ControlM else press for press in presses]
        while held and held[-1].key == Keys.ControlJ:
            held.pop()
        self._keep(held)

    def _accept(self, buffer: Buffer) -> bool:
        self._host.text_accepted(self._pastes.expand(buffer.text))
        self._history.session_id = self._host.session_id
        return self._accept_handler(buffer) if self._accept_handler else False

    def _put_aside(self, text: str) -> None:
        self._history.put_aside(text)
        self._host.text_dropped()

    async def ask(self, question: str) -> str:
        """Ask for a yes or a no, which does not enter the history: y and n alone, without Enter, or a line.

        What was typed before it is no answer; what came along with the key, such as an Enter, goes with it.
        """
        typed = get_typeahead(self._session.input)
        try:
            return await PromptSession[str](key_bindings=answer_bindings()).prompt_async(question)
        finally:
            get_typeahead(self._session.input)
            self._keep(typed)

    async def pick(self, title: str, rows: Sequence[PickRow], further: Further) -> int | None:
        """Let the user choose one of the rows; None if none was chosen."""
        return await pick(title, rows, further, color=self._color)

    def redraw(self) -> None:
        """Draw the status bar anew. Thread-safe."""
        self._act_soon(self._session.app.invalidate)

    def offer_again(self) -> None:
        """Compute the menu anew where none is open, because there may be more to offer. Thread-safe."""
        self._act_soon(self._offer)

    def _act_soon(self, act: Callable[[], None]) -> None:
        """Act in the loop of an open prompt; in a thread even `invalidate` fails where the prompt ends meanwhile."""
        if loop := self._session.app.loop:
            with suppress(RuntimeError):  # the loop was closed in between
                loop.call_soon_threadsafe(act)

    def _offer(self) -> None:
        if not (self._session.app.is_running and self.buffer.text):
            return
        menu = self.buffer.complete_state
        if menu is None:
            self.buffer.start_completion()
        elif not menu.completions:  # is being computed, perhaps of what there was before
            asyncio.get_running_loop().call_later(0.05, self._offer)

    def _toolbar(self) -> StyleAndTextTuples:
        app = self._session.app
        if not self._is_vi:
            return [("", f" {self._host.status_line(self.width - 2)}")]
        match app.vi_state.input_mode:
            case _ if app.current_buffer.selection_state:
                mode = "VISUAL"
            case InputMode.INSERT | InputMode.INSERT_MULTIPLE:
                mode = "INSERT"
            case InputMode.REPLACE | InputMode.REPLACE_SINGLE:
                mode = "REPLACE"
            case _:
                mode = "NORMAL"
        status = self._host.status_line(self.width - len(mode) - 5)
        return [("", " "), ("class:mode", mode), ("", f" · {status}" if status else "")]


def status_of(
    conversation: Conversation,
    width: int,
    *,
    vault: str,
    session: Session | None,
    activity: str = "",
    is_measured: bool = True,
) -> str:
    """The bar of a chat; of the context nothing without a model, nor until it can be measured without a delay."""
    has_window = is_measured and not conversation.model.needs_notes
    return status_line(
        width,
        vault=vault,
        model=conversation.model.shown,
        session=session.title if session else "",
        usage=conversation.usage if has_window else None,
        activity=activity,
        may_write=conversation.writing.is_on,
    )


def status_line(
    width: int,
    *,
    vault: str,
    model: str,
    session: str = "",
    usage: ContextUsage | None = None,
    activity: str = "",
    may_write: bool = False,
) -> str:
    """The status in one line. On a narrow screen the least important is dropped: vault, then session, then model.

    `activity` is what is done in the background; `may_write`: the model may propose changes to notes.
    """
    filled = f"{'≈ ' * usage.estimated}{100 * usage.total // usage.window}" if usage and usage.window else ""
    pieces = [
        *(truncate_cells(sanitize_line(name), 30) for name in (vault, model, session)),
        f"context {filled} % of {usage.window:,}" if usage and filled else "",
        sanitize_line(activity),
        "write" if may_write else "",
    ]
    pieces[2] = pieces[2] or "new session"
    for dropped in ((), (0,), (0, 2), (0, 1, 2), (0, 1, 2, 4)):
        line = _SEPARATOR.join(piece for place, piece in enumerate(pieces) if piece and place not in dropped)
        if get_cwidth(line) <= width:
            return line
    return truncate_cells(pieces[3], width)
