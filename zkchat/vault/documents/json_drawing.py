"""The JSON of drawings, as untrusted input: what is not as it should be is counted, and said in one sentence."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from zkchat.model.text import counted
from zkchat.vault.documents.document import UnreadableDocument
from zkchat.vault.documents.drawing import Box, number_of

Json = Mapping[str, object]


def load(text: str) -> Json:
    """The object that a file holds; an empty one for an empty file. Raises `UnreadableDocument`."""
    if not text.strip("\ufeff \t\r\n"):
        return {}
    try:
        content = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UnreadableDocument("is no JSON") from error
    if not isinstance(content, dict):
        raise UnreadableDocument("holds no JSON object")
    return content


class Malformed:
    """Counts what of a file is left out, by the kind of it."""

    def __init__(self) -> None:
        self._odd: Counter[str] = Counter()
        self._beyond: dict[str, int] = {}

    def add(self, kind: str) -> None:
        self._odd[kind] += 1

    def beyond(self, kind: str, most: int) -> None:
        self._beyond[kind] = most

    def sentences(self) -> tuple[str, ...]:
        odd = [counted(number, f"malformed {kind}") for kind, number in self._odd.items()]
        found = [f"It holds {' and '.join(odd)}, used as far as possible."] if odd else []
        beyond = [f"more than {most:,} {kind}s" for kind, most in self._beyond.items()]
        return (*found, *([f"It holds {' and '.join(beyond)}; the others are left out."] if beyond else ()))


def objects(content: Json, key: str, kind: str, malformed: Malformed) -> Iterator[Json]:
    """The objects of a list; nothing where there is none."""
    value = content.get(key)
    if value is None:
        return
    if not isinstance(value, list):
        malformed.add(f"list of {kind}s")
        return
    for each in value:
        if isinstance(each, dict):
            yield each
        else:
            malformed.add(kind)


def text_at(value: Json, key: str) -> str:
    """The text at this key; empty where there is another value or none."""
    found = value.get(key)
    return found.encode(errors="replace").decode() if isinstance(found, str) else ""


def box_at(value: Json) -> Box | None:
    """The place of a node or element; None where its numbers are not as they should be."""
    numbers = [number_of(value.get(key)) for key in ("x", "y", "width", "height")]
    known: Sequence[float] = [number for number in numbers if number is not None]
    return Box(*known) if len(known) == len(numbers) else None
