"""What is drawn: no text acts on the terminal, and an answer looks the same in whatever pieces it arrives."""

from tests.fuzz import mutation
from tests.fuzz.case import Case, Folders, Target, require
from tests.support.screens import on_screen, streamed, what_acts_on_a_terminal
from zkchat.core.prompt import TextChunk
from zkchat.models.completions import ThinkingSplitter
from zkchat.render.markdown_parser import BlockSplitter
from zkchat.render.sanitize import sanitize_in_place, sanitize_line, sanitize_text

LONGEST_DRAWN = 1_500
"""Characters: a screen in memory is slow, and draws each piece again."""


def sanitizer(case: Case, text: str) -> None:
    for made in (sanitize_text(text), sanitize_line(text), sanitize_in_place(text)):
        require(not what_acts_on_a_terminal(made), "nothing that is shown acts on a terminal", repr(made))
    pieces = mutation.pieces_of(case.rng, text)
    require("".join(map(sanitize_text, pieces)) == sanitize_text(text), "text may be sanitized piece by piece")


def screen(case: Case, text: str) -> None:
    text = text[:LONGEST_DRAWN]
    width = case.rng.choice((1, 8, 40, 80))
    whole = streamed([text], width)
    require(not what_acts_on_a_terminal(whole), "no answer acts on the terminal", repr(whole))
    pieces = mutation.pieces_of(case.rng, text, 8)
    require(
        on_screen(streamed(pieces, width), width) == on_screen(whole, width),
        "an answer looks the same in whatever pieces it arrives",
        repr(pieces),
    )


def blocks(case: Case, text: str) -> None:
    def settled(pieces: list[str]) -> list[list[str]]:
        cut = BlockSplitter()
        done = []
        for piece in pieces:
            cut.add(piece)
            done += cut.take_final()
        return [[f"{token.type} {token.content}" for token in piece.tokens] for piece in (*done, *cut.close())]

    text = sanitize_text(text[:20_000])
    whole, parts = settled([text]), settled(mutation.pieces_of(case.rng, text, 8))
    require(whole == parts, "where an answer is cut into blocks depends on its text alone")


def thinking(case: Case, text: str) -> None:
    def split(pieces: list[str]) -> tuple[str, str]:
        splitter = ThinkingSplitter()
        chunks = [*(chunk for piece in pieces for chunk in splitter.feed(piece)), *splitter.end()]
        answer = "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))
        return answer, "".join(chunk.text for chunk in chunks if not isinstance(chunk, TextChunk))

    text = case.rng.choice(("", " <think>", "<think>a</think>")) + text
    require(split([text]) == split(mutation.pieces_of(case.rng, text)), "thinking is told apart wherever it is cut")


class Rendering:
    def run(self, case: Case) -> None:
        draw = case.rng.choice((sanitizer, screen, screen, blocks, thinking))
        text = mutation.text(case.rng, 20_000)
        case.note(f"{draw.__name__}.txt", text)
        draw(case, text)


def make(_folders: Folders) -> Target:
    streamed(["```python\nx = 1\n```\n| a |\n|---|\n| b |\n"])
    return Rendering()
