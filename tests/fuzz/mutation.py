"""Inputs: texts, bytes and JSON, made anew or changed from what the test data holds."""

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from tests.support.hostile import PAYLOADS

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
    *(
        "Dr. ",
        "z.B. ",
        "。",
        "؟",
        "I am ",
        "We decided to ",
        "TODO: ",
        "/",
        "../",
        "*" * 9,
        "**/",
        "[z-a]",
        "%00",
        "=\n",
    ),
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


def characters(chance: Random, most: int = 60) -> str:
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
    return "".join(chr(chance.randint(*chance.choice(ranges))) for _ in range(chance.randint(0, most)))


def soup(chance: Random, most: int = 40) -> str:
    return "".join(chance.choice(PIECES) for _ in range(chance.randint(1, most)))


def repeated(chance: Random, most: int = LONGEST) -> str:
    """A beginning, a few pieces again and again, an end."""
    unit = soup(chance, 3)
    times = int(most ** chance.uniform(0.3, 1.0)) // max(1, len(unit))
    return soup(chance, 3) + unit * times + soup(chance, 3)


def line(chance: Random) -> str:
    """Something short: a name, a title, a word of a command."""
    kinds: tuple[Callable[[], str], ...] = (
        lambda: "",
        lambda: chance.choice(PAYLOADS),
        lambda: soup(chance, 4),
        lambda: characters(chance, 12),
        lambda: str(chance.choice(NUMBERS)),
        lambda: "x" * chance.choice((255, 256, 4096, 70_000)),
        lambda: chance.choice(WORDS),
        lambda: chance.choice(WORDS),
    )
    return chance.choice(kinds)()


def text(chance: Random, most: int = LONGEST) -> str:
    """A note, a message, an answer: from almost good to hopeless."""
    match chance.randrange(10):
        case 0:
            return repeated(chance, most)
        case 1:
            return characters(chance)
        case 2:
            return "".join(chance.choice((*PAYLOADS, "word ", "\n", "- ", "**")) for _ in range(chance.randint(1, 9)))
        case 3 | 4:
            return soup(chance)
        case 5:
            return f"---\n{soup(chance, 12)}\n---\n{soup(chance, 12)}"
        case _:
            return mutated(chance, chance.choice(corpus()))


def profile(chance: Random, body: str) -> str:
    """An agent or a rule, with some of its properties."""
    head = "".join(f"{chance.choice(PROFILE_KEYS)}: {soup(chance, 3)}\n" for _ in range(chance.randrange(4)))
    return f"---\n{head}---\n{body}"


def mutated(chance: Random, source: str) -> str:
    """The text after a few accidents."""
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        start, end = sorted((chance.randint(0, len(source)), chance.randint(0, len(source))))
        end = min(end, start + chance.choice((1, 8, 64, 100_000)))
        cut = source[start:end]
        match chance.randrange(7):
            case 0:
                middle = ""
            case 1:
                middle = cut * chance.choice((2, 3, 20))
            case 2:
                middle = cut[::-1]
            case 3:
                middle = cut.swapcase()
            case 4:
                middle = chance.choice(PAYLOADS)
            case 5:
                middle = characters(chance, 5)
            case _:
                middle = cut + soup(chance, 4)
        source = (source[:start] + middle + source[end:])[:LONGEST]
    return source


def mutated_bytes(chance: Random, source: bytes) -> bytes:
    """The bytes after a few accidents of a disk or of a line."""
    data = bytearray(source)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        place = chance.randint(0, len(data))
        size = min(chance.choice((1, 4, 64, 4096)), len(data) - place)
        match chance.randrange(7):
            case 0 | 1 if size:
                data[place] = chance.randrange(256)
            case 2 if size:
                data[place] ^= 1 << chance.randrange(8)
            case 3:
                data[place : place + size] = bytes(size)
            case 4:
                data[place : place + size] = chance.randbytes(size)
            case 5:
                del data[chance.choice((place, place, len(data) // 2)) :]
            case _:
                data[place:place] = chance.randbytes(chance.choice((1, 3, 512)))
    return bytes(data)


def pieces_of(chance: Random, whole: str, most: int = 20) -> list[str]:
    """The same text, cut anywhere."""
    cuts = sorted(chance.randint(0, len(whole)) for _ in range(chance.randint(0, most)))
    return [whole[start:end] for start, end in pairwise((0, *cuts, len(whole)))]


def json_value(chance: Random, depth: int = 3) -> Any:
    match chance.randrange(9 if depth else 6):
        case 0:
            return None
        case 1:
            return chance.choice((True, False))
        case 2:
            return chance.choice(NUMBERS)
        case 3 | 4 | 5:
            return line(chance)
        case 6 | 7:
            return {line(chance)[:40]: json_value(chance, depth - 1) for _ in range(chance.randrange(4))}
        case _:
            return [json_value(chance, depth - 1) for _ in range(chance.randrange(4))]


def mutated_json(chance: Random, value: Any, share: float = 0.1) -> Any:
    """The value with some of its parts replaced, left out or wrapped."""
    if chance.random() < share:
        return json_value(chance) if chance.random() < 0.7 else [value]
    if isinstance(value, dict):
        kept = [key for key in value if chance.random() > share / 2]
        changed = {key: mutated_json(chance, value[key], share) for key in kept}
        return changed | {line(chance)[:40]: json_value(chance, 1)} if chance.random() < share else changed
    if isinstance(value, list):
        changed_items = [mutated_json(chance, item, share) for item in value if chance.random() > share / 2]
        return changed_items * 2 if chance.random() < share / 2 else changed_items
    if isinstance(value, str) and chance.random() < 2 * share:
        return mutated(chance, value)
    return value


def crossed_json(chance: Random, value: Any, share: float = 0.15) -> Any:
    """The value with some of its ids in the places of others, so that they lead astray or in circles."""
    ids = re.findall(_ID.pattern, json.dumps(value))

    def cross(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: cross(inner) for key, inner in part.items()}
        if isinstance(part, list):
            return [cross(inner) for inner in part]
        is_id = isinstance(part, str) and _ID.fullmatch(part)
        return chance.choice(ids) if is_id and chance.random() < share else part

    return cross(value)


def json_text(chance: Random, value: Any) -> str:
    """The value written down, sometimes as no JSON parser should have to read it."""
    written = json.dumps(value, ensure_ascii=chance.random() < 0.5)
    match chance.randrange(12):
        case 0:
            return mutated(chance, written)
        case 1:
            bracket = chance.choice(("[", '{"a":', "[[", '[{"role":'))
            return bracket * chance.choice((50, 5_000, 100_000 // len(bracket)))
        case 2:
            return written.replace(": ", f": {'9' * chance.choice((20, 5_000, 50_000))}", 1)
        case 3:
            return written.replace(": ", chance.choice((": NaN", ": -Infinity", ': "\ud800"', ": 1e99999", ": //")), 1)
        case 4:
            return written + chance.choice((written, "\0", "]", " garbage"))
        case _:
            return written
