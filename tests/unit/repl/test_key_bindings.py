"""The keys of the prompt, typed into a real one."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from threading import Event, Thread, current_thread

import pytest
from prompt_toolkit.application import Application, create_app_session, get_app, get_app_session
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, WordCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from tests.support.prompts import RecordingHost
from tests.support.waiting import eventually_async
from zkchat.repl.key_bindings import is_open
from zkchat.repl.prompt import Prompt

ESCAPE = "\x1b"
LONG = "\n".join(f"line {number}" for number in range(50))


SLEEP = WordCompleter(["[[Sleep|Slumber]]"], sentence=True)
Step = str | Callable[[Buffer], bool]
"""Keys to type, or what has to be so before the next ones are."""


def typed(
    folder: Path,
    *steps: Step,
    text: str = "",
    vi: bool = False,
    host: RecordingHost | None = None,
    completer: Completer = SLEEP,
) -> str:
    """What the prompt gives for these keys."""
    return at_prompt(folder, lambda prompt: prompt.read(text), *steps, vi=vi, host=host, completer=completer)


def at_prompt(
    folder: Path,
    act: Callable[[Prompt], Awaitable[str]],
    *steps: Step,
    vi: bool = False,
    host: RecordingHost | None = None,
    completer: Completer = SLEEP,
) -> str:
    async def read() -> str:
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
            prompt = Prompt(
                host or RecordingHost("status"),
                completer=completer,
                history_file=folder / "history",
                keys=(),
                vi=vi,
                color=False,
            )
            reading = asyncio.ensure_future(act(prompt))
            for step in steps:
                if isinstance(step, str):
                    pipe.send_text(step)
                else:
                    await eventually_async(lambda step=step: step(prompt.buffer))  # type: ignore[misc]
            return await reading

    return asyncio.run(asyncio.wait_for(read(), 60))


def test_names_that_come_while_the_menu_is_computed_without_them_are_offered(tmp_path: Path) -> None:
    asked, known = Event(), Event()

    class LateNames(Completer):
        def get_completions(self, document: Document, _event: CompleteEvent) -> Iterator[Completion]:
            names = ["Sleep"] if known.is_set() else []
            asked.set()
            known.wait()
            yield from (Completion(name, start_position=-len(document.text)) for name in names)

    async def read(prompt: Prompt) -> str:
        reading = asyncio.ensure_future(prompt.read(""))
        await eventually_async(asked.is_set)
        prompt.offer_again()
        await asyncio.sleep(0)
        known.set()
        return await reading

    steps = ("Sl", lambda menu: bool(menu.complete_state and menu.complete_state.completions), "\t\r\r")
    assert at_prompt(tmp_path, read, *steps, completer=LateNames()) == "Sleep"


def test_what_a_thread_has_drawn_anew_is_drawn_in_the_loop_of_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn_in: list[Thread] = []

    async def read(prompt: Prompt) -> str:
        reading = asyncio.ensure_future(prompt.read(""))
        await eventually_async(lambda: get_app().is_running)
        monkeypatch.setattr(Application, "invalidate", lambda _: drawn_in.append(current_thread()))
        await asyncio.to_thread(prompt.redraw)
        await eventually_async(lambda: bool(drawn_in))
        get_app().exit(result="")
        return await reading

    at_prompt(tmp_path, read)
    assert set(drawn_in) == {current_thread()}


def has_menu(buffer: Buffer) -> bool:
    return buffer.complete_state is not None


def pasted(text: str) -> str:
    return f"{ESCAPE}[200~{text}{ESCAPE}[201~"


ALT_ENTER, CTRL_J, KITTY_SHIFT_ENTER, XTERM_SHIFT_ENTER = f"{ESCAPE}\r", "\n", f"{ESCAPE}[13;2u", f"{ESCAPE}[27;2;13~"


def has_seen_escape(_: Buffer) -> bool:
    """Whether Esc is a key by itself by now, and waits for another one."""
    return bool(get_app().key_processor.key_buffer)


@pytest.mark.parametrize("vi", [False, True])
def test_every_key_for_a_new_line_begins_one(tmp_path: Path, vi: bool) -> None:
    keys = f"1{ALT_ENTER}2{CTRL_J}3{KITTY_SHIFT_ENTER}4{XTERM_SHIFT_ENTER}5\\\r6\r"
    assert typed(tmp_path, keys, vi=vi) == "1\n2\n3\n4\n5\n6"
    if not vi:
        assert typed(tmp_path, f"one{ESCAPE}", has_seen_escape, "\rtwo\r") == "one\ntwo"


@pytest.mark.parametrize("keys", [f"{ESCAPE}{ESCAPE}", "\x03"])
def test_a_prompt_is_emptied_and_up_brings_the_text_back(tmp_path: Path, keys: str) -> None:
    host = RecordingHost()
    emptied = ("half a thought", has_text, keys, lambda buffer: not buffer.text)
    assert typed(tmp_path, *emptied, "other\r", host=host) == "other"
    assert (host.times_dropped, host.accepted) == (1, ["other"])
    assert "half" not in (tmp_path / "history").read_text()
    assert typed(tmp_path, *emptied, f"{ESCAPE}[A", has_text, "!\r") == "half a thought!"


def has_text(buffer: Buffer) -> bool:
    return bool(buffer.text)


def press(keys: str) -> None:
    """Type while no prompt is shown."""
    pipe = get_app_session().input
    assert isinstance(pipe, PipeInput)
    pipe.send_text(keys)


def is_read(_: Buffer) -> bool:
    """Whether a prompt is shown."""
    return get_app().is_running


async def press_in_turn(prompt: Prompt, keys: str, times_toggled: int = 1) -> None:
    """Type during a turn, Ctrl-T at last, until all of it was heard."""
    toggled: list[int] = []
    with prompt.listening(lambda: toggled.append(1), lambda: None):
        press(f"{keys}\x14")
        await eventually_async(lambda: len(toggled) == times_toggled)


def test_keys_typed_before_the_prompt_come_first_with_enter_as_enter(tmp_path: Path) -> None:
    async def act(prompt: Prompt) -> str:
        press(f"early{ESCAPE}[D!\nnext")
        prompt.take_early_keys()
        return f"{await prompt.read()} {await prompt.read()}"

    assert at_prompt(tmp_path, act, lambda buffer: buffer.text == "next", "\r") == "earl!y next"


@pytest.mark.parametrize("steps", [[f"{ESCAPE}[201~!\r"], [f"{ESCAPE}[201~", "!\r"]])
def test_lines_whose_paste_began_before_the_prompt_was_there_are_not_sent_one_by_one(
    tmp_path: Path, steps: list[str]
) -> None:
    async def act(prompt: Prompt) -> str:
        press(f"{ESCAPE}[200~one\r/delete\rthree")
        prompt.take_early_keys()
        return await prompt.read()

    assert at_prompt(tmp_path, act, is_read, *steps) == "one\n/delete\nthree!"


def test_during_a_turn_ctrl_t_acts_at_once_and_the_rest_waits_for_the_prompt(tmp_path: Path) -> None:
    async def act(prompt: Prompt) -> str:
        await press_in_turn(prompt, "Tä\x14glich?\r", times_toggled=2)
        await press_in_turn(prompt, pasted("one\r/quit\r"))
        return f"{await prompt.read()} {await prompt.read()}"

    sent = at_prompt(tmp_path, act, lambda buffer: buffer.text == "one\n/quit\n", "two\r")
    assert sent == "Täglich? one\n/quit\ntwo"


def test_after_a_stop_what_was_typed_ahead_waits_in_the_prompt(tmp_path: Path) -> None:
    async def act(prompt: Prompt) -> str:
        await press_in_turn(prompt, "three\rfour\r")
        prompt.hold_typed()
        return await prompt.read()

    assert at_prompt(tmp_path, act, lambda buffer: buffer.text == "three\nfour", "!\r") == "three\nfour!"


def test_what_was_typed_ahead_answers_no_question(tmp_path: Path) -> None:
    async def act(prompt: Prompt) -> str:
        await press_in_turn(prompt, "y\r")
        answer = await prompt.ask("Write it? [y/N] ")
        return f"{answer} {await prompt.read()}"

    assert at_prompt(tmp_path, act, is_read, "n") == "n y"
    assert at_prompt(tmp_path, act, is_read, "n\r") == "n y", "an Enter that comes along is no message"


def test_enter_in_an_open_fence_goes_on_in_it(tmp_path: Path) -> None:
    assert typed(tmp_path, "```py\rx = 1\r```\r") == "```py\nx = 1\n```"


@pytest.mark.parametrize(
    ("text", "open_"),
    [("```py\nx", True), ("```\nx\n```", False), ("````\n```\n", True), ("~~~\n```\n~~~", False), ("a ``` b", False)],
)
def test_a_fence_is_open_until_it_is_closed(text: str, open_: bool) -> None:
    assert is_open(text) is open_


def test_ctrl_c_empties_the_line_and_at_an_empty_one_is_raised(tmp_path: Path) -> None:
    assert typed(tmp_path, "never\x03sent\r") == "sent"
    with pytest.raises(KeyboardInterrupt):
        typed(tmp_path, "\x03")


@pytest.fixture
def loud_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor that only knows capitals."""
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ntr a-z A-Z < "$1" > "$1.new" && mv "$1.new" "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)


