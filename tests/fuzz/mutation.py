"""Inputs: texts, bytes and JSON, made anew or changed from what the test data holds."""

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from tests.support.terminal_payloads import PAYLOADS

FIXTURES = Path(__file__).parents[2] / "vault-fixtures"
LONGEST = 200_000
"""Characters of a text that repeats itself: what takes more than linear time over it shows."""

PIECES = (
    *("[[", "]]", "[", "]", "|", "#", "^", "!", "(", ")", "\\", "`", "``", "```", "~~~", "$", "$$", "%%", "*", "_"),
    *("\n", "\n\n", "\r\n", "\r", " ", "\t", "    ", "\u00a0", "\u2028", "\x0c", "\0", "\ufeff", "\ud800", "\x85"),
    *("a", "b c", "é", "e\u0301", "笔记", "ไทย", "\U0001f600", "\u200d", "# ", "## ", "===\n", "---\n", "...\n", "> "),
    *("- ", "1. ", "- [ ] ", "<!--", "-->", "<div>", "</div>", "<think>", "</think>", "&amp;", "&#27;", "[^1]: "),
    *("| a | b |\n|---|---|\n", "[x](n.md)", "[r]: x.md\n", "![[p.png]]", "[[A#h|b]]", "[[A#^id]]", "#tag", " ^id"),
    *("---\n", "zkchat: local\n", "zkchat: never\n", "Zkchat : x\n", "+++\n", "title: ", "aliases: [a]\n", "tags: "),
    *("{", "}", "&a ", "*a ", "<<: *a\n", "? ", '"', "'", "https://x.y", "!!python/object:os.system ", "1e999", "~"),
    *("@a/b.md ", '@"a b.md" ', "tag:a ", 'path:"a b" ', "-word ", "modified:>2026-01-01 ", "2026-02-30", "９９"),
    *("Dr. ", "z.B. ", "。", "؟", "I am ", "We decided to ", "TODO: ", "/", "../", "*" * 9, "**/", "[z-a]", "%00"),
    *("=\n",),
)
NUMBERS: tuple[Any, ...] = (0, 1, -1, 7, 2**31, 2**63, -(2**63) - 1, 10**30, 1e308, 1e-320, 0.1)
WORDS = ("Sleep", "tea", "the", "garden", "Naming things", "2026-03-14", "a.md", "Notiz", "睡眠", "sleep?", "[[Sleep]]")

_ID = re.compile(r"\b[0-9a-hjkmnp-tv-z]{12}\b")
PROFILE_KEYS = ("description", "model", "context", "rules", "references", "tools", "servers", "include", "Model")


@cache
def corpus() -> Sequence[str]:
    """The notes of the tree's own vaults."""
    files = sorted(path for path in FIXTURES.rglob("*.md") if path.is_file())
    assert files
    return tuple(path.read_text() for path in files)


def characters(rng: Random, most: int = 60) -> str:
    """Any characters at all, lone surrogates among them."""
    ranges = (
        (0, 0x7F),
        (0x80, 0x24F),
        (0x300, 0x36F),
        (0x590, 0x6FF),
        (0x2000, 0x206F),
        (0x3040, 0x9FFF),
        (0, 0x10FFFF),
    )
    return "".join(chr(rng.randint(*rng.choice(ranges))) for _ in range(rng.randint(0, most)))


def soup(rng: Random, most: int = 40) -> str:
    return "".join(rng.choice(PIECES) for _ in range(rng.randint(1, most)))


def repeated(rng: Random, most: int = LONGEST) -> str:
    """A beginning, a few pieces again and again, an end."""
    unit = soup(rng, 3)
    times = int(most ** rng.uniform(0.3, 1.0)) // max(1, len(unit))
    return soup(rng, 3) + unit * times + soup(rng, 3)


def line(rng: Random) -> str:
    """Something short: a name, a title, a word of a command."""
    kinds: tuple[Callable[[], str], ...] = (
        lambda: "",
        lambda: rng.choice(PAYLOADS),
        lambda: soup(rng, 4),
        lambda: characters(rng, 12),
        lambda: str(rng.choice(NUMBERS)),
        lambda: "x" * rng.choice((255, 256, 4096, 70_000)),
        lambda: rng.choice(WORDS),
        lambda: rng.choice(WORDS),
    )
    return rng.choice(kinds)()


def text(rng: Random, most: int = LONGEST) -> str:
    """A note, a message, an answer: from almost good to hopeless."""
    match rng.randrange(10):
        case 0:
            return repeated(rng, most)
        case 1:
            return characters(rng)
        case 2:
            return "".join(rng.choice((*PAYLOADS, "word ", "\n", "- ", "**")) for _ in range(rng.randint(1, 9)))
        case 3 | 4:
            return soup(rng)
        case 5:
            return f"---\n{soup(rng, 12)}\n---\n{soup(rng, 12)}"
        case _:
            return mutated(rng, rng.choice(corpus()))


