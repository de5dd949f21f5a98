"""Pictures of what is drawn: on a narrow screen with colour, and on a wide one without.

To take a picture anew, delete its file and run the test twice: the first run writes it, and asks for a look at it.
"""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console

from tests.support.command_harness import CommandHarness
from tests.support.libraries import library_of
from tests.support.screens import Clock, a_usage, an_answer, in_chunks, on_screen, streamed, terminal, written
from tests.support.world import GARDEN
from tests.unit.render.markdown.test_wikilinks import Vault
from zkchat.app.document_links import VaultDocumentLinks
from zkchat.core.choices import ToolName
from zkchat.core.events import (
    Compacted,
    Compacting,
    Event,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    Warned,
)
from zkchat.core.message import CompactionPart, DocumentReference, LineRange
from zkchat.index.library import Library
from zkchat.render.context import AnswerFooter, context_bar
from zkchat.render.links import NO_LINKS, ClickableLinks
from zkchat.render.markdown import MarkdownStream, note_rows
from zkchat.render.presenters.screen import ScreenPresenter
from zkchat.render.references import references_panel
from zkchat.repl.commands.table import run
from zkchat.repl.surface import DrawnSurface

FOLDER = Path(__file__).parent
ANSWER = (FOLDER / "answer.md").read_text(encoding="utf-8")
NOTE = (FOLDER / "note.md").read_text(encoding="utf-8")


def searched(name: str, folder: str = "notes", **fields: Any) -> DocumentReference:
    path, via = f"{folder}/{name}.md", ToolName("find_excerpts")
    found = DocumentReference(wikilink=f"[[{name}]]", relative_path=path, reference_type="search", via=via, score=0.5)
    return replace(found, **fields)


REFERENCES = (
    DocumentReference(
        wikilink="[[Sleep and memory#Phases]]",
        relative_path="notes/Sleep and memory.md",
        anchor="Phases",
        lines=LineRange(first=12, last=30),
        summary="Sleep consolidates what was learned during the day; slow waves matter most for facts.",
        cited=True,
    ),
    DocumentReference(wikilink="[[Nap]]", status="missing", candidates=("[[Naps]]", "[[Map]]")),
    DocumentReference(
        wikilink="[[Index]]", relative_path="a/Index.md", status="ambiguous", candidates=("b/Index.md", "c/Index.md")
    ),
    DocumentReference(wikilink="[[日記#夢]]", relative_path="日記.md", anchor="夢", anchor_found=False),
    *(searched(f"Dream {n}", "dreams", snippet="… a [b]dream[/b] is **not** a memory …", hits=n) for n in range(1, 9)),
)


def draw_answer(console: Console) -> None:
    clock = Clock()
    stream = MarkdownStream(console, clock=clock)
    clock.now = -1  # too early for a frame: everything is drawn once, at the end
    stream.feed(ANSWER)
    stream.finish()


def draw_references(console: Console) -> None:
    console.print(references_panel(REFERENCES))


def draw_context(console: Console) -> None:
    for usage in (a_usage(memory=200, estimated=True), a_usage(messages=5_200), a_usage(window=0)):
        console.print(context_bar(usage, width=console.width))


def play(console: Console, *events: Event, **options: Any) -> None:
    """A turn of a chat below its question, one event in a second."""
    clock = Clock()
    presenter = ScreenPresenter(console, console, clock=clock, is_marked=True, **options)
    console.print("you › What does sleep do for memory?")
    for event in events:
        clock.now += 1
        presenter.show(event)
    presenter.close()


def finished(*references: DocumentReference, provider: str = "ollama", **usage: Any) -> TurnFinished:
    message = replace(an_answer("", *references), provider=provider)
    return TurnFinished(message=message, usage=a_usage(**usage))


def call(number: int, name: str, arguments: str, result: str, *, failed: bool = False) -> tuple[Event, Event]:
    return (
        ToolStarted(call_id=str(number), name=name, arguments=arguments),
        ToolFinished(call_id=str(number), name=name, summary=result, failed=failed),
    )


CITED = (
    *(
        searched(name, lines=LineRange(first=line, last=line + 9), cited=True, included=True)
        for name, line in (("Sleep and memory", 12), ("Naps", 5), ("日記", 40))
    ),
    *REFERENCES[1:3],
    *(searched(f"Dream {number}", "dreams", included=True) for number in range(1, 10)),
)
SENTENCE = TextDelta(text="Sleep **helps** memory, says [[Sleep and memory]]; see [[Naps]] and [[日記]].\n")
QUOTED = (
    "> Sleep consolidates what was learned during the day; slow waves matter most for facts.\n\n"
    "— [[Sleep and memory]] › Phases\n\n> 夢を書き留める。\n\n— [[日記]]\n"
)
CALLS = (
    *call(1, "find_excerpts", '{"query": "sleep and memory", "limit": 4}', "4 passages"),
    *call(2, "list_documents", '{"folder": "notes"}', "12 notes"),
    *call(3, "read_document", '{"relative_path": "Nap"}', "There is no note 'Nap'.", failed=True),
)
THOUGHT = ThinkingDelta(text="The user asks about sleep. I should look at the notes first.")


