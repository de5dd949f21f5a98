"""Whether the line that answers reaches the model, of forty inputs that are far longer than the window.

    python -m benchmarks.context.long_inputs [--seeds N] [--first SEED] [--half even|odd] [--misses]

Logs, tables, JSON, code, Chinese and Japanese, transcripts, commits and prose of some 80,000 characters each, with a
question before them. Beside what zkchat sends stand the beginning and the end of the message, and the sentences that
a summary would choose. Weights were chosen on the even inputs of seed 1; the odd ones and other seeds measure them.
"""

import argparse
from collections.abc import Callable, Sequence

from benchmarks.context.long_input_cases import LongInput, long_inputs
from zkchat.context.condensing import condense_message
from zkchat.context.extractive import condense
from zkchat.context.tokens import CachedTokenizer, tokenizer_for

WINDOWS = (4_096, 8_192)
BESIDE = 512 + 700
"""Tokens of a window for the answer, the instructions and the tools."""
HALVES = {"even": slice(0, None, 2), "odd": slice(1, None, 2)}

Shorten = Callable[[LongInput, int], str]
count = CachedTokenizer(tokenizer_for("o200k_base")).count


def by_condensing(case: LongInput, budget: int) -> str:
    return condense_message(case.message, budget, count)


def by_sentences(case: LongInput, budget: int) -> str:
    return condense(case.message, budget, count, focus=case.question)


def by_head_and_tail(case: LongInput, budget: int) -> str:
    """As many characters of both ends as fit, by halves."""
    low, high = 0, budget * 8
    while high - low > 1:
        middle = (low + high) // 2
        if count(case.message[:middle] + case.message[-middle:]) <= budget:
            low = middle
        else:
            high = middle
    return f"{case.message[:low]}\n[…]\n{case.message[-low:]}"


WAYS: dict[str, Shorten] = {"zkchat": by_condensing, "sentences": by_sentences, "head and tail": by_head_and_tail}


def holds(text: str, answer: str) -> bool:
    """Whether the answer stands there, however it is indented."""
    return " ".join(answer.split()) in " ".join(text.split())


def found(cases: Sequence[LongInput], shorten: Shorten, window: int) -> list[bool]:
    return [holds(shorten(case, window - BESIDE), case.answer) for case in cases]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=2, metavar="SEED")
    parser.add_argument("--half", choices=HALVES, help="only every second input")
    parser.add_argument("--misses", action="store_true", help="list the questions whose line is not sent")
    wanted = parser.parse_args()
    cases = [
        case
        for seed in range(wanted.first, wanted.first + wanted.seeds)
        for case in long_inputs(seed)[HALVES[wanted.half] if wanted.half else slice(None)]
    ]
    print(f"{len(cases)} inputs, median {sorted(len(case.message) for case in cases)[len(cases) // 2]:,} characters")
    print(f"{'':16}" + "".join(f"{window:>10,}" for window in WINDOWS))
    for name, shorten in WAYS.items():
        by_window = [found(cases, shorten, window) for window in WINDOWS]
        print(f"{name:16}" + "".join(f"{100 * sum(hits) / len(hits):9.1f}%" for hits in by_window))
        if wanted.misses and name == "zkchat":
            for case, *hits in zip(cases, *by_window, strict=True):
                if not all(hits):
                    print(f"    {case.kind}: {case.question} [{', '.join('ok' if hit else 'miss' for hit in hits)}]")


if __name__ == "__main__":
    main()
