"""An answer higher than the screen: the scrollback holds each line exactly once, in order."""

import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.screens import Clock, Screen, in_chunks, on_screen, streamed, terminal, written
from tests.support.waiting import eventually
from zkchat.render.markdown import MarkdownStream

COUNT = 120
MARK = re.compile(r"line-\d{4}")


def marks() -> Iterator[str]:
    return (f"line-{number:04}" for number in range(COUNT))


SECTION = """## {}

{}, and [[a link]]

- {}
  - {}
- {}

```sh
echo {}

echo {}
```

| a | b |
|---|---|
| {} | [[X|y]] |
| {} | b |

> {}
"""
ANSWERS = {
    "lines": "\n".join(marks()),
    "paragraphs": "\n\n".join(marks()),
    "one paragraph": " ".join(marks()),
    "nested items": "- top\n" + "\n".join(f"  - {mark}" for mark in marks()),
    "code": "```python\n" + "\n".join(f"x = '{mark}'" for mark in marks()) + "\n```",
    "long lines of code": "```\n" + "\n".join(f"{'x' * 90} {mark}" for mark in marks()) + "\n```",
    "table": "| a | b |\n|---|---|\n" + "\n".join(f"| {mark} | 日本 |" for mark in marks()),
    "wide characters": "\n\n".join(f"日本語👍🚀 {mark} 文字" for mark in marks()),
    "everything": "\n\n".join(
        SECTION.format(*(f"line-{number:04}" for number in range(start, start + 10))) for start in range(0, COUNT, 10)
    ),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_each_line_of_a_long_answer_is_there_exactly_once(kind: str) -> None:
    assert MARK.findall("\n".join(on_screen(streamed(in_chunks(ANSWERS[kind], 333))))) == list(marks())


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("paragraphs", [(80, 24), (120, 24)]),
        ("everything", [(80, 24), (80, 40), (100, 40)]),
        ("code", [(60, 12), (90, 36)]),
    ],
)
def test_a_resize_in_the_middle_loses_and_doubles_nothing(kind: str, sizes: list[tuple[int, int]]) -> None:
    console, clock = terminal(*sizes[0]), Clock()
    screen, stream = Screen(*sizes[0]), MarkdownStream(console, clock=clock)
    chunks = in_chunks(ANSWERS[kind], 333)
    for number, chunk in enumerate(chunks):
        size = sizes[number * len(sizes) // len(chunks)]
        if size != console.size:
            console.size = size
            screen.resize(*size)
        before = len(written(console))
        clock.now += 1
        stream.feed(chunk)
        screen.write(written(console)[before:])
    before = len(written(console))
    stream.finish()
    screen.write(written(console)[before:])
    assert MARK.findall("\n".join(screen.rows)) == list(marks())


PROGRAM = """
import os, sys, time
from pathlib import Path
from zkchat.render.markdown import MarkdownStream
from zkchat.render.console import console_for

answer, waiting = Path(sys.argv[1]).read_text(), Path(sys.argv[2])
starts = range(0, len(answer), 60)
resizes = [starts[step * len(starts) // 6] for step in range(1, 6)]
stream = MarkdownStream(console_for(sys.stdout, is_tty=True, variables={"TERM": "screen-256color"}))
for start in starts:
    if start in resizes:  # a row that is on its way while the terminal folds its rows is no program's to save
        size = os.get_terminal_size()
        waiting.touch()
        while os.get_terminal_size() == size:
            time.sleep(0.01)
    stream.feed(answer[start : start + 60])
    time.sleep(0.025)  # as a model writes
stream.finish()
sys.stdout.write("THE END\\n")
"""


def test_on_a_real_terminal_that_folds_its_rows_a_resize_loses_and_doubles_nothing(
    tmux: Callable[..., str], tmp_path: Path
) -> None:
    answer, waiting = tmp_path / "answer.md", tmp_path / "waiting"
    words = [" ".join(list(marks())[start : start + 12]) for start in range(0, COUNT, 12)]
    answer.write_text("\n\n".join(f"## Part\n\n{line} 日本👨‍👩‍👧❤️🇫🇷\n\n- item\n- item" for line in words))
    (tmp_path / "program.py").write_text(PROGRAM)
    tmux("new-session", "-d", "-x", "80", "-y", "24", "sh")
    tmux("set-option", "-g", "history-limit", "5000")
    tmux("respawn-pane", "-k", f"{sys.executable} {tmp_path / 'program.py'} {answer} {waiting}; sleep 60")

    def shown() -> str:
        return tmux("capture-pane", "-p", "-J", "-S", "-")

    def is_quiet() -> bool:
        before = shown()
        time.sleep(0.1)
        return waiting.exists() and shown() == before

    for width, height in [(50, 24), (110, 30), (37, 20), (80, 12), (60, 24)]:
        eventually(is_quiet)
        waiting.unlink()
        tmux("resize-window", "-x", str(width), "-y", str(height))
    eventually(lambda: "THE END" in shown())
    assert MARK.findall(shown()) == list(marks())