PART = CompactionPart(number=2, summary="…", archived=("a", "b", "c"), tokens_before=5000, tokens_after=1200)
COMPACTED = Compacted(message=replace(an_answer(), parts=(PART,)))
WARNING = Warned(text="notes/Broken.md: the frontmatter is no YAML.", hint="It was read without it.")
FAILED = TurnFailed(
    text="The answer from ollama:qwen3:8b was cut off.", hint="What arrived is kept. /retry asks again."
)
TURNS: dict[str, list[tuple[tuple[Event, ...], dict[str, Any]]]] = {
    "turn": [((SENTENCE, finished(*CITED)), {})],
    "full": [((SENTENCE, finished(*CITED)), {"footer": AnswerFooter(panel="full")})],
    "quote": [((TextDelta(text=QUOTED), finished(CITED[0], CITED[2], REFERENCES[1], provider="quote")), {})],
    "tools": [((*CALLS, WARNING, SENTENCE, finished(CITED[0], *CITED[5:9])), {})],
    "thinking": [
        ((THOUGHT, *CALLS[:2], THOUGHT, SENTENCE, finished(CITED[0], messages=4_504)), {}),
        ((THOUGHT, SENTENCE), {"thinking": lambda: "shown"}),
    ],
    "compaction": [((Compacting(messages=3, tokens=7_100), COMPACTED, SENTENCE, finished(CITED[0])), {})],
    "error": [((*CALLS[:2], TextDelta(text="Sleep **helps** mem"), FAILED), {})],
}
"""Turns of a chat, one below the other."""


def draw_turns(console: Console, name: str) -> None:
    for turn, options in TURNS[name]:
        play(console, *turn, **options)


class Nobody:
    """Who answers no question."""

    can_pick = False

    async def ask(self, _question: str) -> str:
        raise EOFError

    async def pick(self, _title: str, _rows: object, _further: object) -> int | None:
        return None


def type_command(console: Console, line: str, harness: CommandHarness, links: ClickableLinks = NO_LINKS) -> None:
    asyncio.run(run(replace(harness.context, surface=DrawnSurface(console, Nobody(), None, links)), line))


def draw_stats(console: Console) -> None:
    harness = CommandHarness()
    harness.exchange("What is sleep?", "Rest.")
    harness.conversation.usage = a_usage()
    type_command(console, "/stats", harness)


def draw_note(console: Console) -> None:
    rows = note_rows(console, NOTE, links=Vault())
    assert all(row.cells <= console.width for row in rows)
    console.file.writelines(f"{row.text}\n" for row in rows)


SUBJECTS: dict[str, Callable[[Console], None]] = {
    "answer": draw_answer,
    "references": draw_references,
    "context": draw_context,
    **{name: partial(draw_turns, name=name) for name in TURNS},
    "stats": draw_stats,
    "note": draw_note,
}
COMMANDS = {
    "search": "/search light in the bedroom",
    "show": "/show [[Sourdough starter]]",
    "links": "/links [[Sourdough starter]]",
}
COLORS = {40: "auto", 100: "never"}
"""By the width of the screen."""


def compare(console: Console, subject: str) -> None:
    picture = written(console).replace("\x1b", "␛").replace("\r", "␍")
    file = FOLDER / "snapshots" / f"{subject}-{console.width}.txt"
    if not file.exists():
        file.write_text(picture, encoding="utf-8")
        pytest.fail(f"{file.name} is new: look at it, and run the test again")
    assert picture == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", COLORS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_it_looks_as_it_did(subject: str, width: int) -> None:
    console = terminal(width, color=COLORS[width])
    SUBJECTS[subject](console)
    compare(console, subject)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("garden")
    shutil.copytree(GARDEN, folder / "vault")
    with library_of(folder, {}) as library:
        yield library


@pytest.mark.parametrize("width", COLORS)
@pytest.mark.parametrize("subject", COMMANDS)
def test_a_list_of_the_garden_looks_as_it_did(library: Library, subject: str, width: int) -> None:
    console = terminal(width, 40, color=COLORS[width])
    links = VaultDocumentLinks(Path("/garden"), library)
    type_command(console, COMMANDS[subject], CommandHarness(library=library), links)
    compare(console, subject)


@pytest.mark.parametrize("width", [100, 200])
def test_a_turn_with_tools_takes_at_most_eight_lines_with_its_question(width: int) -> None:
    console = terminal(width)
    play(console, *CALLS, TextDelta(text="Sleep helps."), finished(CITED[0], *CITED[5:9]))
    console.print()  # stands before the next question
    assert len(on_screen(written(console) + "you ›", width)) - 1 <= 8


@pytest.mark.parametrize(("size", "width"), [(3, 40), (64, 80)])
def test_the_answer_looks_the_same_in_small_chunks(size: int, width: int) -> None:
    whole = on_screen(streamed([ANSWER], width), width)
    assert on_screen(streamed(in_chunks(ANSWER, size), width), width) == whole


def test_no_picture_is_left_over() -> None:
    expected = {f"{subject}-{width}.txt" for subject, width in product({**SUBJECTS, **COMMANDS}, COLORS)}
    assert {file.name for file in (FOLDER / "snapshots").iterdir()} == expected
