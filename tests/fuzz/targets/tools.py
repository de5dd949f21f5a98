"""Tools: whatever a model writes as arguments, the outcome is text, and nothing outside the vault is read."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz import mutation
from tests.fuzz.case import Case, Folders, Target, require
from tests.support.libraries import library_of
from tests.support.memories import MemoriesInMemory
from tests.support.sessions import NOON
from zkchat.chat.context.selection import Relevance
from zkchat.chat.memory import Memory
from zkchat.chat.tools.explore import explore_tools
from zkchat.chat.tools.memory import memory_tools, recall_tools
from zkchat.chat.tools.registry import Toolbox
from zkchat.core.message import ChatMessage, ToolCallPart
from zkchat.core.ports import Tool
from zkchat.core.values import to_plain

CANARY = "canary-outside-of-the-vault"
NOTES = {
    "Ideas/Sleep.md": "---\naliases: Schlaf\ntags: night\n---\n# Sleep\n\nAdults need seven hours. See [[Coffee]].\n",
    "Coffee.md": "# Coffee\n\nCaffeine and [[Ideas/Sleep|sleep]] do not mix. Also [[Nowhere]].\n",
    "a/Twin.md": "one [[Sleep#Sleep]]",
    "b/Twin.md": "two",
    "Long.md": "x" * 20_000,
}
PATHS = (
    *("../secret.md", "../secret", "link.md", "link", "folder/secret.md", "[[../secret]]", ".zkchat/hidden.md"),
    *("hidden",),
    *("/etc/hostname", "~/x.md", "C:\\x", "..\\secret.md", "%2e%2e/secret.md", "Ideas/../../secret.md", "\0", "."),
    *("Sleep", "Ideas/Sleep.md", "[[Twin]]", "[[Sleep#nowhere]]", "Schlaf", "Long", "Coffee.md#Coffee", "secret"),
)


def nothing_found(_query: str, _most: int) -> Sequence[tuple[ChatMessage, float]]:
    return []


def tools_over(library: Any) -> list[Tool]:
    memory = Memory(MemoriesInMemory("Mia likes nuts"), Relevance(), lambda: NOON)
    remembering = memory_tools(memory, lambda text: "a" in text, lambda: "s1")
    return [*explore_tools(library, lambda: NOON), *recall_tools(nothing_found), *remembering]


def argument(rng: Random, schema: dict[str, Any]) -> Any:
    if rng.random() < 0.15:
        return mutation.json_value(rng)
    if schema.get("type") == "integer":
        return rng.choice((*mutation.NUMBERS, "3", "", 3, 19999))
    match rng.randrange(4):
        case 0 | 1:
            return rng.choice(PATHS)
        case 2:
            return mutation.text(rng, 5_000)
        case _:
            return mutation.line(rng)


class Tools:
    def __init__(self, shared: Path) -> None:
        (shared / "secret.md").write_text(CANARY)
        vault = shared / "vault"
        (vault / ".zkchat").mkdir(parents=True)
        (vault / ".zkchat" / "hidden.md").write_text(CANARY)
        (vault / "link.md").symlink_to(shared / "secret.md")
        (vault / "folder").symlink_to(shared)
        self._open = ExitStack()
        self._library = self._open.enter_context(library_of(shared, NOTES))

    def run(self, case: Case) -> None:
        rng = case.rng
        box = Toolbox(tools_over(self._library))
        for number in range(rng.randint(1, 4)):
            spec = rng.choice(box.specs)
            known = spec.parameters.get("properties", {})
            given = {name: argument(rng, schema) for name, schema in known.items() if rng.random() < 0.9}
            arguments = mutation.json_text(rng, mutation.mutated_json(rng, given, 0.03))
            name = spec.name if rng.random() < 0.97 else mutation.line(rng)
            case.note(f"{number}-{spec.name}.txt", f"{name}\n{arguments}")
            outcome = asyncio.run(box.call(ToolCallPart(call_id="1", name=name, arguments=arguments)))
            told = outcome.text + outcome.summary + repr(outcome.references)
            require(CANARY not in told, "no tool reads outside of the vault", told)
            json.dumps([to_plain(reference) for reference in outcome.references])


def make(folders: Folders) -> Target:
    return Tools(folders.shared)
