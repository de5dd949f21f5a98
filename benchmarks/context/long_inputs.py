"""Whether the line that answers reaches the model, of forty inputs that are far longer than the window.

    python -m benchmarks.context.long_inputs [--seeds N] [--first SEED] [--half even|odd] [--tools] [--misses]

Logs, tables, JSON, code, Chinese and Japanese, transcripts, commits and prose of some 80,000 characters each, with a
question before them. What counts is the request that a conversation makes, for a model without or with tools. Beside it
stand the message condensed to the room of such a window, and its beginning and end. Weights were chosen on the even
inputs of seed 1; the odd ones and other seeds measure them.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.context.long_input_cases import LongInput, long_inputs
from tests.support.conversations import Reciting, conversation_over, events_of
from tests.support.libraries import library_of
from tests.support.sessions import SessionsInMemory
from zkchat.chat import CachedTokenizer, condense_message, tokenizer_for
from zkchat.index import Library

WINDOWS = (4_096, 8_192)
BESIDE = 512 + 700
"""Tokens of a window for the answer, the instructions and the tools, where no request is made."""
HALVES = {"even": slice(0, None, 2), "odd": slice(1, None, 2)}

Shorten = Callable[[LongInput, int], str]
"""From an input and a window to what of it is sent."""
TOKENIZER = CachedTokenizer(tokenizer_for("o200k_base"))
count = TOKENIZER.count


def by_request(library: Library, *, calls_tools: bool) -> Shorten:
    """The last message of the request that a conversation makes of an input."""

    def sent(case: LongInput, window: int) -> str:
        model = Reciting(window=window, calls_tools=calls_tools)
        talk = conversation_over(library, SessionsInMemory(), model, tokenizer=TOKENIZER)
        events_of(talk.say(case.message))
        return model.requests[0].messages[-1].text

    return sent


def by_condensing(case: LongInput, window: int) -> str:
    return condense_message(case.message, window - BESIDE, count)


def by_head_and_tail(case: LongInput, window: int) -> str:
    """As many characters of both ends as fit, by halves."""
    budget = window - BESIDE
    low, high = 0, budget * 8
    while high - low > 1:
        middle = (low + high) // 2
        if count(case.message[:middle] + case.message[-middle:]) <= budget:
            low = middle
        else:
            high = middle
    return f"{case.message[:low]}\n[…]\n{case.message[-low:]}"


def holds(text: str, answer: str) -> bool:
    """Whether the answer stands there, however it is indented."""
    return " ".join(answer.split()) in " ".join(text.split())


def found(cases: Sequence[LongInput], shorten: Shorten, window: int) -> list[bool]:
    return [holds(shorten(case, window), case.answer) for case in cases]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=2, metavar="SEED")
    parser.add_argument("--half", choices=HALVES, help="only every second input")
    parser.add_argument("--tools", action="store_true", help="ask a model that has tools")
    parser.add_argument("--misses", action="store_true", help="list the questions whose line is not sent")
    wanted = parser.parse_args()
    cases = [
        case
        for seed in range(wanted.first, wanted.first + wanted.seeds)
        for case in long_inputs(seed)[HALVES[wanted.half] if wanted.half else slice(None)]
    ]
    with TemporaryDirectory() as folder, library_of(Path(folder), {"Note.md": "# Note\n\nNothing.\n"}) as library:
        ways: dict[str, Shorten] = {
            "the request": by_request(library, calls_tools=wanted.tools),
            "condensed": by_condensing,
            "head and tail": by_head_and_tail,
        }
        report(cases, ways, show_misses=wanted.misses)


def report(cases: Sequence[LongInput], ways: Mapping[str, Shorten], *, show_misses: bool) -> None:
    print(f"{len(cases)} inputs, median {sorted(len(case.message) for case in cases)[len(cases) // 2]:,} characters")
    print(f"{'':16}" + "".join(f"{window:>10,}" for window in WINDOWS))
    for name, shorten in ways.items():
        by_window = [found(cases, shorten, window) for window in WINDOWS]
        print(f"{name:16}" + "".join(f"{100 * sum(hits) / len(hits):9.1f}%" for hits in by_window))
        if show_misses and name == "the request":
            for case, *hits in zip(cases, *by_window, strict=True):
                if not all(hits):
                    print(f"    {case.kind}: {case.question} [{', '.join('ok' if hit else 'miss' for hit in hits)}]")


if __name__ == "__main__":
    main()
