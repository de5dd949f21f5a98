"""The pictures of docs/pictures, made from real runs on a real terminal and in a real browser: `make screenshots`.

Arguments name those that are wanted.
"""

import base64
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from PIL import Image
from rich.color import ColorParseError
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

from tests.browser.chromium import PROGRAM, tab
from tests.support import weather_mcp_server
from tests.support.ptys import Terminal
from tests.support.web_server import served
from tests.support.world import GARDEN, World

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)

Answers = Sequence[Sequence[Mapping[str, Any]]]

ANSWERS: Answers = [
    [{"tool": "read_document", "arguments": {"relative_path": "Ideas/Atomic notes.md"}}],
    [
        {
            "text": "Because a statement can be **agreed with, doubted and reused** [[Evergreen notes#Titles]]:\n\n"
            "- it works like an API: the title promises, the note delivers;\n"
            "- it shows when a note holds *two* thoughts, which [[Atomic notes]] would split.\n"
        }
    ],
    [{"text": "One thought that stands on its own, says [[Atomic notes]]: small enough to be linked from anywhere."}],
    [{"text": "Beside the source they come from, until they become [[Evergreen notes]]; see [[Literature notes]]."}],
    [{"text": "Give each thought a note and a statement for its title, and link the two: [[Atomic notes]]."}],
    [
        {
            "text": "- Titles of evergreen notes should be statements [[Evergreen notes#Titles]].\n"
            "- Atomic notes hold one thought."
        }
    ],
]
CHANGES: Answers = [
    [
        {
            "tool": "edit_section",
            "arguments": {
                "relative_path": "Projects/Balcony greenhouse.md",
                "place": "State",
                "position": "append",
                "text": "- [ ] order larch oil from [[Tomás Rivas]]",
            },
        },
        {
            "tool": "edit_document",
            "arguments": {
                "relative_path": "Reference/Sowing calendar.md",
                "old": "| courgettes | 20 April |",
                "new": "| courgettes | 27 April |",
            },
        },
    ],
    [{"text": "I propose a task in [[Balcony greenhouse]] and the new date in the [[Sowing calendar]]."}],
]
SERVER_CALLS: Answers = [
    [{"tool": "weather__forecast", "arguments": {"place": "Lyon", "day": "2026-04-20"}}],
    [{"text": "There will be frost. The [[Sowing calendar]] says to sow courgettes once the nights stay above 5 °C."}],
    [{"tool": "weather__add_event", "arguments": {"title": "Sow the courgettes", "day": "2026-04-27"}}],
    [{"text": "It is in your calendar."}],
]
GOAL: Answers = [
    [{"text": "1. Find what the notes say about compost\n2. Write a summary\n3. Link it from [[Reference/Compost]]"}],
    [{"tool": "read_document", "arguments": {"relative_path": "Reference/Compost.md"}}],
    [{"text": "DONE: read [[Reference/Compost]]"}],
    [
        {
            "tool": "create_document",
            "arguments": {
                "relative_path": "Ideas/Compost in short.md",
                "text": "# Compost in short\n\nThree parts of brown to one of green.\n",
            },
        }
    ],
    [{"text": "DONE: wrote [[Compost in short]]"}],
    [
        {
            "tool": "edit_section",
            "arguments": {
                "relative_path": "Reference/Compost.md",
                "place": "When it smells",
                "position": "append",
                "text": "All of it on one page: [[Compost in short]].",
            },
        }
    ],
    [{"text": "DONE: linked it"}],
    [{"text": "The summary is [[Compost in short]], linked from [[Reference/Compost]]."}],
]
WEATHER = f"""[mcpServers.weather]
command = {json.dumps(sys.executable)}
args = [{json.dumps(weather_mcp_server.__file__)}]
"""
QUESTION = "Why should a title be a statement? See [[Evergreen notes]]."


@dataclass(frozen=True)
class Scene:
    """A picture: how large, and what is done before it is taken."""

    name: str
    width: int
    height: int
    play: Callable[[Terminal], None]
    answers: Answers = field(default_factory=lambda: ANSWERS)
    """What the model says."""
    command: tuple[str, ...] = ("chat",)
    uses_model: bool = True
    settings: str = ""
    """Of the user."""


def an_answer(terminal: Terminal) -> None:
    terminal.wait_for_prompt()
    terminal.type(f"{QUESTION}\r")
    terminal.wait_for("8,192 tokens")
    terminal.wait_for_prompt()


def a_completion(terminal: Terminal) -> None:
    terminal.wait_for_prompt()
    terminal.type("How do [[Atomic notes]] differ from [[note")
    terminal.wait_for("tokens")
    terminal.type("\t")
    terminal.wait_until(lambda: terminal.text.count("]]") == 2, "a chosen note")


def context_details(terminal: Terminal) -> None:
    an_answer(terminal)
    terminal.type("\x0c/context\r")
    terminal.wait_until(lambda: "you › /context" in terminal.text and terminal.is_at_prompt, "the details")


def a_compaction(terminal: Terminal) -> None:
    an_answer(terminal)
    for question in (
        "And what makes a note atomic?",
        "Where do literature notes go?",
        "How do I split a note that holds two?",
    ):
        terminal.type(f"\x0c{question}\r")
        terminal.wait_for(question, "● zkchat")
        terminal.wait_for_prompt()
    terminal.type("/compact titles\r")
    terminal.wait_for("compacted #1")
    terminal.wait_for_prompt()
    terminal.type("/expand\r")
    terminal.wait_for("Titles of evergreen notes")
    terminal.wait_for_prompt()


def a_review(terminal: Terminal) -> None:
    terminal.wait_for_prompt()
    terminal.type("Note that larch oil is missing, and that we sow a week later.\r")
    terminal.wait_for("Apply?")


