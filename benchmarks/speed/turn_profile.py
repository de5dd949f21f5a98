"""The shape of one turn: which modules of zkchat it enters, and how many async generators a chunk of text passes.

    python -m benchmarks.speed.turn_profile [--list]

The second turn of a conversation over vault-fixtures/garden is profiled; the first one loads what all need. The model
is a script that searches once and then answers. A generator counts as nested when it runs inside another one.
"""

import argparse
import asyncio
import inspect
import io
import json
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from zkchat.app import ConversationOptions, open_conversation
from zkchat.core import Environment, Event, TurnFinished

ROOT = Path(__file__).parents[2]
PACKAGE = str(ROOT / "zkchat") + "/"
ASYNC_GENERATOR = inspect.CO_ASYNC_GENERATOR
ANSWERS = [
    [{"tool": "find_excerpts", "arguments": {"query": "evergreen notes"}}],
    [{"text": "Titles are "}, {"text": "statements, says [[Evergreen notes]]."}],
]


@dataclass
class Profile:
    modules: set[str] = field(default_factory=set)
    nested: list[str] = field(default_factory=list)
    """The longest chain of async generators, outermost last."""
    calls: int = 0

    def see(self, frame: FrameType, event: str, _argument: object) -> None:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(PACKAGE):
            return
        self.calls += 1
        self.modules.add(name.removeprefix(PACKAGE).removesuffix(".py"))
        chain: list[str] = []
        outer: FrameType | None = frame
        while outer is not None:
            code = outer.f_code
            if code.co_filename.startswith(PACKAGE) and code.co_flags & ASYNC_GENERATOR:
                chain.append(f"{code.co_filename.removeprefix(PACKAGE).removesuffix('.py')}:{code.co_name}")
            outer = outer.f_back
        if len(chain) > len(self.nested):
            self.nested = chain


async def last_of(events: AsyncIterator[Event]) -> Event:
    return [event async for event in events][-1]


def profiled_turn(folder: Path) -> Profile:
    script = folder / "play.json"
    script.write_text(json.dumps({"answers": ANSWERS * 2}))
    environment = Environment(
        stdin=io.StringIO(),
        stdout=io.StringIO(),
        stderr=io.StringIO(),
        variables={},
        cwd=ROOT / "vault-fixtures" / "garden",
        home=folder,
    )
    profile = Profile()
    with open_conversation(environment, ConversationOptions(vault=Path(), model=f"scripted:{script}")) as opened:
        for question in ("What are [[Evergreen notes]]?", "Why is the title of [[Evergreen notes]] a statement?"):
            events = opened.conversation.say(question)
            sys.setprofile(profile.see if question.startswith("Why") else None)
            last = asyncio.run(last_of(events))
            sys.setprofile(None)
            assert isinstance(last, TurnFinished), last
    return profile


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--list", action="store_true", help="name the modules and the generators")
    wanted = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        profile = profiled_turn(Path(folder))
    print(f"modules entered    {len(profile.modules):6,}")
    print(f"nested generators  {len(profile.nested):6,}")
    print(f"calls              {profile.calls:6,}")
    if wanted.list:
        print("\n".join(sorted(profile.modules)))
        print(" < ".join(profile.nested))


if __name__ == "__main__":
    main()
