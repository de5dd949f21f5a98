"""Settings from everywhere: both config.toml, variables, flags, commands; agents, rules, ZKCHAT.md, MCP servers."""

import json
import os
from pathlib import Path
from random import Random
from typing import Literal, get_args, get_origin

from tests.fuzz import mutation
from tests.fuzz.case import Case, Folders, Target
from tests.fuzz.worlds import FuzzWorld, Worlds
from zkchat.config.schema import FIELDS, OF_A_MODEL, SECTIONS

KEYS = (*FIELDS, *SECTIONS, *(f"models.mine.{name}" for name in OF_A_MODEL), "nonsense", "context.", ".", "")
VALUES = (
    *("true", "1", "-1", "0.5", '"quote"', '"ollama:x"', '"vault"', "[]", '["*.md"]', "{}", "{a = 1}", "2026-01-01"),
    *("1e999", "nan", "0x7f", '"http://[::1"', '"http://127.0.0.1:99999"', '["[z-a]"]', '["**/**/**/a"]', '"~"'),
    *('["' + "*a" * 30 + 'b"]', "9" * 400, '"""' + "x" * 5000 + '"""', '"\\u0000"', '"\\u001b[31m"', "[[1], [2]]"),
)
COMMANDS = (
    ("trust",),
    ("trust", "--json"),
    ("trust", "--revoke"),
    ("config", "show"),
    ("config", "show", "--json"),
    ("ask", "How long do adults sleep?", "--model", "quote"),
    ("doctor",),
    ("search", "sleep"),
    ("agent", "list"),
    ("rules", "list"),
    ("sessions", "list", "--all"),
    ("config", "trust", "--yes"),
    ("config", "trust"),
    ("models",),
    ("memory", "list"),
    ("mcp", "list"),
    ("mcp", "list", "--json"),
    ("mcp", "import", ".mcp.json", "--yes"),
    ("mcp", "add", "time", "--replace", "--env", "A=b", "--", "no-such-program"),
    ("mcp", "remove", "time"),
)
TABLES = ("{}", '{ time = { command = "no-such-program", args = ["-y"] } }', "{ x = 1 }")
SERVERS = {
    "time": {"command": "no-such-program", "args": ["${NO:-x}", "-y"], "env": {"A": "${NO}"}, "timeout": 5},
    "wiki": {"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"X": "y"}, "disabled": True},
}


def value(rng: Random) -> str:
    if rng.random() < 0.7:
        return rng.choice(VALUES)
    return f'"{mutation.line(rng)[:200]}"'


def fitting(rng: Random, key: str) -> str:
    """A value of the kind that the setting takes."""
    kind = FIELDS[key].annotation
    if get_origin(kind) in (Literal, dict):
        return rng.choice(TABLES if get_origin(kind) is dict else [json.dumps(word) for word in get_args(kind)])
    possible = (kind, *get_args(kind))
    if bool in possible:
        return rng.choice(("true", "false"))
    if int in possible:
        return str(rng.choice((0, 1, 2, 10, 256, 4096, 100_000)))
    if float in possible:
        return str(rng.choice((0.0, 0.1, 0.5, 1.0, 3.5)))
    if get_origin(kind) is tuple:
        return json.dumps([mutation.line(rng)[:60] for _ in range(rng.randrange(4))])
    return json.dumps(rng.choice(("quote", "http://127.0.0.1:9", "x", mutation.line(rng)[:60])))


def toml(rng: Random) -> bytes:
    if rng.random() < 0.6:
        keys = rng.sample(list(FIELDS), rng.randint(1, 6))
        return "".join(f"{key} = {fitting(rng, key)}\n" for key in keys).encode(errors="replace")
    lines = []
    for _ in range(rng.randint(1, 6)):
        section, _, key = rng.choice(KEYS).rpartition(".")
        match rng.randrange(4):
            case 0 if section:
                lines.append(f"[{section}]\n{key} = {value(rng)}\n")
            case 1:
                lines.append(f"{rng.choice(KEYS)} = {value(rng)}\n")
            case 2:
                lines.append(f"[models.{mutation.line(rng)[:20]!r}]\nid = {value(rng)}\n")
            case _:
                lines.append(f"{section or key}.{key} = {value(rng)}\n")
    data = "".join(lines).encode(errors="replace")
    return mutation.mutated_bytes(rng, data) if rng.random() < 0.2 else data


def put(rng: Random, file: Path, content: bytes) -> None:
    """The content as a file, or something else in its place."""
    file.parent.mkdir(parents=True, exist_ok=True)
    match rng.randrange(40):
        case 0:
            file.unlink(missing_ok=True)
            file.mkdir()
        case 1:
            file.unlink(missing_ok=True)
            file.symlink_to(rng.choice(("nowhere", file.name, "../Sleep.md", "/dev/zero", "/dev/full")))
        case 2:
            file.unlink(missing_ok=True)
            os.mkfifo(file)
        case _:
            file.write_bytes(content)


def scatter(rng: Random, world: FuzzWorld) -> None:
    """Put some of everything into the places where settings come from."""
    user, vault = world.home / ".config" / "zkchat", world.vault / ".zkchat"
    if rng.random() < 0.6:
        put(rng, user / "config.toml", toml(rng))
    if rng.random() < 0.6:
        put(rng, vault / "config.toml", toml(rng))
    for folder in (user, vault):
        for kind in ("agents", "rules"):
            if rng.random() < 0.2:
                name = rng.choice(("default", "gardener", "brief", "Ünüs", "a b", "x" * 100))
                text = mutation.profile(rng, mutation.text(rng, 2_000))
                put(rng, folder / kind / f"{name}.md", text.encode(errors="replace"))
    if rng.random() < 0.2:
        put(rng, world.vault / "ZKCHAT.md", mutation.text(rng, 20_000).encode(errors="replace"))
    if rng.random() < 0.3:
        servers = mutation.json_text(rng, mutation.mutated_json(rng, {"mcpServers": SERVERS}))
        put(rng, world.vault / ".mcp.json", servers.encode(errors="replace"))
    for _ in range(rng.randrange(3)):
        key = rng.choice(KEYS).replace(".", "__").upper()
        text = rng.choice((rng.choice(VALUES), mutation.line(rng)[:2000])).replace("\0", "")
        world.variables[f"ZKCHAT_{key}"] = text


def command(rng: Random) -> tuple[str, ...]:
    key = rng.choice((*FIELDS, *KEYS))
    good = fitting(rng, key).strip('"') if key in FIELDS else ""
    text = rng.choice((good, good, rng.choice(VALUES), mutation.line(rng)[:2000])).replace("\0", "")
    scope = rng.choice(((), (), ("--scope", "vault"), ("--scope", "user")))
    edits = (("config", "set", key, text, *scope), ("config", "get", key), ("config", "unset", key, *scope))
    return rng.choice(edits) if rng.random() < 0.4 else rng.choice(COMMANDS)


class SettingsFrom:
    def __init__(self, folders: Folders) -> None:
        self._worlds = Worlds(folders)

    def run(self, case: Case) -> None:
        world = self._worlds.fresh(case)
        scatter(case.rng, world)
        called = [command(case.rng) for _ in range(case.rng.randint(1, 4))]
        if case.rng.random() < 0.5:
            called.insert(0, ("trust", "--yes"))  # else nothing of the vault counts
        case.note("called.txt", "\n".join(map(repr, (world.variables, *called))))
        for arguments in called:
            world.checked(*arguments, stdin="")


def make(folders: Folders) -> Target:
    return SettingsFrom(folders)
