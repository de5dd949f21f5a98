"""Notes of any content under any name, in a vault that every command that reads one is called over."""

import os
from pathlib import Path
from random import Random

from tests.fuzz import mutation
from tests.fuzz.case import Case, Folders, Target
from tests.fuzz.worlds import FuzzWorld, Worlds

LONGEST_NAME = 200
"""Bytes; file systems take 255."""
COMMANDS = (
    ("search", "{word}"),
    ("search", "{word}", "--notes"),
    ("show", "{name}"),
    ("recent",),
    ("brief", "--no-model"),
    ("timeline", "{name}"),
    ("tags",),
    ("links", "--all"),
    ("links", "{name}"),
    ("backlinks", "{name}"),
    ("resolve", "[[{name}]]"),
    ("resolve", "[[{word}]]", "--from", "{name}"),
    ("vault", "status"),
    ("vault", "mentions", "{name}"),
    ("vault", "neighbours", "{name}"),
    ("index", "--rebuild"),
    ("doctor",),
    ("ask", "What of [[{name}]] and {word}?", "--model", "quote"),
    ("ask", "{word}", "--model", "quote", "--panels"),
    ("refs", "{name}"),
    ("refs", "--top"),
    ("memory", "import", "@{name}.md"),
)


def name(rng: Random) -> str:
    """What a file may be called on a disk that allows all but a slash and NUL."""
    text = mutation.line(rng) if rng.random() < 0.7 else rng.choice(("Sleep", "sleep", "a.b", "Ängste", "Ångste"))
    data = os.fsencode(text) if _encodes(text) else b"odd\xff"
    bare = data.replace(b"/", b"-").replace(b"\0", b"")[:LONGEST_NAME].strip(b".")
    return os.fsdecode(bare) or "unnamed"


def _encodes(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def scatter(rng: Random, world: FuzzWorld) -> list[str]:
    """Some notes; returns their names."""
    names = [name(rng) for _ in range(rng.randint(1, 5))]
    for one in names:
        folder = rng.choice(("", "", "a", "a/b", "Sleep.md.d"))
        text = mutation.text(rng, 20_000) + "".join(f"\n[[{rng.choice(names)}]] " for _ in range(rng.randrange(4)))
        ending = rng.choice((".md", ".md", ".md", ".MD", ".markdown", ".canvas", ""))
        content = text.encode(errors=rng.choice(("replace", "surrogatepass")))
        path = Path(folder, f"{one}{ending}")
        if not (world.vault / path).is_dir():
            world.note(str(path), content)
    return names


class Vaults:
    def __init__(self, folders: Folders) -> None:
        self._worlds = Worlds(folders)

    def run(self, case: Case) -> None:
        rng = case.rng
        world = self._worlds.fresh(case)
        names = scatter(rng, world)
        for _ in range(3):
            words = {"name": rng.choice(names), "word": mutation.line(rng)[:500].replace("\0", "")}
            arguments = [part.format(**words) for part in rng.choice(COMMANDS)]
            more = rng.choice(((), (), ("--json",)))
            world.checked(*arguments, *more, terminal=rng.random() < 0.3)


def make(folders: Folders) -> Target:
    return Vaults(folders)
