"""Pictures of what is drawn, at 40, 80 and 120 columns, with colour and without.

To take a picture anew, delete its file and run the test twice: the first run writes it, and asks for a look at it.
"""

from itertools import product
from pathlib import Path

import pytest
from rich.console import Console

from tests.support.screens import Clock, a_usage, an_answer, in_chunks, on_screen, streamed, terminal, written
from zkchat.model.choices import ToolName
from zkchat.model.events import TextDelta, ThinkingDelta, ToolFinished, ToolStarted, TurnFinished, Warned
from zkchat.model.message import DocumentReference, LineRange
from zkchat.render.context_bar import context_bar
from zkchat.render.markdown.stream import MarkdownStream
from zkchat.render.presenters.screen import ScreenPresenter
from zkchat.render.references import references_panel

FOLDER = Path(__file__).parent
ANSWER = (FOLDER / "answer.md").read_text(encoding="utf-8")
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
    *(
        DocumentReference(
            wikilink=f"[[Dream {number}]]",
            relative_path=f"dreams/Dream {number}.md",
            reference_type="search",
            via=ToolName("find_excerpts"),
            score=0.5,
            snippet="… a [b]dream[/b] is **not** a memory …",
            hits=number,
        )
        for number in range(1, 9)
    ),
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


def draw_turn(console: Console) -> None:
    presenter = ScreenPresenter(console, console, clock=Clock())
    for event in (
        ThinkingDelta(text="The user asks about sleep."),
        ToolStarted(call_id="1", name="find_excerpts", arguments='{"query": "sleep and memory", "limit": 4}'),
        ToolFinished(call_id="1", name="find_excerpts", summary="4 passages"),
        Warned(text="notes/Broken.md: the frontmatter is no YAML.", hint="It was read without it."),
        TextDelta(text="Sleep **helps**, see [[Sleep and memory#Phases]].\n"),
        TurnFinished(message=an_answer("", *REFERENCES[:2]), usage=a_usage()),
    ):
        presenter.show(event)


KINDS = {"auto": "color", "never": "plain"}
SUBJECTS = {"answer": draw_answer, "references": draw_references, "context": draw_context, "turn": draw_turn}


@pytest.mark.parametrize("color", KINDS)
@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_it_looks_as_it_did(subject: str, width: int, color: str) -> None:
    console = terminal(width, color=color)
    SUBJECTS[subject](console)
    picture = written(console).replace("\x1b", "␛").replace("\r", "␍")
    file = FOLDER / "snapshots" / f"{subject}-{width}-{KINDS[color]}.txt"
    if not file.exists():
        file.write_text(picture, encoding="utf-8")
        pytest.fail(f"{file.name} is new: look at it, and run the test again")
    assert picture == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("size", [3, 11, 64])
def test_the_answer_looks_the_same_in_small_chunks(size: int, width: int) -> None:
    whole = on_screen(streamed([ANSWER], width), width)
    assert on_screen(streamed(in_chunks(ANSWER, size), width), width) == whole


def test_no_picture_is_left_over() -> None:
    names = product(SUBJECTS, (40, 80, 120), KINDS.values())
    expected = {f"{subject}-{width}-{kind}.txt" for subject, width, kind in names}
    assert {file.name for file in (FOLDER / "snapshots").iterdir()} <= expected
