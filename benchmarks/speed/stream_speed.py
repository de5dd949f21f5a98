"""CPU seconds to stream an answer in 20-character chunks, beside Rich's Live over the whole document.

Both draw each chunk as it arrives, 20 in a second:

    python -m benchmarks.speed.stream_speed [--peer-up-to CHARACTERS]

The peer takes minutes for 50,000 characters, and is asked for that much only with `--peer-up-to 50000`.
"""

import argparse
import io
import time
from collections.abc import Callable

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.table import Table

from zkchat.render import MarkdownStream, console_for

CHUNK = 20
SECONDS_PER_CHUNK = 1 / 20
SIZES = (2_000, 10_000, 50_000)

SECTION = """## Part {number}: what sleep does

Sleep **consolidates** what was learned, says [[Sleep and memory#Phases|the note on phases]]; *slow waves* carry facts
to the cortex, and dreams (see [[Dreams]]) do the rest. A night without it costs about a third of what was learned.

- The first half of the night is for facts
- The second half is for skills, `REM` above all
  - and for feelings, which nobody expected
- Naps of {number} minutes help as well

```python
def remembered(facts: list[str], hours: float) -> list[str]:
    \"\"\"What is left in the morning.\"\"\"
    return facts[: round(len(facts) * min(1.0, hours / 8))]
```

| phase | share | good for |
|-------|------:|----------|
| slow  |  20 % | facts    |
| REM   |  25 % | skills   |

1. Learn in the evening
2. Sleep on it
3. Repeat after {number} days

"""


def answer_of(size: int) -> str:
    return "".join(SECTION.format(number=number) for number in range(size // 500))[:size]


def chunks_of(answer: str) -> list[str]:
    return [answer[start : start + CHUNK] for start in range(0, len(answer), CHUNK)]


def terminal() -> Console:
    variables = {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    return console_for(io.StringIO(), is_tty=True, variables=variables)


def stream(chunks: list[str]) -> None:
    arrived = 0.0
    started = time.process_time()
    answer = MarkdownStream(terminal(), clock=lambda: arrived + time.process_time() - started)
    for chunk in chunks:
        arrived += SECONDS_PER_CHUNK
        answer.feed(chunk)
    answer.finish()


def live(chunks: list[str]) -> None:
    text = ""
    with Live(console=terminal(), auto_refresh=False, vertical_overflow="visible") as shown:
        for chunk in chunks:
            text += chunk
            shown.update(Markdown(text), refresh=True)


def seconds(draw: Callable[[list[str]], None], size: int) -> float:
    chunks = chunks_of(answer_of(size))
    started = time.process_time()
    draw(chunks)
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-up-to", type=int, default=10_000)
    wanted = parser.parse_args()
    seconds(stream, 1_000)  # the imports and the lexers
    table = Table("characters", "zkchat", "per 1,000", "Rich Live", "ratio", title="CPU seconds to stream an answer")
    for size in SIZES:
        ours = seconds(stream, size)
        peer = seconds(live, size) if size <= wanted.peer_up_to else None
        table.add_row(
            f"{size:,}",
            f"{ours:.2f}",
            f"{1000 * ours / size:.3f}",
            "not run" if peer is None else f"{peer:.2f}",
            "" if peer is None else f"{peer / ours:.0f}x",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