@pytest.mark.outside
@pytest.mark.usefixtures("loud_editor")
@pytest.mark.parametrize(("vi", "editor"), [(False, "\x18\x05"), (True, "\x07")])
def test_a_long_message_is_written_in_the_editor(tmp_path: Path, vi: bool, editor: str) -> None:
    keys = f"loud {pasted(LONG)}{editor}"
    assert typed(tmp_path, keys, lambda buffer: "LOUD" in buffer.text, "\r", vi=vi) == f"LOUD {LONG.upper()}"


def is_chosen(buffer: Buffer) -> bool:
    return buffer.complete_state is not None and buffer.complete_state.complete_index == 0


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (("[[", has_menu, "\t\r\r"), "[[Sleep|Slumber]]"),  # Enter takes it, and the next one sends it
        (("[[Sl\t", is_chosen, "\r\r"), "[[Sleep|Slumber]]"),  # of a menu that is still to come
        (("[[", has_menu, "\t#Phases]]\r"), "[[Sleep#Phases]]"),
    ],
)
def test_a_chosen_note_is_taken_by_enter_and_gone_on_with_by_a_hash(
    tmp_path: Path, steps: tuple[Step, ...], text: str
) -> None:
    assert typed(tmp_path, *steps) == text


@pytest.mark.parametrize(
    ("keys", "text"), [("@O\t//", "@Old/"), ('@"M\t/', '@"My tools/'), ("@O\t /", "@Old/ /"), ("@p\t/x", "@poet/x")]
)
def test_a_slash_after_a_chosen_folder_goes_on_inside_it(tmp_path: Path, keys: str, text: str) -> None:
    completer = WordCompleter(["@Old/", '@"My tools/"', "@poet"], sentence=True)
    begun, _, rest = keys.partition("\t")
    assert typed(tmp_path, begun, has_menu, f"\t{rest}\r", completer=completer) == text + ("/" if rest == "//" else "")
