"""Command lines at random, over all commands and options that there are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.fuzz import mutation
from tests.fuzz.case import Case, Folders, Target
from tests.fuzz.worlds import FuzzWorld, Worlds
from zkchat.cli.main import commands

ODD = (
    *("nonsense", ":", "quote:", "..", ".", "/", "~", "nowhere", "0", "-1", "99999999999999999999", "1.5", "--", "-"),
    *("-x",),
    *("--json=", "[[Coffee#x|y]]", "@me.md", "Private/Diary.md", "2026-03-01"),
)
FITTING = {
    "model": ("quote", "quote", "ollama:x", "openai:gpt", "local:x.gguf", "scripted:none.json"),
    "agent": ("gardener", "default"),
    "note": ("Sleep", "Coffee.md", "[[Sleep]]", "Private/Diary.md", "Schlaf", "me.md"),
    "source": ("Coffee.md", "Sleep"),
    "link": ("[[Sleep]]", "[[Coffee#Coffee]]", "[[Nowhere]]", "Sleep", "![[Sleep^x]]"),
    "query": ("sleep", "sleep tag:night", '"seven hours"', "-coffee tea", "modified:>2026-01-01 path:Sl"),
    "question": ("How long do adults sleep?", "What about [[Coffee]]?", "@gardener what?"),
    "limit": ("1", "20"),
    "last": ("1", "3"),
    "message": ("1", "2"),
    "keep": ("0", "1"),
    "steps": ("1", "3"),
    "role": ("user", "assistant"),
    "since": ("2026-01-01", "yesterday", "2026-03-01T12:00"),
    "until": ("2026-12-31", "now", "12:00"),
    "format_": ("json", "markdown"),
    "output": ("out.md", "out.json", "a/b.md", "Sleep.md"),
    "graph": ("out.html", "Sleep.md"),
    "file": ("talk.json", "Sleep.md", "-", "me.md"),
    "path": ("@me.md", "me.md", "@Private/Diary.md", "@Sleep.md"),
    "strategy": ("summary", "extractive", "sliding", "truncate"),
    "scope": ("user", "vault"),
    "include": ("always", "never", "auto"),
    "key": ("ui.color", "context.max_tokens", "privacy.local_only", "model", "models.mine.id", "context.threshold"),
    "value": ("never", "4096", '["Private"]', "quote", "0.5", "true"),
    "name": ("gardener", "brief", "default", "new-one"),
    "text": ("I have a cat.", "My thesis is due on 1 July.", "Be kind."),
    "title": ("A new title",),
    "focus": ("coffee",),
    "description": ("what it is for",),
}
"""What a parameter of that name takes; sessions and facts are added once there are some."""


ENDLESS = frozenset({"http"})
"""Options that make a command serve until a signal ends it."""


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Every command with its parameters."""
    below = getattr(command, "commands", {})
    if not below or command.invoke_without_command:
        yield path, list(command.params)
    for name, one in below.items():
        yield from leaves(one, (*path, name))


@dataclass(frozen=True)
class Grammar:
    commands: Sequence[tuple[tuple[str, ...], list[Any]]]
    fitting: Mapping[str, Sequence[str]]

    def line(self, rng: Random) -> list[str]:
        path, parameters = rng.choice(self.commands)
        words = list(path)
        for parameter in (each for each in parameters if each.name not in ENDLESS):
            options = [option for option in parameter.opts if option.startswith("-")]
            if not options:
                words += [self._word(rng, parameter.name) for _ in range(0 if rng.random() < 0.05 else 1)]
            elif parameter.required or (rng.random() < 0.2 and parameter.name != "vault"):
                words.append(rng.choice(options))
                if not parameter.is_flag:
                    words.append(self._word(rng, parameter.name))
        if rng.random() < 0.05:
            words.insert(rng.randint(0, len(words)), self._word(rng, ""))
        if rng.random() < 0.03:
            words += ["--vault", self._word(rng, "")]
        return words

    def _word(self, rng: Random, name: str) -> str:
        known = self.fitting.get(name, ODD)
        text = rng.choice(known) if rng.random() < 0.75 else rng.choice((rng.choice(ODD), mutation.line(rng)))
        return text.replace("\0", "")


class Commands:
    def __init__(self, folders: Folders) -> None:
        self._fitting: dict[str, Sequence[str]] = dict(FITTING)
        self._worlds = Worlds(folders, self._look)
        self._grammar = Grammar(list(leaves(commands())), self._fitting)

    def _look(self, world: FuzzWorld) -> None:
        sessions = world.checked("sessions", "list", "--all", "--json").json
        self._fitting["session"] = [name for each in sessions for name in (each["id"], each["id"][:3], each["title"])]
        self._fitting["fact"] = [each["id"] for each in world.checked("memory", "list", "--json").json]
        world.note("talk.json", world.checked("context", "export").out)

    def run(self, case: Case) -> None:
        world = self._worlds.fresh(case)
        lines = [self._grammar.line(case.rng) for _ in range(case.rng.randint(1, 3))]
        case.note("lines.txt", "\n".join(map(repr, lines)))
        for words in lines:
            piped = mutation.text(case.rng, 5_000) if case.rng.random() < 0.3 else ""
            typed = case.rng.choice(("", "y\n", "n\n", "\n\n"))
            starts_chat = words[:1] in ([], ["chat"])  # which draws on a real terminal only
            if case.rng.random() < 0.2 and not starts_chat:
                world.checked(*words, typed=typed, terminal=True)
            else:
                world.checked(*words, stdin=piped)


def make(folders: Folders) -> Target:
    return Commands(folders)
