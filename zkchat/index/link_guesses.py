"""What broken links could have meant: a file that moved or is called a little differently, a heading that changed."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import (
    IMAGES,
    NOTE_SUFFIX,
    RECORDINGS,
    Ambiguous,
    Link,
    Missing,
    Resolved,
    file_title,
    is_note,
    without_suffix,
)
from zkchat.index import graph
from zkchat.index.library import Library
from zkchat.index.search.terms import has_unspaced, idf, shared_letters, stem
from zkchat.language import NEGATORS
from zkchat.notes import heading_key, is_attachment, name_key

MIN_LIKENESS: Final = 0.8
"""Of a name or heading that is proposed for it; chosen by `benchmarks.links.repairs`."""
_MIN_WORD: Final = 4
"""Letters of a word that may have another ending, or less than it has with a wrong letter: shorter ones are others."""
_MIN_NAME: Final = 8
"""Letters of a name with a wrong one; a shorter one is mostly that of another thing."""
MAX_CANDIDATES: Final = 3
_FOREIGN_SUFFIX: Final = re.compile(r"\.(?:markdown|mdown|mkd|mdx|txt|html?|org)\Z", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]+|\d+|[+<=>~]")
"""Digits and the signs of names such as `C++` are words of their own."""
_NEGATORS: Final = frozenset(" ".join(NEGATORS.values()).split())
_ID: Final = re.compile(r"\d{8}[tT]\d{4}|\d{8,17}")
_UNSAFE_IN_ANCHOR: Final = re.compile(r"[#|^\[\]\\]|%%")
_NOT_IN_SLUG: Final = re.compile(r"[^\w\- ]")


class Repair(Struct, frozen=True, kw_only=True):
    path: str
    anchor: str = ""
    """The heading or block; as it was where that is not what is wrong."""
    reason: str
    """As the end of a sentence: `it is in Garden/ now`."""
    confidence: float
    is_sure: bool = False
    """Whether it is the only file, or place, of exactly that name but for case, normal form, folder or encoding."""


class BrokenLink(Struct, frozen=True, kw_only=True):
    """A link that leads nowhere, or to a place that its note does not have; as often as it stands in its note."""

    source: str
    link: Link
    is_missing: bool
    """Whether its file is missing; else its heading or block."""
    lines: tuple[int, ...]
    repairs: tuple[Repair, ...] = ()
    """The likeliest first."""

    @property
    def is_sure(self) -> bool:
        return bool(self.repairs) and self.repairs[0].is_sure


def broken_links(
    library: Library, renamed: Mapping[str, str] | None = None, *, min_likeness: float = MIN_LIKENESS
) -> list[BrokenLink]:
    """The broken links of all notes with what they could have meant: sure repairs first, then by likelihood.

    Templates and symbolic links are left out. `renamed` are files that had another path: by that path, the present one.
    """
    doubts = graph.doubts(library)
    finder = RepairFinder(library, renamed, min_likeness=min_likeness)
    found: dict[tuple[str, str], BrokenLink] = {}
    sources = {each.source for each in (*doubts.broken, *doubts.astray) if each.source}
    kept = {*library.without_templates(sources)} - library.linked_files(sources).keys()
    for each in (*doubts.broken, *doubts.astray):
        if each.source not in kept or each.source is None:
            continue
        key = each.source, each.link.text
        if key in found:
            found[key] = replace(found[key], lines=(*found[key].lines, each.link.line))
            continue
        is_missing = isinstance(each.found, Missing)
        repairs: tuple[Repair, ...] = ()
        if is_note(each.source):  # in a canvas or drawing, links are not where they are read
            find = finder.of_target if is_missing else finder.of_anchor
            repairs = find(each.link, each.source)
        found[key] = BrokenLink(
            source=each.source, link=each.link, is_missing=is_missing, lines=(each.link.line,), repairs=repairs
        )

    def likelihood(link: BrokenLink) -> tuple[bool, float, str, int]:
        return not link.is_sure, -link.repairs[0].confidence if link.repairs else 0, link.source, link.lines[0]

    return sorted(found.values(), key=likelihood)


class RepairFinder:
    """Looks for what links could have meant, among the names of all files."""

    def __init__(
        self, library: Library, renamed: Mapping[str, str] | None = None, *, min_likeness: float = MIN_LIKENESS
    ) -> None:
        self._library = library
        self._min_likeness = min_likeness
        self._files = library.files()
        self._renamed = {name_key(without_suffix(path)): now for path, now in (renamed or {}).items()}

    def of_target(self, link: Link, source: str) -> tuple[Repair, ...]:
        found = [*self._by_spelling(link, source), *self._by_name(link), *self._by_history(link)]
        if not any(repair.is_sure for repair in found):
            kind = _kind(link.target) if is_attachment(link.target) else _kind(NOTE_SUFFIX)
            like = (*self._by_loose_name(link), *self._by_id(link), *self._by_similar_name(link))
            found += [repair for repair in like if _kind(repair.path) == kind]
        return _best(replace(repair, anchor=link.anchor) for repair in found)

    def of_anchor(self, link: Link, source: str) -> tuple[Repair, ...]:
        """Places that a link could have meant whose note has no such heading or block."""
        found = self._library.resolve(link, source, suggestions=0)
        if not isinstance(found, Resolved | Ambiguous):
            return ()
        outline = self._library.outline(found.path)
        last = link.anchor.rpartition("#")[2].strip()
        if last.startswith("^"):
            blocks = [block.id for block in outline.blocks] if outline else []
            return _best(self._similar_blocks(last[1:], blocks, found.path))
        headings = [*dict.fromkeys(heading.text for heading in outline.headings)] if outline else []
        return _best(self._similar_headings(link.anchor, headings, found.path))

    def _by_spelling(self, link: Link, source: str) -> Iterator[Repair]:
        """Files that the target names in an encoding or notation that links do not have."""
        for target, reason in _respelled(link.target):
            found = self._library.resolve(Link(text="", target=target), source, suggestions=0)
            if isinstance(found, Resolved) and found.via in {"name", "path"}:
                yield Repair(path=found.path, reason=reason, confidence=1.0, is_sure=True)

    def _by_name(self, link: Link) -> Iterator[Repair]:
        """Files of exactly this name in other folders."""
        for target in (link.target, *(target for target, _ in _respelled(link.target))):
            name = _last(target)
            paths = self._by_exact_name.get(name_key(name if is_attachment(name) else without_suffix(name)), [])
            for path in paths if len(paths) <= MAX_CANDIDATES else ():
                folder = path.rpartition("/")[0]
                reason = f"it is in {folder}/ now" if folder else "it is at the top of the vault now"
                if len(paths) > 1:
                    reason = f"one of {len(paths)} files of that name"
                shared = len({*path.split("/")[:-1]} & {*link.target.split("/")[:-1]})
                confidence = 1.0 if len(paths) == 1 else 0.8 + min(shared, 9) / 100
                yield Repair(path=path, reason=reason, confidence=confidence, is_sure=len(paths) == 1)

    def _by_history(self, link: Link) -> Iterator[Repair]:
        key = name_key(without_suffix(link.target.strip("/")))
        found = {now for old, now in self._renamed.items() if old == key or old.endswith(f"/{key}")}
        for path in found:
            reason = f"it was renamed to {file_title(path)}"
            yield Repair(path=path, reason=reason, confidence=0.97, is_sure=len(found) == 1)

    def _by_loose_name(self, link: Link) -> Iterator[Repair]:
        """Notes whose name differs in accents, hyphens, spaces or signs only."""
        name = without_suffix(_last(unquote(link.target)))
        for key, reason in (
            (loose_key(name), "spelled differently"),
            (_in_order(loosened(name)), "its words are in another order"),
        ):
            paths = self._by_loose_key.get(key, ())
            if len(paths) == 1:  # what several notes are called is meant by none of them
                yield Repair(path=next(iter(paths)), reason=reason, confidence=0.95)

    def _by_id(self, link: Link) -> Iterator[Repair]:
        ids = {*_ID.findall(link.target)}
        for row in self._files if ids else ():
            if is_note(row.path) and ids.intersection(_ID.findall(file_title(row.path))):
                yield Repair(path=row.path, reason="has the same id", confidence=0.96)

    def _by_similar_name(self, link: Link) -> Iterator[Repair]:
        name = without_suffix("" if link.target.endswith("/") else _last(link.target))
        missing = self._library.resolve(Link(text="", target=name), None, suggestions=5)
        for suggestion in missing.suggestions if isinstance(missing, Missing) else ():
            likeness = self._likeness(name, without_suffix(suggestion))
            found = self._library.resolve(Link(text="", target=suggestion), None, suggestions=0)
            if not likeness or not isinstance(found, Resolved | Ambiguous):
                continue
            if (
                found.via == "name" or " " in suggestion
            ):  # a form of a single word that is only an alias is another word
                for path in (found.path, *(found.others if isinstance(found, Ambiguous) else ())):
                    yield Repair(path=path, reason="has a similar name", confidence=0.94 * likeness)

    def _similar_headings(self, anchor: str, headings: list[str], path: str) -> Iterator[Repair]:
        last = anchor.rpartition("#")[2].strip()
        nested = [heading for heading in headings if "#" in anchor and heading_key(heading) == heading_key(last)]
        on_the_web = {heading: _NOT_IN_SLUG.sub("", heading.casefold()).replace(" ", "-") for heading in headings}
        slugs = [heading for heading in headings if on_the_web[heading] == last.casefold()]
        loose = [heading for heading in headings if loose_key(heading) == loose_key(last)]
        for same, reason, confidence in (
            (nested, "the heading is elsewhere in the note", 1.0),
            (slugs, "the heading is written as in a web address", 1.0),
            (loose, "the heading is spelled differently", 0.95),
        ):
            for heading in same:
                is_sure = len(same) == 1 and confidence == 1.0
                yield Repair(
                    path=path, anchor=anchor_text(heading), reason=reason, confidence=confidence, is_sure=is_sure
                )
        for heading in headings:
            if likeness := self._likeness(last, heading, is_heading=True):
                reason = "there is a similar heading"
                yield Repair(path=path, anchor=anchor_text(heading), reason=reason, confidence=0.94 * likeness)

    def _similar_blocks(self, block: str, blocks: Iterable[str], path: str) -> Iterator[Repair]:
        paths = self._by_block.get(block.casefold(), [])
        if len(paths) == 1 and paths[0] != path:
            yield Repair(path=paths[0], anchor=f"^{block}", reason="the block is in that note now", confidence=0.9)
        for other in blocks:
            if likeness := self._likeness(block, other):
                yield Repair(
                    path=path, anchor=f"^{other}", reason="there is a similar block", confidence=0.9 * likeness
                )

    def _likeness(self, written: str, name: str, *, is_heading: bool = False) -> float:
        """How alike two names are letter by letter, 1 at most; 0 unless one may be written for the other by a slip.

        Other digits are none, nor is another word or another beginning of one. Headings, which are edited, may have
        words more, or less.
        """
        likeness = SequenceMatcher(None, name_key(written), name_key(name), autojunk=False).ratio()
        ones, others = _WORD.findall(loosened(written)), _WORD.findall(loosened(name))
        if likeness < self._min_likeness or has_unspaced(name) or _digits(ones) != _digits(others) or ones == others:
            return 0
        slips: list[tuple[str, str]] = []
        missing: list[str] = []
        added: list[str] = []
        for kind, start, end, first, last in SequenceMatcher(None, ones, others, autojunk=False).get_opcodes():
            if kind == "replace" and end - start == last - first:
                slips += zip(ones[start:end], others[first:last], strict=True)
            elif kind != "equal":
                missing += others[first:last]
                added += ones[start:end]
        may_be_edited = is_heading and not (missing and added) and _NEGATORS.isdisjoint((*missing, *added))
        if (missing or added) and not may_be_edited:
            return 0
        is_alone, is_long = len(others) == 1, len(loose_key(name)) >= _MIN_NAME
        return likeness if all(self._is_slip(*pair, is_alone=is_alone, is_long=is_long) for pair in slips) else 0

    def _is_slip(self, word: str, meant: str, *, is_alone: bool, is_long: bool) -> bool:
        """Whether a word has another ending of two letters at most, or one letter wrong that makes no word of it."""
        shorter, longer = sorted((word, meant), key=len)
        start = shared_letters(shorter, longer)
        end = shared_letters(shorter[start:][::-1], longer[start:][::-1])
        less, more = shorter[start : len(shorter) - end], longer[start : len(longer) - end]
        if not (less or end):
            return len(more) <= 2 and start >= _MIN_WORD and (not is_alone or stem(word) == stem(meant))
        is_one_letter = len(more) == 1 or (len(more) == 2 and less == more[::-1])
        if not (is_one_letter and is_long and start > 0 and len(longer) > _MIN_WORD):
            return False
        term = stem(word)
        in_one = idf(self._library.counts().sections, 1)
        return self._library.idf([term]).get(term, in_one) >= in_one - 0.1  # else it stands elsewhere too, and is meant

    @cached_property
    def _by_exact_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for row in self._files:
            found.setdefault(name_key(file_title(row.path)), []).append(row.path)
        return found

    @cached_property
    def _by_loose_key(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for row in self._files:
            for name in (file_title(row.path), row.title, *row.aliases):
                for key in {loose_key(name), _in_order(loosened(name))} - {""}:
                    found.setdefault(key, set()).add(row.path)
        return found

    @cached_property
    def _by_block(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for row in self._files:
            outline = self._library.outline(row.path) if is_note(row.path) else None
            for block in outline.blocks if outline else ():
                found.setdefault(block.id.casefold(), []).append(row.path)
        return found


def _respelled(target: str) -> Iterator[tuple[str, str]]:
    """Other spellings of a target, each with what is wrong about this one."""
    if "%" in target and (decoded := unquote(target)) != target:
        yield decoded, "its name is written with %20 and the like"
    if "\\" in target:
        yield target.replace("\\", "/"), "it has backslashes"
    base = unquote(target)
    if is_note(base) and is_note(without_suffix(base)):
        yield without_suffix(base), "its extension is doubled"
    elif foreign := _FOREIGN_SUFFIX.search(base):
        yield base[: foreign.start()] + NOTE_SUFFIX, f"the file's name ends in {NOTE_SUFFIX}"
    if (trimmed := target.strip().strip("\"'")) != target:
        yield trimmed, "there are quotes around its name"


def _last(target: str) -> str:
    return target.replace("\\", "/").rstrip("/").rpartition("/")[2]


def loose_key(name: str) -> str:
    """A key that ignores accents, punctuation and spaces too."""
    return "".join(f"{word} " if word.isdecimal() else word for word in _WORD.findall(loosened(name)))


def loosened(name: str) -> str:
    """In small letters, without accents."""
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _digits(words: Iterable[str]) -> list[str]:
    return [word for word in words if word.isdecimal()]


def _kind(path: str) -> str:
    """Images are of one kind, and so are recordings; any other file is of its extension's."""
    extension = path.rpartition(".")[2].lower()
    return next((kind[0] for kind in (IMAGES, RECORDINGS) if extension in kind), extension)


def _in_order(key: str) -> str:
    """The digits of a key as they stand, then its words in the order of the alphabet."""
    return " ".join(sorted(_WORD.findall(key), key=lambda word: "" if word.isdecimal() else word))


def anchor_text(heading: str) -> str:
    return " ".join(_UNSAFE_IN_ANCHOR.sub(" ", heading).split())


def _best(repairs: Iterable[Repair]) -> tuple[Repair, ...]:
    """The likeliest ones, each place once."""
    best: dict[tuple[str, str], Repair] = {}
    for repair in sorted(repairs, key=lambda repair: (not repair.is_sure, -repair.confidence, repair.path)):
        best.setdefault((repair.path, repair.anchor), repair)
    found = [*best.values()]
    if sum(repair.is_sure for repair in found) > 1:
        found = [replace(repair, is_sure=False) for repair in found]
    return tuple(found[:MAX_CANDIDATES])
