"""The line that the user types into, edited with prompt_toolkit."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from zkchat.render.sanitize import sanitize_in_place
from zkchat.repl.history import SharedHistory
from zkchat.repl.key_bindings import FirstOffer, bindings
from zkchat.repl.paste import Pastes

PROMPT: Final = "you › "
_STYLE: Final = Style.from_dict(
    {
        "prompt": "bold",
        "bottom-toolbar": "noreverse dim",
        "bottom-toolbar.text": "noreverse dim",
        "completion-menu.meta.completion": "bg:default fg:default dim",
    }
)


class _Shown(Processor):
    """What stands in the prompt may come from a note's name or a paste, and is shown like any other text."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        fragments: StyleAndTextTuples = [
            (style, sanitize_in_place(text)) for style, text, *_ in transformation_input.fragments
        ]
        return Transformation(fragments)


class Prompt:
    """Reads one message after the other. While it reads, nothing else may be written to the terminal."""

    def __init__(
        self,
        *,
        completer: Completer,
        history_file: Path,
        keys: tuple[str, ...],
        vi: bool,
        color: bool,
        bar: Callable[[int], str],
        painted: Callable[[], None],
    ) -> None:
        self.accepted: Callable[[str], None] = lambda _: None
        """Told each message as Enter is pressed, before anything is drawn."""
        self._pastes = Pastes()
        self._bar = bar
        self.history = SharedHistory(history_file, self._pastes, keys=keys)
        first = FirstOffer()
        self._session: PromptSession[str] = PromptSession(
            [("class:prompt", PROMPT)],
            history=self.history,
            completer=completer,
            complete_while_typing=True,
            complete_in_thread=True,
            multiline=True,
            prompt_continuation=_continuation,
            key_bindings=bindings(self._pastes, first),
            input_processors=[_Shown()],
            vi_mode=vi,
            enable_suspend=True,
            search_ignore_case=True,
            bottom_toolbar=self._toolbar,
            style=_STYLE,
            color_depth=None if color else ColorDepth.DEPTH_1_BIT,
        )
        self._session.app.after_render += lambda _: painted()
        self._session.default_buffer.on_completions_changed += first.take
        self._leave = self._session.default_buffer.accept_handler
        self._session.default_buffer.accept_handler = self._accept

    @property
    def buffer(self) -> Buffer:
        """What stands in the prompt."""
        return self._session.default_buffer

    @property
    def width(self) -> int:
        return self._session.output.get_size().columns

    async def read(self, text: str = "") -> str:
        """What the user sends, whole. `text` stands there already. Raises EOFError for Ctrl-D, KeyboardInterrupt."""
        typed = await self._session.prompt_async(default=text)
        return self._pastes.whole(typed)

    def _accept(self, buffer: Buffer) -> bool:
        self.accepted(self._pastes.whole(buffer.text))
        return self._leave(buffer) if self._leave else False

    async def ask(self, question: str) -> str:
        """A short answer, which is not remembered."""
        return await PromptSession[str]().prompt_async(question)

    def redraw(self) -> None:
        """Show what changed in the bar. Every thread may call it."""
        self._session.app.invalidate()

    def _toolbar(self) -> StyleAndTextTuples:
        return [("", f" {self._bar(self.width - 2)}")]


def _continuation(width: int, _line: int, wraps: int) -> StyleAndTextTuples:
    """A mark before a line that the user began, and none before one that only had no room."""
    return [("class:prompt", ("" if wraps else "· ").rjust(width))]
