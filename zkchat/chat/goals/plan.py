"""The plan of a goal: read from whatever list a model or the user wrote, and written as a numbered list. Pure."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from zkchat.model.patterns import lazy_pattern
from zkchat.model.text import shorten

MAX_STEP_LENGTH: Final = 400
"""Characters of a step; what follows is cut."""
_MAX_LINES: Final = 2_000
_STEP_WORD: Final = r"(?:step|task|schritt|aufgabe|étape|paso|passo|шаг|krok|stap)"
_NUMBERED: Final = lazy_pattern(
    rf"(?P<indent>[ \t]*)(?:\#{{1,6}}[ \t]+)?(?:[-*+•][ \t]+)?(?:\[[ xX]\][ \t]*)?[*_]{{0,3}}"
    rf"(?:{_STEP_WORD}[ \t]+(?P<named>\d{{1,3}})[ \t]*(?:[.):：—–-]+|(?=[*_]))"
    rf"|(?P<number>\d{{1,3}})[ \t]*[.)、．:](?!\d))"
    rf"(?P<text>.*)",
    re.IGNORECASE,
)
_BULLET: Final = lazy_pattern(r"(?P<indent>[ \t]*)(?:[-*+•]|\[[ xX]\])[ \t]+(?P<text>.*)")
_CHECKBOX: Final = lazy_pattern(r"(?:[-*+•][ \t]+)?\[[ xX☐☑]\][ \t]*|[☐☑☒][ \t]*")
_EMPHASIS: Final = lazy_pattern(r"(\*{1,3}|_{1,3})(?=\S)(.*?)(?<=\S)\1")
_FENCE: Final = lazy_pattern(r"[ \t]*(?:```|~~~)")
_JSON_KEYS: Final = ("text", "step", "description", "title", "task", "name")


class Plan(Struct, frozen=True):
    steps: tuple[str, ...]
    """Each on one line."""
    left_out: int = 0
    """Steps beyond the bound."""


def parse_plan(text: str, most: int) -> Plan:
    """The steps of the first list in a text, `most` of them at most; none where there is no list.

    A numbered list is preferred to bullets. What is indented below a step belongs to it.
    """
    lines = [line.rstrip() for line in text.splitlines()[:_MAX_LINES] if not _FENCE.match(line)]
    found = _json_steps("\n".join(lines)) or _numbered(lines) or _bulleted(lines)
    steps = [*dict.fromkeys(filter(None, map(_clean, found)))]
    return Plan(tuple(steps[:most]), left_out=max(0, len(steps) - most))


def plan_text(steps: Iterable[str]) -> str:
    """The steps as a numbered list, one on each line."""
    return "".join(f"{number}. {step}\n" for number, step in enumerate(steps, start=1))


def _numbered(lines: Iterable[str]) -> list[str]:
    """The items of the first numbered list; it ends where the numbers begin again."""
    items: list[str] = []
    margin, last = 0, 0
    for line, match in ((line, _NUMBERED.match(line)) for line in lines):
        indent = _width(match["indent"]) if match else 0
        if match is None or (items and indent > margin):
            _continue(items, line)
            continue
        number = int(match["named"] or match["number"])
        if number <= 1 < last:
            break
        margin, last = indent if not items else min(margin, indent), number
        items.append(match["text"])
    return items


def _bulleted(lines: Iterable[str]) -> list[str]:
    items: list[str] = []
    margin = 0
    for line in lines:
        match = _BULLET.match(line)
        if match is None or (items and _width(match["indent"]) > margin):
            _continue(items, line)
            continue
        margin = _width(match["indent"])
        items.append(match["text"])
    return items


def _continue(items: list[str], line: str) -> None:
    """Take an indented line into the last item: a wrapped line, or a detail of its own."""
    if not items or not line.strip() or not line[0].isspace():
        return
    detail = _BULLET.match(line) or _NUMBERED.match(line)
    joint = ("" if items[-1].rstrip().endswith((":", ";")) else ";") if detail and items[-1].strip() else ""
    items[-1] = f"{items[-1].rstrip()}{joint} {detail['text'] if detail else line.strip()}"


def _json_steps(text: str) -> list[str]:
    """The steps where a model answered with JSON: a list of texts or of objects that hold one."""
    start, end = text.find("["), text.rfind("]")
    if start < 0 or text[:start].strip().strip("{}: \"'").casefold() not in {"", "steps", "plan"}:
        return []
    try:
        values = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return []
    return [*_texts_of(values)] if isinstance(values, list) else []


def _texts_of(values: list[Any]) -> Iterator[str]:
    for value in values:
        texts = [value.get(key) for key in _JSON_KEYS] if isinstance(value, dict) else [value]
        yield next((text for text in texts if isinstance(text, str)), "")


def _clean(step: str) -> str:
    """A step on one line, without a check box and without emphasis."""
    text, before = " ".join(step.split()), None
    while text != before:
        before = text
        text = _CHECKBOX.sub("", text, count=1) if _CHECKBOX.match(text) else text
        text = _EMPHASIS.sub(r"\2", text).strip()
        text = text.removeprefix("**").removesuffix("**").strip()
    text = shorten(text, MAX_STEP_LENGTH)
    return text if any(character.isalnum() for character in text) else ""


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))
