"""The words around a match, and where the match stands."""

import re
from collections import Counter
from collections.abc import Collection

from zkchat.model.index import StoredSection
from zkchat.vault.notes.parse import file_title
from zkchat.vault.search.query import parse
from zkchat.vault.search.terms import query_terms, term_spans, terms

LENGTH = 200
_LEAD = 40
"""Characters shown before the first match."""
_HEADING = re.compile(r"#{1,6}\s")


def below_heading(section: str) -> str:
    """The text of a section without the heading that it begins with, unless there is nothing else in it."""
    first, _, rest = section.partition("\n")
    return rest if _HEADING.match(first) and rest.strip() else section


def snippet(text: str, asked: Collection[str]) -> str:
    """A line or two of the text, where most of the terms asked for stand together."""
    flat = " ".join(text.split())
    if len(flat) <= LENGTH:
        return flat
    matches = [(start, term) for start, _, term in term_spans(flat) if term in asked]
    start = max(0, _densest(matches) - _LEAD) if matches else 0
    return _cut(flat, min(start, len(flat) - LENGTH))


def matches(text: str, query: str) -> list[tuple[int, int]]:
    """Where the words of a search stand in a text, in order and apart from each other."""
    asked = set(query_terms(parse(query).ranking))
    found: list[tuple[int, int]] = []
    for start, end, term in term_spans(text):
        if term in asked:
            begin = found.pop()[0] if found and start <= found[-1][1] else start
            found.append((begin, end))
    return found


def _densest(matches: list[tuple[int, str]]) -> int:
    """The first place from which most different terms are within reach."""
    reach = LENGTH - _LEAD
    best, most = 0, 0
    near: Counter[str] = Counter()
    """How often each term stands within reach."""
    end = 0
    for start, term in matches:
        while end < len(matches) and matches[end][0] < start + reach:
            near[matches[end][1]] += 1
            end += 1
        if len(near) > most:
            best, most = start, len(near)
        near[term] -= 1
        if not near[term]:
            del near[term]
    return best


def _cut(flat: str, start: int) -> str:
    """So many characters from about there, in whole words where there are any."""
    end = start + LENGTH
    if start:
        space = flat.find(" ", start, start + _LEAD)
        start = space + 1 if space >= 0 else start
    if end < len(flat):
        space = flat.rfind(" ", end - _LEAD, end)
        end = space if space >= 0 else end
    return f"{'… ' if start else ''}{flat[start:end]}{' …' if end < len(flat) else ''}"


def why(section: StoredSection, asked: Collection[str]) -> str:
    """Where the terms asked for stand: `title, text`."""
    places = {
        "title": f"{section.title}\n{file_title(section.path)}",
        "alias": "\n".join(section.aliases),
        "heading": "\n".join(section.heading_path),
        "text": section.text,
    }
    return ", ".join(place for place, text in places.items() if not set(asked).isdisjoint(terms(text)))