def profile(rng: Random, body: str) -> str:
    """An agent or a rule, with some of its properties."""
    head = "".join(f"{rng.choice(PROFILE_KEYS)}: {soup(rng, 3)}\n" for _ in range(rng.randrange(4)))
    return f"---\n{head}---\n{body}"


def mutated(rng: Random, source: str) -> str:
    """The text after a few accidents."""
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        start, end = sorted((rng.randint(0, len(source)), rng.randint(0, len(source))))
        end = min(end, start + rng.choice((1, 8, 64, 100_000)))
        cut = source[start:end]
        match rng.randrange(7):
            case 0:
                middle = ""
            case 1:
                middle = cut * rng.choice((2, 3, 20))
            case 2:
                middle = cut[::-1]
            case 3:
                middle = cut.swapcase()
            case 4:
                middle = rng.choice(PAYLOADS)
            case 5:
                middle = characters(rng, 5)
            case _:
                middle = cut + soup(rng, 4)
        source = (source[:start] + middle + source[end:])[:LONGEST]
    return source


def mutated_bytes(rng: Random, source: bytes) -> bytes:
    """The bytes after a few accidents of a disk or of a line."""
    data = bytearray(source)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        place = rng.randint(0, len(data))
        size = min(rng.choice((1, 4, 64, 4096)), len(data) - place)
        match rng.randrange(7):
            case 0 | 1 if size:
                data[place] = rng.randrange(256)
            case 2 if size:
                data[place] ^= 1 << rng.randrange(8)
            case 3:
                data[place : place + size] = bytes(size)
            case 4:
                data[place : place + size] = rng.randbytes(size)
            case 5:
                del data[rng.choice((place, place, len(data) // 2)) :]
            case _:
                data[place:place] = rng.randbytes(rng.choice((1, 3, 512)))
    return bytes(data)


def pieces_of(rng: Random, whole: str, most: int = 20) -> list[str]:
    """The same text, cut anywhere."""
    cuts = sorted(rng.randint(0, len(whole)) for _ in range(rng.randint(0, most)))
    return [whole[start:end] for start, end in pairwise((0, *cuts, len(whole)))]


def json_value(rng: Random, depth: int = 3) -> Any:
    match rng.randrange(9 if depth else 6):
        case 0:
            return None
        case 1:
            return rng.choice((True, False))
        case 2:
            return rng.choice(NUMBERS)
        case 3 | 4 | 5:
            return line(rng)
        case 6 | 7:
            return {line(rng)[:40]: json_value(rng, depth - 1) for _ in range(rng.randrange(4))}
        case _:
            return [json_value(rng, depth - 1) for _ in range(rng.randrange(4))]


def mutated_json(rng: Random, value: Any, share: float = 0.1) -> Any:
    """The value with some of its parts replaced, left out or wrapped."""
    if rng.random() < share:
        return json_value(rng) if rng.random() < 0.7 else [value]
    if isinstance(value, dict):
        kept = [key for key in value if rng.random() > share / 2]
        changed = {key: mutated_json(rng, value[key], share) for key in kept}
        return changed | {line(rng)[:40]: json_value(rng, 1)} if rng.random() < share else changed
    if isinstance(value, list):
        changed_items = [mutated_json(rng, item, share) for item in value if rng.random() > share / 2]
        return changed_items * 2 if rng.random() < share / 2 else changed_items
    if isinstance(value, str) and rng.random() < 2 * share:
        return mutated(rng, value)
    return value


def crossed_json(rng: Random, value: Any, share: float = 0.15) -> Any:
    """The value with some of its ids in the places of others, so that they lead astray or in circles."""
    ids = re.findall(_ID.pattern, json.dumps(value))

    def cross(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: cross(inner) for key, inner in part.items()}
        if isinstance(part, list):
            return [cross(inner) for inner in part]
        is_id = isinstance(part, str) and _ID.fullmatch(part)
        return rng.choice(ids) if is_id and rng.random() < share else part

    return cross(value)


def json_text(rng: Random, value: Any) -> str:
    """The value written down, sometimes as no JSON parser should have to read it."""
    written = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    match rng.randrange(12):
        case 0:
            return mutated(rng, written)
        case 1:
            bracket = rng.choice(("[", '{"a":', "[[", '[{"role":'))
            return bracket * rng.choice((50, 5_000, 100_000 // len(bracket)))
        case 2:
            return written.replace(": ", f": {'9' * rng.choice((20, 5_000, 50_000))}", 1)
        case 3:
            return written.replace(": ", rng.choice((": NaN", ": -Infinity", ': "\ud800"', ": 1e99999", ": //")), 1)
        case 4:
            return written + rng.choice((written, "\0", "]", " garbage"))
        case _:
            return written