def a_rename(terminal: Terminal) -> None:
    terminal.wait_for("Apply?")


def a_server_call(terminal: Terminal) -> None:
    terminal.wait_for_prompt()

    def is_connected() -> bool:  # which happens in the background
        if terminal.is_at_prompt and "weather/forecast" not in terminal.text:
            terminal.type("\x0c/tools\r")
        return terminal.is_at_prompt and "weather/forecast" in terminal.text

    terminal.wait_until(is_connected, "the tools of the server")
    terminal.type("\x0cCan I sow the courgettes on 20 April in Lyon?\r")
    terminal.wait_for("8,192 tokens")
    terminal.wait_for_prompt()
    terminal.type("Then remind me a week later.\r")
    terminal.wait_for("Call it?")


def a_goal(terminal: Terminal) -> None:
    terminal.wait_for("1.")
    terminal.type("\r")
    terminal.wait_for("Apply?")


SCENES = (
    Scene("answer", 96, 36, an_answer),
    Scene("answer-narrow", 44, 48, an_answer),
    Scene("completion", 96, 16, a_completion),
    Scene("context", 96, 36, context_details),
    Scene("compaction", 96, 28, a_compaction),
    Scene("review", 96, 40, a_review, answers=CHANGES, command=("chat", "--write")),
    Scene("rename", 96, 24, a_rename, command=("note", "rename", "Zettelkasten", "Slip box"), uses_model=False),
    Scene("server-tools", 96, 30, a_server_call, answers=SERVER_CALLS, settings=WEATHER),
    Scene("goal", 96, 40, a_goal, answers=GOAL, command=("agent", "run", "Sum up what I know of compost", "--write")),
)


def picture(terminal: Terminal, name: str) -> str:
    """The screen as an SVG that needs nothing from elsewhere."""
    with Path("/dev/null").open("w") as nowhere:
        console = Console(
            record=True, width=terminal.width, file=nowhere, force_terminal=True, color_system="truecolor"
        )
        for row in without_gaps(terminal.cells):
            runs = (("".join(cell.data for cell in run), style) for style, run in groupby(row, key=style_of))
            console.print(Text.assemble(*runs), no_wrap=True, crop=True)
        console.print()  # Rich cuts off the foot of the last row
        svg = console.export_svg(title="zkchat", theme=DIMMED_MONOKAI, unique_id=f"zkchat-{name}")
    return FONTS.sub("", svg).replace("Fira Code", "ui-monospace")


def without_gaps(rows: list[list[Any]]) -> list[list[Any]]:
    """The rows without those that a prompt keeps free for its menu."""
    is_blank = [not "".join(cell.data for cell in row).strip() for row in rows]
    return [
        row for row, blank, before in zip(rows, is_blank, [False, *is_blank], strict=False) if not (blank and before)
    ]


def style_of(cell: Any) -> Style:
    def color(name: str) -> str | None:
        if name == "default":
            return None
        return (
            f"#{name}"
            if re.fullmatch("[0-9a-f]{6}", name)
            else name.replace("bright", "bright_").replace("brown", "yellow")
        )

    try:
        return Style(
            color=color(cell.fg),
            bgcolor=color(cell.bg),
            bold=cell.bold,
            italic=cell.italics,
            underline=cell.underscore,
            reverse=cell.reverse,
        )
    except ColorParseError:
        return Style(bold=cell.bold)


def page_picture() -> None:
    """The page of `zkchat serve`, with a source beside the answer."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        shutil.copytree(GARDEN, world.vault, dirs_exist_ok=True)
        with (
            served(
                world, world.script(*([*map(dict, steps)] for steps in ANSWERS[:2]), model="demo", context_limit=8192)
            ) as web,
            tab(world.root / "profile") as browser,
        ):
            browser.resize(1180, 660)
            browser.open(web.site.address)
            browser.wait("document.querySelector('#none:not([hidden])')")
            browser.type(QUESTION)
            browser.press("Enter")
            browser.wait("document.querySelector('.answer footer a') && !document.getElementById('send').hidden")
            browser.point_at(".answer .text a.note")
            browser.wait("document.querySelector('#note .passage')")
            png = base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"])
        Image.open(io.BytesIO(png)).convert("RGB").quantize(64).save(PICTURES / "page.png", optimize=True)
    sys.stderr.write(f"{PICTURES / 'page.png'}\n")


def main(*names: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    if PROGRAM and (not names or "page" in names):
        page_picture()
    for scene in (scene for scene in SCENES if scene.name in names or not names):
        with tempfile.TemporaryDirectory() as folder:
            world = World(Path(folder))
            shutil.copytree(GARDEN, world.vault, dirs_exist_ok=True)
            for number, note in enumerate(sorted(world.vault.rglob("*.md"))):
                os.utime(note, (1_700_000_000 + number,) * 2)  # the order in which notes are offered
            play = world.root / "play.json"
            play.write_text(json.dumps({"model": "demo", "context_limit": 8192, "answers": scene.answers}))
            if scene.settings:
                settings = world.home / ".config" / "zkchat" / "config.toml"
                settings.parent.mkdir(parents=True, exist_ok=True)
                settings.write_text(scene.settings)
            garden = world.vault.rename(world.root / "garden")
            model = ("--model", f"scripted:{play}") if scene.uses_model else ()
            command = [*scene.command, "--vault", str(garden), *model]
            terminal = Terminal(world, command=command, width=scene.width, height=scene.height)
            try:
                scene.play(terminal)
                (PICTURES / f"{scene.name}.svg").write_text(picture(terminal, scene.name), encoding="utf-8")
            finally:
                terminal.close()
        sys.stderr.write(f"{PICTURES / scene.name}.svg\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
