"""Lines typed into a chat: questions and slash commands, in any order, with anything behind them."""

from random import Random

from tests.fuzz import mutation
from tests.fuzz.case import Case, Folders, Target, require
from tests.fuzz.worlds import FuzzWorld, Worlds
from zkchat.repl.commands.table import COMMANDS

ARGUMENTS = (
    *("", "1", "2", "0", "-1", "99", "1 2", "a", "all", "--archived", "quote", "scripted:play", "nonsense", "Sleep"),
    *("on",),
    *("[[Sleep]]", "@gardener", "gardener", "brief always", "brief never", "rule brief", "note Sleep", "saved.md"),
    *("a/b",),
    *("../x.md", "/etc/x.md", "I like cats", "json", "markdown talk.md", "Sleep, Coffee", "9" * 5000, "archived"),
    *("off",),
)
QUESTIONS = (
    "How long do adults sleep?",
    "And [[Coffee]]?",
    "@gardener what grows?",
    "hello",
    "/usr/bin/env what?",
    "\\",
)


def typed(rng: Random) -> str:
    match rng.randrange(10):
        case 0:
            return mutation.text(rng, 2_000).replace("\n", " ")
        case 1 | 2 | 3:
            return rng.choice(QUESTIONS)
        case 4:
            return f"/{mutation.line(rng)}"
        case _:
            called = rng.choice(COMMANDS)
            name = rng.choice((called.name, called.name, *called.aliases, called.name.upper(), called.name[:3]))
            argument = rng.choice(ARGUMENTS) if rng.random() < 0.8 else mutation.line(rng)
            return f"/{name} {argument}"


class Chats:
    def __init__(self, folders: Folders) -> None:
        self._worlds = Worlds(folders)

    def run(self, case: Case) -> None:
        rng = case.rng
        world = self._worlds.fresh(case)
        lines = "".join(f"{typed(rng)}\n" for _ in range(rng.randint(1, 12)))
        case.note("typed.txt", lines)
        options = rng.choice(((), ("--continue",), ("--private",), ("--agent", "gardener"), ("--session", "1")))
        model = rng.choice(("quote", "quote", self._scripted(rng, world)))
        call = ("chat", "--model", model, *options)
        if rng.random() < 0.3:
            world.checked(*call, "--plain", typed=lines, terminal=True)
        else:
            world.checked(*call, stdin=lines)
        listed = world.checked("sessions", "list", "--all", "--json")
        require(listed.code == 0, "the sessions can be listed after any chat", listed.err)
        for session in listed.json[:2]:
            world.checked("sessions", "show", session["id"])

    @staticmethod
    def _scripted(rng: Random, world: FuzzWorld) -> str:
        """A model with a small window, so that room must be made."""
        answers = [[{"text": mutation.text(rng, 1_500).encode(errors="replace").decode()}] for _ in range(12)]
        return world.script(*answers, context_limit=rng.choice((1200, 2500, 8000)))


def make(folders: Folders) -> Target:
    return Chats(folders)
