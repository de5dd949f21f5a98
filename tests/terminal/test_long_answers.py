"""`zkchat chat` with answers higher than the screen, in tmux, which keeps a true scrollback."""

import re
import shlex
import sys
import time
from collections.abc import Callable

from tests.support.world import World

Tmux = Callable[..., str]
MARK = re.compile(r"line-\d{4}")
PROMPT = re.compile(r"^you ›\s*$", re.MULTILINE)
MARKS = [f"line-{number:04}" for number in range(300)]


def begin(tmux: Tmux, world: World) -> None:
    world.note("Sleep.md", "# Sleep\n")
    pieces = ["\n\n".join(MARKS[start : start + 10]) + "\n\n" for start in range(0, 300, 10)]
    world.script([step for piece in pieces for step in ({"text": piece}, {"delay": 0.02})], [{"text": "Short."}])
    variables = {"HOME": str(world.home), "LANG": "C.UTF-8", "ZKCHAT_OLLAMA__HOST": "http://127.0.0.1:9"}
    settings = [f"{name}={value}" for name, value in variables.items()]
    model = f"scripted:{world.root / 'play.json'}"
    command = [sys.executable, "-m", "zkchat", "chat", "--vault", str(world.vault), "--model", model]
    tmux("new-session", "-d", "-x", "80", "-y", "24", "sh")
    tmux("set-option", "-g", "history-limit", "5000")
    tmux("respawn-pane", "-k", shlex.join(["env", "-u", "CI", *settings, *command]))
    wait_for(tmux, lambda shown: "new session" in shown)
    tmux("send-keys", "-l", "Count, please")
    tmux("send-keys", "Enter")


def scrollback(tmux: Tmux) -> str:
    return tmux("capture-pane", "-p", "-J", "-S", "-")


def wait_for(tmux: Tmux, is_so: Callable[[str], object]) -> str:
    deadline = time.monotonic() + 30
    while not is_so(shown := scrollback(tmux)):
        assert time.monotonic() < deadline, shown
        time.sleep(0.1)
    return shown


def is_over(shown: str, end: str = MARKS[-1]) -> bool:
    """Whether the answer has come to its end, and the next prompt with its bar is below it."""
    below = shown.partition(end)[2].rstrip()
    return PROMPT.search(below) is not None and "% of" in below.rpartition("\n")[2]


def test_the_scrollback_holds_each_line_once_and_then_the_next_prompt_works(tmux: Tmux, world: World) -> None:
    begin(tmux, world)
    shown = wait_for(tmux, is_over)
    assert MARK.findall(shown) == MARKS
    assert shown.count("you › Count, please") == 1
    tmux("send-keys", "-l", "And now?")
    tmux("send-keys", "Enter")
    shown = wait_for(tmux, lambda shown: is_over(shown, "Short."))
    assert MARK.findall(shown) == MARKS
    assert shown.count("you › And now?") == 1


def test_a_resize_during_the_answer_loses_and_doubles_nothing(tmux: Tmux, world: World) -> None:
    begin(tmux, world)
    for mark, size in (("line-0030", (50, 24)), ("line-0100", (110, 30)), ("line-0200", (60, 15))):
        wait_for(tmux, lambda shown, mark=mark: mark in shown)  # type: ignore[misc]
        tmux("resize-window", "-x", str(size[0]), "-y", str(size[1]))
    assert MARK.findall(wait_for(tmux, is_over)) == MARKS


def test_ctrl_c_in_mid_answer_leaves_what_came_in_the_scrollback_once(tmux: Tmux, world: World) -> None:
    begin(tmux, world)
    wait_for(tmux, lambda shown: "line-0050" in shown)
    tmux("send-keys", "C-c")
    shown = wait_for(tmux, lambda shown: "Count, please" in shown.rstrip().rpartition("\n")[2])
    found = MARK.findall(shown)
    assert found == MARKS[: len(found)]
    assert 50 < len(found) < 300
