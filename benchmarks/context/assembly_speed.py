"""What it costs to take in a message: counting, assembling, and looking whether it fits.

    python -m benchmarks.context.assembly_speed

At 200 messages in the window, with nothing and with 10,000 messages in the archive, in CPU time. Baseline: joining
these texts to one string and counting it, as a program without a memory for counts has to.
"""

import statistics
import time
from datetime import UTC, datetime

from zkchat.chat import CachedTokenizer, Encoding, Shares
from zkchat.chat.context.assembly import Assembler, RequestPlan, budget_for, prompt_item
from zkchat.chat.context.tokens import calibrate
from zkchat.core import ChatMessage, CompactionPart, Entry, History, MessageEntry, ModelInfo, TextPart

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIVE, ADDED = 200, 60
TEXT = "The cat sleeps on the warm stove, number {n}, and the dog waits beside it for the evening. " * 8


def entry(number: int, parent: int | None, *, archive: int = 0) -> Entry:
    part = (
        CompactionPart(number=1, summary="They talked.", archived=tuple(f"m{n}" for n in range(archive)))
        if archive
        else TextPart(text=TEXT.format(n=number))
    )
    message = ChatMessage(
        id=f"m{number}",
        parent_id=None if parent is None else f"m{parent}",
        role="system" if archive else "assistant" if number % 2 else "user",
        parts=(part,),
        created_at=NOON,
    )
    return Entry(session_id="s", sequence=number + 1, at=NOON, body=MessageEntry(message=message))


def measured(archived: int) -> tuple[list[float], list[float]]:
    history = History(entry(n, n - 1 if n else None) for n in range(archived + LIVE))
    following = archived + LIVE
    if archived:
        history.extend([entry(following, following - 1, archive=archived)])
        following += 1
    encoding = Encoding("o200k_base")
    assembler = Assembler(CachedTokenizer(encoding))
    budget = budget_for(ModelInfo(provider="x", id="x", context_limit=200_000), Shares())
    system = prompt_item("system", "default", "Be kind.")

    def take_in() -> None:
        plan = RequestPlan(items=(system,))
        assembler.assemble(plan, history.window, budget, calibrate(history.newest_first, "x:x"))

    take_in()
    ours, baseline = [], []
    for number in range(following, following + ADDED):
        new = entry(number, number - 1)
        start = time.process_time()
        history.extend([new])
        take_in()
        ours.append(1000 * (time.process_time() - start))
        start = time.process_time()
        encoding.count("\n".join(message.text for message in history.window.live))
        baseline.append(1000 * (time.process_time() - start))
    return ours, baseline


def main() -> None:
    print(f"{'a message more, in ms of CPU':44}{'p50':>8}{'p95':>8}{'baseline p50':>14}")
    for archived in (0, 1_000, 10_000):
        ours, baseline = measured(archived)
        p95 = sorted(ours)[int(0.95 * (len(ours) - 1))]
        name = f"{LIVE} messages live, {archived:,} archived"
        print(f"{name:44}{statistics.median(ours):8.2f}{p95:8.2f}{statistics.median(baseline):14.2f}")


if __name__ == "__main__":
    main()
