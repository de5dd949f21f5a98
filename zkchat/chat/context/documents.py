"""The documents that a message links to, the short forms of what is too long, and summaries in a line. Pure."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from zkchat.chat.context.assembly import digest
from zkchat.chat.context.condensing import Count, condense_message, condense_text, truncate
from zkchat.chat.context.formatting import NO_ROOM, augmented_text, images_of, words_alone
from zkchat.chat.context.strategies import truncation_level
from zkchat.core import (
    ChatMessage,
    DocumentReference,
    EvidencePart,
    FilePart,
    Heading,
    ImagePart,
    Part,
    StorageError,
    TextPart,
    Tokenizer,
    VaultError,
    lazy_pattern,
    shorten,
)
from zkchat.index import Library, terms
from zkchat.notes import blank, flatten, link_catalog, parse_note, plain, prose_of, sentences

MAX_DOCUMENT_SHARE: Final = 0.20
"""A document is included whole if it takes at most this share of what is left for messages, where the model can read
the rest by itself; so are all embeds together."""
MIN_EXCERPT_TOKENS: Final = 24
"""Below this no part of a document is worth sending."""
TAG_TOKENS: Final = 24
"""What the tags around a document take, with the words that say which part of it follows."""


class DocumentRoom(Struct, frozen=True, kw_only=True):
    """The tokens that the documents of a message may take."""

    tokens: int
    share: float = 1.0
    """How much of what is left one of them may take."""
    question: str = ""
    """What the sections of a long document are chosen by; empty for a model that can read on from its beginning."""
    excerpts: bool = True
    """Whether a document that is too long goes in by parts."""


def include_documents(
    references: Sequence[DocumentReference],
    text_of: Callable[[DocumentReference], str],
    tokenizer: Tokenizer,
    room: DocumentRoom,
    embeds_of: Callable[[DocumentReference, str], Sequence[DocumentReference]] = lambda _reference, _text: (),
    brought: Iterable[tuple[Sequence[DocumentReference], float]] = (),
) -> tuple[list[FilePart], list[DocumentReference]]:
    """The documents, whole or in part, in the order of the links, and a reference for each that says what is included.

    Several sections of a document may be asked for, each by a reference of its own. What an included document embeds
    (`embeds_of` it and its text) comes after all that was linked, each once; the embeds of embeds stay out. Before them
    come those that are `brought` along, the first ones first, each group in its share of what is left.
    """
    intake = _DocumentIntake(text_of, tokenizer)
    linked = [reference for reference in references if intake.consider(reference)]
    sizes = [tokenizer.count(intake.texts[name_of(reference)]) for reference in linked]
    left = room.tokens
    for place, (reference, size) in enumerate(zip(linked, sizes, strict=True)):
        level = truncation_level(sizes[place:], left) if room.share == 1 else size
        budget = min(size, level, int(room.share * left))
        if (size <= budget or room.excerpts) and not intake.covers(reference):
            left -= intake.include(reference, budget, room.question)
    for group, share in brought:
        left -= intake.fill(group, int(share * left), room.question)
    for_embeds = int(MAX_DOCUMENT_SHARE * left)
    whole = {part.name for part in intake.parts if not part.extent}
    for reference in [each for each in linked if name_of(each) in whole]:
        for embed in embeds_of(reference, intake.texts[name_of(reference)]):
            is_new = not intake.covers(embed) and intake.consider(embed)
            if is_new and tokenizer.count(intake.texts[name_of(embed)]) <= for_embeds:
                for_embeds -= intake.include(embed, for_embeds, "")
    return intake.parts, list(intake.rows.values())


class _DocumentIntake:
    """The documents considered so far, and the texts of those that fit."""

    def __init__(self, text_of: Callable[[DocumentReference], str], tokenizer: Tokenizer) -> None:
        self._text_of = text_of
        self._tokenizer = tokenizer
        self._seen: set[str] = set()
        self.texts: dict[str, str] = {}
        """By name, of what was considered."""
        self.parts: list[FilePart] = []
        self.rows: dict[str, DocumentReference] = {}
        """One for each document, by path; broken links by what they say."""

    def covers(self, reference: DocumentReference) -> bool:
        """Whether this document or section is included, or is part of a document that is."""
        path, name = reference.relative_path, name_of(reference)
        return any(part.name == name or (part.name == path and not part.extent) for part in self.parts)

    def consider(self, reference: DocumentReference) -> bool:
        """Whether it has text, and was not considered before."""
        name = name_of(reference)
        is_new = reference.relative_path is not None and name not in self._seen
        self._seen.add(name)
        self._report(reference)
        text = self._text_of(reference) if is_new else ""
        if text.strip():
            self.texts[name] = text
        return bool(text.strip())

    def include(self, reference: DocumentReference, budget: int, question: str) -> int:
        """Include as much of a document as that; returns the tokens it takes."""
        name = name_of(reference)
        text = self.texts[name]
        sent, extent = excerpt_document(text, budget, self._tokenizer.count, question)
        if not sent:
            return 0
        whole = digest(text) if extent else ""
        part = FilePart(name=name, media_type="text/markdown", text=sent, extent=extent, digest=whole)
        self.parts.append(part)
        self._report(replace(reference, included=True, extent=extent, hits=0))
        return self._tokenizer.count(sent)

    def fill(self, references: Sequence[DocumentReference], room: int, question: str) -> int:
        """Include one after the other, each in at most half of what is left; returns the tokens they take."""
        left = room
        for place, reference in enumerate(references):
            if left < 4 * MIN_EXCERPT_TOKENS:
                break
            if not self.covers(reference) and self.consider(reference):
                size = self._tokenizer.count(self.texts[name_of(reference)]) + TAG_TOKENS
                most = left if size <= left // 2 or place == len(references) - 1 else left // 2
                left -= self.include(reference, most - TAG_TOKENS, question) + TAG_TOKENS
        return room - left

    def _report(self, reference: DocumentReference) -> None:
        key = reference.relative_path or reference.wikilink
        self.rows[key] = self.rows[key].merged_with(reference) if key in self.rows else reference


def anchor_in(reference: DocumentReference) -> str:
    """The heading or block that a reference leads to; empty for a whole document."""
    return reference.anchor if reference.anchor_found else ""


def full_name(path: str, anchor: str) -> str:
    """How the place is called in the record of a request."""
    return f"{path}#{anchor}" if anchor else path


def name_of(reference: DocumentReference) -> str:
    return full_name(reference.relative_path or reference.wikilink, anchor_in(reference))


def excerpt_document(text: str, budget: int, count: Count, question: str = "") -> tuple[str, str]:
    """At most `budget` tokens of a document: all of it, else its outline and what bears on the question; without one,
    its outline and its beginning. Nothing where there is no room for any of it.

    With it comes in words which part it is; nothing for the whole.
    """
    if count(text) <= budget:
        return text, ""
    if budget < MIN_EXCERPT_TOKENS:
        return "", ""
    note = parse_note("", text)
    outline = _outline(note.headings, int(0.2 * budget), count)
    body, room = text[note.body_start :].strip(), budget - count(outline)
    while True:
        part = condense_text(body, room, count, question=question) if question else truncate(body, room, count)
        excerpt = "\n\n".join(filter(None, [outline, part]))
        over = count(excerpt) - budget
        if over <= 0:
            break
        room -= over
    share = f"about {max(1, min(99, round(100 * len(part) / len(text))))} % of its text"
    return excerpt, f"outline and {share}" if outline else share


def _outline(headings: Sequence[Heading], budget: int, count: Count) -> str:
    """The headings, without the lowest levels where they are too many; empty where there is no room for any."""
    if len(headings) < 2:
        return ""
    for deepest in range(6, 0, -1):
        lines = [f"{'  ' * (each.level - 1)}- {each.text}" for each in headings if each.level <= deepest]
        outline = "\n".join(["Outline:", *lines])
        if lines and count(outline) <= budget:
            return outline
    return ""


def short_form(message: ChatMessage, budget: int, count: Count, *, can_read: bool, is_plain: bool = False) -> str:
    """A message in at most `budget` tokens: its words as they are, and of its documents what there is room for; only
    where the words alone are too long, a short form of them. Of its images their names stay."""
    links = tuple(replace(each, included=False, extent="") for each in message.references)  # to what does not follow
    parts = tuple(part for part in message.parts if isinstance(part, TextPart | ImagePart))
    words, unsent = replace(message, parts=parts, references=links), [NO_ROOM] * len(images_of(message))
    text = augmented_text(words, can_read=can_read, is_plain=is_plain, unsent=unsent)
    if count(text) > budget:
        if unsent and count(bare := words_alone(message)) <= budget:
            return bare
        remark = "(read_attachment reads on in this text.)" if can_read and message.role == "user" else ""
        return condense_message(message.text, budget, count, remark=remark)
    room = budget - count(text)
    while room >= MIN_EXCERPT_TOKENS:
        shown = _with_documents(message, words, room, count)
        longer = augmented_text(shown, can_read=can_read, is_plain=is_plain, unsent=unsent)
        over = count(longer) - budget
        if over <= 0:
            return longer
        room -= max(over, budget // 50)
    return text


def _with_documents(message: ChatMessage, words: ChatMessage, room: int, count: Count) -> ChatMessage:
    """The message with so many tokens of what it brings along: passages that answer first, then documents."""
    passages: list[Part] = []
    for part in message.parts:
        if isinstance(part, EvidencePart) and part.evidence:
            tokens = count("\n".join(each.text for each in part.evidence)) + TAG_TOKENS * len(part.evidence)
            if tokens <= room:
                passages.append(part)
                room -= tokens
    files = message.parts_of(FilePart)
    level = truncation_level([count(part.text) + TAG_TOKENS for part in files], room) - TAG_TOKENS
    shortened: list[FilePart] = []
    for part in files:
        text, extent = excerpt_document(part.text, level, count, message.text)
        extent = "shortened twice" if extent and part.extent else extent or part.extent
        shortened.append(replace(part, text=text, extent=extent))
    included = {part.name: part.extent for part in shortened if part.text}
    files_of = {name.partition("#")[0]: name for name in reversed(included)}  # or a section of it, the first one
    references = tuple(
        replace(each, included=True, extent=included[files_of[path]])
        if (path := each.relative_path) in files_of
        else each
        for each in words.references
    )
    parts = (*words.parts, *(part for part in shortened if part.text), *passages)
    return replace(message, parts=parts, references=references)


MAX_SUMMARIES = 20
"""References that get a summary: nobody reads more of them, and for each a note is read."""
MAX_SUMMARY_CHARS = 200

_COMMENT = lazy_pattern(r"%%.*?(?:%%|\Z)", re.DOTALL)
_PARAGRAPH = lazy_pattern(r"(?:^.*\S.*(?:\n|\Z))+", re.MULTILINE)
_HEADING = lazy_pattern(r"^ {0,3}#{1,6}\s.*\n?|^(?:.*\n)+? {0,3}(?:=+|-+)[ \t]*(?:\n|\Z)", re.MULTILINE)
_NO_PROSE = lazy_pattern(r"^\s*(?:[-*+]\s|\d{1,9}[.)]\s|[|>])", re.MULTILINE)
"""Where a list, a table or a quotation begins."""


def add_summaries(library: Library, references: Sequence[DocumentReference]) -> tuple[DocumentReference, ...]:
    """The references, the first of them with summaries of their documents, or of the sections they lead to."""
    first: list[DocumentReference] = []
    for each in references[:MAX_SUMMARIES]:
        path, summary = each.relative_path, each.summary
        if path and not summary:
            with suppress(StorageError, VaultError):
                anchor = anchor_in(each)
                summary = summarize(library.section(path, anchor) if anchor else library.read(path))
        first.append(replace(each, summary=summary))
    return (*first, *references[MAX_SUMMARIES:])


def summarize(text: str) -> str:
    """What a text says of itself: at most `MAX_SUMMARY_CHARS` characters on one line, without marks and links."""
    head = flatten(text[:6000])
    said = prose_of(head)
    comments = [match.span() for match in _COMMENT.finditer(said)]
    head, said = blank(head, comments), blank(said, comments)
    for match in _PARAGRAPH.finditer(said):  # without headings above it, and without the list that follows it
        start, end = match.span()
        while heading := _HEADING.match(said, start, end):
            start = heading.end()
        other = _NO_PROSE.search(said, start, end)
        end = other.start() if other else end
        if _says_something(said[start:end]):
            whole = plain_line(head[start:end])
            return whole if len(whole) <= MAX_SUMMARY_CHARS else _first(map(plain_line, sentences(head[start:end])))
    # Where there is no other text, the first items of lists. The cells of a table say little alone.
    items = (item for item in sentences(head[len(said) - len(said.lstrip()) :]) if not item.startswith("|"))
    return _first(plain_line(item) for item in items if _says_something(prose_of(item)))


def _says_something(said: str) -> bool:
    return len(terms(re.sub(r"#\S+", " ", said).replace("\0", " "))) >= 3


def _first(pieces: Iterable[str]) -> str:
    """As many of them as there is room for; the first of them in any case, cut if need be."""
    summary = ""
    for piece in filter(None, pieces):
        if summary and len(summary) + 1 + len(piece) > MAX_SUMMARY_CHARS:
            break
        summary = f"{summary} {piece}".strip()
    return shorten(summary, MAX_SUMMARY_CHARS, whole_words=True)


def plain_line(markdown: str) -> str:
    """On one line, as somebody would read it out."""
    markdown = markdown.replace("\0", "")
    pieces: list[str] = []
    position = 0
    for link in link_catalog.scan(markdown):
        if link.syntax == "wikilink":
            shown = "" if link.embed else link.display or link.target or link.anchor
            pieces += (markdown[position : link.start], shown)
            position = link.end
    return plain(re.sub(r"\s\^[\w-]+\s*$", "", "".join([*pieces, markdown[position:]])))
