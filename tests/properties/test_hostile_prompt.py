"""Nothing that notes, models, sessions or servers are called acts on the terminal while the user types."""

import asyncio
import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent, Completion
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import to_plain_text
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output

from tests.support.libraries import library_of
from tests.support.prompts import RecordingHost
from tests.support.screens import a_usage, what_acts_on_a_terminal
from tests.support.terminal_payloads import PAYLOADS
from tests.support.waiting import eventually_async
from zkchat.cli.interactive_chat import greeting
from zkchat.core.prompt import ModelInfo
from zkchat.core.session import Session
from zkchat.index.library import Library
from zkchat.render.sanitize import sanitize_in_place, sanitize_text
from zkchat.repl.completion import MenuCompleter
from zkchat.repl.note_names import NameCache, NamedNote, NoteNames
from zkchat.repl.prompt import Prompt, status_line

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("payload", PAYLOADS, ids=ascii)
def test_the_bar_the_greeting_and_the_rows_of_the_menu_show_it(payload: str) -> None:
    line = status_line(250, vault=payload, model=payload, session=payload, activity=payload, usage=a_usage())
    assert what_acts_on_a_terminal(line) == set()
    session = Session(id="s1", title=payload, created_at=NOW, updated_at=NOW)
    model = ModelInfo(provider=payload, id=payload)
    for known in ((session, None), (None, session)):
        lines = greeting(vault=payload, notes=1, model=model, session=known[0], last=known[1], now=NOW)
        assert len(lines) <= 5
        assert [line for line in lines if what_acts_on_a_terminal(line) or "\n" in line] == []
    menu = menu_of(payload)
    offered = [row for before in ("[[", "see @", "/", "@") for row in rows(menu, before)]
    assert len(offered) == 5
    for row in offered:
        text = to_plain_text(row.display) + to_plain_text(row.display_meta)
        assert what_acts_on_a_terminal(text) == set()
        assert "\n" not in text


class Named(NameCache):
    """A cache with one note, whose every name is the payload."""

    def __init__(self, payload: str) -> None:
        super().__init__()
        self._names = NoteNames([NamedNote(path=f"{payload}/{payload}.md", title=payload, aliases=(payload,))])


class PayloadSource:
    """Implements `CompletionSource`: commands and agents are called like the payload."""

    def __init__(self, payload: str, library: Library | None) -> None:
        self._payload = payload
        self._library = library
        self.agent_names = [payload]
        self.resources = [(f"@web:{payload}", payload)]

    @property
    def library(self) -> Library:
        assert self._library is not None
        return self._library

    def complete_command(self, _line: str) -> list[tuple[str, str]]:
        return [(f"/{self._payload}", self._payload)]


def menu_of(payload: str, library: Library | None = None) -> MenuCompleter:
    return MenuCompleter(Named(payload), PayloadSource(payload, library))


def rows(menu: MenuCompleter, before: str) -> list[Completion]:
    return list(menu.get_completions(Document(before), CompleteEvent()))


def test_headings_and_blocks_are_shown_as_well(tmp_path: Path) -> None:
    harmless = [payload for payload in PAYLOADS if payload.isprintable() or "\x1b[31m" in payload]
    with library_of(tmp_path, {"Note.md": "\n\n".join(f"# {payload}" for payload in harmless)}) as library:
        offered = rows(menu_of("x", library), "[[Note#")
    assert offered
    assert all(what_acts_on_a_terminal(to_plain_text(row.display)) == set() for row in offered)


class PayloadHost(RecordingHost):
    """Shows the payload in the status bar."""

    def __init__(self, payload: str) -> None:
        super().__init__()
        self._payload = payload

    def status_line(self, width: int) -> str:
        return status_line(width, vault=self._payload, model=self._payload)


def written_while_typing(folder: Path, payload: str) -> str:
    """Every character that the prompt writes while the payload is in its bar, its menu and its text."""
    out = io.StringIO()

    async def type_() -> None:
        with create_pipe_input() as pipe:
            output = Vt100_Output(out, lambda: Size(rows=24, columns=80), term="xterm", enable_cpr=False)
            with create_app_session(input=pipe, output=output):
                prompt = Prompt(
                    PayloadHost(payload),
                    completer=menu_of(payload),
                    history_file=folder / "history",
                    keys=(),
                    vi=False,
                    color=True,
                )
                reading = asyncio.ensure_future(prompt.read(""))
                pipe.send_text("[[")
                await eventually_async(lambda: prompt.buffer.complete_state is not None)
                pipe.send_text("\t\r\r")
                await reading

    asyncio.run(asyncio.wait_for(type_(), 20))
    return out.getvalue()


@pytest.mark.parametrize("payload", PAYLOADS[::8], ids=ascii)
def test_a_note_chosen_from_the_menu_writes_none_of_it(tmp_path: Path, payload: str) -> None:
    text = written_while_typing(tmp_path, f"<{payload}")
    assert what_acts_on_a_terminal(text) <= {"\x08"}, "prompt_toolkit's way one column to the left"
    assert ("<" + payload in text) == (sanitize_text(payload) == payload)


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters()))
def test_edited_text_is_shown_character_by_character(text: str) -> None:
    assert what_acts_on_a_terminal(sanitize_in_place(text)) == set()
    assert len(sanitize_in_place(text)) == len(text)
