"""Command lines at random, over all commands and options that there are."""

from collections.abc import Iterator
from random import Random
from typing import Any

import typer

from tests.fuzz import mutation
from tests.fuzz.case import Case, Folders, Target
from tests.fuzz.worlds import Worlds
from zkchat.cli.main import app

VALUES = (
    *("quote", "ollama:x", "openai:gpt", "local:x.gguf", "scripted:none.json", "nonsense", ":", "quote:", "Sleep", "1"),
    *("Sleep.md", "[[Sleep]]", "[[Coffee#x|y]]", "@me.md", "me.md", "Private/Diary.md", "..", ".", "/", "~", "nowhere"),
    *(
        "0",
        "-1",
        "3",
        "99999999999999999999",
        "1.5",
        "json",
        "markdown",
        "always",
        "gardener",
        "brief",
        "context.max_tokens",
    ),
    *("ui.color", "2026-03-01", "--", "-", "-x", "--json=", "sleep tag:night", '"seven hours"', "How long?", "out.md"),
)


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Every command with its parameters."""
    below = getattr(command, "commands", {})
    if not below:
        yield path, list(command.params)
    for name, one in below.items():
        yield from leaves(one, (*path, name))


def word(chance: Random) -> str:
    text = chance.choice(VALUES) if chance.random() < 0.75 else mutation.line(chance)
    return text.replace("\0", "")


def arguments(chance: Random, commands: list[tuple[tuple[str, ...], list[Any]]]) -> list[str]:
    path, parameters = chance.choice(commands)
    words = list(path)
    for parameter in parameters:
        options = [option for option in parameter.opts if option.startswith("-")]
        if not options:
            words += [word(chance) for _ in range(chance.choice((0, 1, 1, 1, 1, 2)))]
        elif chance.random() < 0.2 and "--vault" not in options:
            words.append(chance.choice(options))
            if not getattr(parameter, "is_flag", False):
                words.append(word(chance))
    if chance.random() < 0.1:
        words.insert(chance.randint(0, len(words)), word(chance))
    if chance.random() < 0.05:
        words += ["--vault", word(chance)]
    return words


class Commands:
    def __init__(self, folders: Folders) -> None:
        self._worlds = Worlds(folders)
        self._commands = list(leaves(typer.main.get_command(app)))

    def run(self, case: Case) -> None:
        world = self._worlds.fresh(case)
        lines = [arguments(case.chance, self._commands) for _ in range(case.chance.randint(1, 3))]
        case.note("lines.txt", "\n".join(map(repr, lines)))
        for words in lines:
            piped = mutation.text(case.chance, 5_000) if case.chance.random() < 0.3 else ""
            typed = case.chance.choice(("", "y\n", "n\n", "\n\n"))
            if case.chance.random() < 0.2 and words[0] != "chat":
                world.checked(*words, typed=typed, terminal=True)
            else:
                world.checked(*words, stdin=piped)


def make(folders: Folders) -> Target:
    return Commands(folders)
