"""Summaries of documents: taken from their text, found among earlier ones, or written in the background."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Literal, NamedTuple, Protocol

from msgspec.structs import replace

from zkchat.chat.context.assembly import DESCRIPTION, Shares, budget_for, request_from
from zkchat.chat.context.formatting import format_document
from zkchat.chat.context.selection import wants_evidence
from zkchat.core import (
    ChatMessage,
    DocumentReference,
    Finish,
    History,
    ModelProvider,
    ModelRequest,
    PromptMessage,
    StorageError,
    TextChunk,
    VaultError,
    ZkchatError,
    lazy_pattern,
    shorten,
)
from zkchat.index import Library, query_terms, terms
from zkchat.notes import blank, detect_language, flatten, link_catalog, plain, prose_of, sentences

MAX_SUMMARIES = 20
"""References that get a summary: nobody reads more of them, and for each a note is read."""
MAX_SUMMARY_CHARS = 200
"""Characters of a summary."""
MAX_NOTE_CHARS = 6000
"""Characters of a note that are looked at, so that a long one takes no longer than others."""
MIN_WORDS = 3
"""A paragraph of fewer words, links aside, says nothing by itself."""

_COMMENT = lazy_pattern(r"%%.*?(?:%%|\Z)", re.DOTALL)
_PARAGRAPH = lazy_pattern(r"(?:^.*\S.*(?:\n|\Z))+", re.MULTILINE)
_HEADING = lazy_pattern(r"^ {0,3}#{1,6}\s.*\n?|^(?:.*\n)+? {0,3}(?:=+|-+)[ \t]*(?:\n|\Z)", re.MULTILINE)
_NO_PROSE = lazy_pattern(r"^\s*(?:[-*+]\s|\d{1,9}[.)]\s|[|>])", re.MULTILINE)
"""Where a list, a table or a quotation begins."""
_TAG = lazy_pattern(r"#\S+")
_BLOCK_ID = lazy_pattern(r"\s\^[\w-]+\s*$")


class DocumentVersion(NamedTuple):
    """A document, or a section of one, for as long as its text is this one."""

    path: str
    anchor: str
    fingerprint: bytes


class Summary(NamedTuple):
    """At most `MAX_SUMMARY_CHARS` characters on one line, without marks and links; empty where nothing is said."""

    text: str
    is_truncated: bool = False
    """Whether it is the beginning of a longer paragraph, so that a sentence about the whole would say more."""


class SummaryCache(Protocol):
    """What models said of documents, kept for other sessions."""

    def find(self, path: str, anchor: str, fingerprint: bytes) -> str:
        """Empty where there is none for this text."""
        ...

    def keep(self, path: str, anchor: str, fingerprint: bytes, sentence: str) -> None: ...

    def described(self) -> list[tuple[str, bytes]]:
        """Path and fingerprint of every document that something is said of."""
        ...

    def forget(self, documents: Iterable[tuple[str, bytes]]) -> None: ...


class Summaries:
    """A document is read once, and again when the index has seen it change."""

    def __init__(self, library: Library, cache: SummaryCache | None = None) -> None:
        self._library = library
        self._cache = cache
        self._known: dict[DocumentVersion, Summary] = {}

    def add_to(self, references: Sequence[DocumentReference]) -> tuple[DocumentReference, ...]:
        """The references, the first of them with summaries of their documents, or of the sections they lead to."""
        first = references[:MAX_SUMMARIES]
        prints = self._fingerprints(first)
        described = (
            reference if reference.summary else replace(reference, summary=self._summary(reference, prints).text)
            for reference in first
        )
        return (*described, *references[MAX_SUMMARIES:])

    def truncated(self, references: Sequence[DocumentReference]) -> list[DocumentVersion]:
        """The versions among these whose summary is only the beginning of a longer paragraph."""
        prints = self._fingerprints(references)
        versions = (_version(reference, prints) for reference in references)
        known = dict.fromkeys(version for version in versions if version and version in self._known)
        return [version for version in known if self._known[version].is_truncated]

    def replace(self, version: DocumentVersion, sentence: str) -> None:
        """From now on this is the summary, in later sessions too."""
        self._known[version] = Summary(sentence)
        if self._cache:
            self._cache.keep(*version, sentence)

    def tidy(self) -> None:
        """Forget what was said of documents that are gone, or say something else now."""
        if self._cache:
            described = self._cache.described()
            now = self._library.whole.fingerprints({path for path, _ in described})
            if gone := [(path, print_) for path, print_ in described if now.get(path) != print_]:
                self._cache.forget(gone)

    def _fingerprints(self, references: Iterable[DocumentReference]) -> Mapping[str, bytes]:
        try:
            return self._library.fingerprints({each.relative_path for each in references if each.relative_path})
        except StorageError:
            return {}

    def _summary(self, reference: DocumentReference, prints: Mapping[str, bytes]) -> Summary:
        version = _version(reference, prints)
        if version is None:
            return self._read(reference)
        if version not in self._known:
            self._known[version] = self._kept(version) or self._read(reference)
        return self._known[version]

    def _kept(self, version: DocumentVersion) -> Summary | None:
        sentence = ""
        if self._cache:
            with suppress(StorageError):
                sentence = self._cache.find(*version)
        return Summary(sentence) if sentence else None

    def _read(self, reference: DocumentReference) -> Summary:
        path, anchor = reference.relative_path, _anchor(reference)
        if path is None:
            return Summary("")
        try:
            return summarize(self._library.section(path, anchor) if anchor else self._library.read(path))
        except (StorageError, VaultError):
            return Summary("")


def _anchor(reference: DocumentReference) -> str:
    return reference.anchor if reference.anchor_found else ""


def _version(reference: DocumentReference, prints: Mapping[str, bytes]) -> DocumentVersion | None:
    path = reference.relative_path
    return DocumentVersion(path, _anchor(reference), prints[path]) if path and path in prints else None


def summarize(text: str) -> Summary:
    """What a text says of itself."""
    head = flatten(text[:MAX_NOTE_CHARS])
    said = prose_of(head)
    comments = [match.span() for match in _COMMENT.finditer(said)]
    head, said = blank(head, comments), blank(said, comments)
    for start, end in _paragraphs(said):
        if _says_something(said[start:end]):
            return _shortened(head[start:end])
    return Summary(_of_lists(head[len(said) - len(said.lstrip()) :]))


def _paragraphs(said: str) -> Iterator[tuple[int, int]]:
    """Where prose stands: paragraphs without headings above them, and without the lists that follow them."""
    for match in _PARAGRAPH.finditer(said):
        start, end = match.span()
        while heading := _HEADING.match(said, start, end):
            start = heading.end()
        other = _NO_PROSE.search(said, start, end)
        yield start, other.start() if other else end


def _of_lists(body: str) -> str:
    """The first items that say something, where there is no other text. The cells of a table say little alone."""
    items = (item for item in sentences(body) if not item.startswith("|"))
    return _first(plain_line(item) for item in items if _says_something(prose_of(item)))


def _says_something(said: str) -> bool:
    return len(terms(_TAG.sub(" ", said).replace("\0", " "))) >= MIN_WORDS


def _shortened(paragraph: str) -> Summary:
    whole = plain_line(paragraph)
    is_truncated = len(whole) > MAX_SUMMARY_CHARS
    return Summary(_first(map(plain_line, sentences(paragraph))) if is_truncated else whole, is_truncated)


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
    return plain(_BLOCK_ID.sub("", "".join([*pieces, markdown[position:]])))


MAX_PER_TURN = 3
"""Documents that are described after an answer: it costs tokens, or the time of the user's own machine."""
MAX_DOCUMENT_CHARS = 3000
"""Characters of a document that the model gets to see."""
MAX_ANSWER_TOKENS = 512
"""In tokens: a sentence, and what a model may think before it."""
MAX_ANSWER_CHARS = 20 * MAX_SUMMARY_CHARS
"""Of an answer: a model that goes on describes nothing."""
TEMPERATURE = 0.3
"""At which a model describes documents."""
MIN_OVERLAP = 0.5
"""The share of its telling words that a sentence must have from the document."""

_EXCUSE = lazy_pattern(
    r"(?:i'?m sorry|sorry|i can(?:no|'|’)t|i am unable|as an? |unfortunately|sure|here)\b", re.IGNORECASE
)
"""How models begin that do something else than they were asked for."""


SummaryMode = Literal["always", "local", "never"]
"""With which models documents are described: with all, with those on this machine, with none."""


class BackgroundSummaries:
    """Has long documents of an answer described by the model while the user reads; stopped when the next turn begins.

    It sees what the conversation's model may see, and never raises.
    """

    def __init__(
        self,
        *,
        summaries: Summaries,
        library: Library,
        provider: ModelProvider,
        shares: Shares,
        mode: SummaryMode = "always",
    ) -> None:
        self._summaries = summaries
        self._library = library
        self._provider = provider
        self._shares = shares
        self._mode = mode
        self._asked: set[DocumentVersion] = set()
        self._is_tidy = False
        self._task: asyncio.Task[None] | None = None

    def start(self, answer: ChatMessage, history: History) -> None:
        """Have those of the answer's documents described that need it, the cited ones first, until `stop`."""
        self.stop()
        if self._is_wanted() and self._is_able():
            self._task = asyncio.get_running_loop().create_task(self._describe(answer, history))

    def stop(self) -> None:
        """At once, whatever is under way: what was written so far is kept."""
        if self._task:
            self._task.cancel()
        self._task = None

    @property
    def _window(self) -> int:
        return budget_for(self._provider.info, self._shares).window

    def _is_wanted(self) -> bool:
        match self._mode:
            case "always":
                return True
            case "local":
                return self._provider.info.on_this_machine
            case "never":
                return False

    def _is_able(self) -> bool:
        """Small models, and those that only quote, cannot do it."""
        info = self._provider.info
        return not (info.needs_notes or wants_evidence(info, self._window, can_read=info.calls_tools))

    async def _describe(self, answer: ChatMessage, history: History) -> None:
        with suppress(ZkchatError):  # nobody waits for it, and the next turn reports what is wrong
            if not self._is_tidy:
                self._is_tidy = True
                self._summaries.tidy()
            cited_first = sorted(answer.references, key=lambda reference: not reference.cited)
            new = [version for version in self._summaries.truncated(cited_first) if version not in self._asked]
            if new and (before := self._prefix(answer, history)):
                for version in new[:MAX_PER_TURN]:
                    self._asked.add(version)
                    await self._describe_one(version, before)

    def _prefix(self, answer: ChatMessage, history: History) -> ModelRequest | None:
        """What the request for a sentence follows; None where there is no room left after it.

        A server on this machine caches the conversation as its prompt prefix, and would read all of it again in the
        next turn if it were asked anything else meanwhile. Elsewhere every token is paid for.
        """
        if not self._provider.info.on_this_machine:
            return ModelRequest(messages=(), window=self._window)
        record = answer.request_context
        usage = record.usage if record else None
        # Of characters no text has fewer than tokens, or nearly so.
        if (
            not record
            or not usage
            or usage.total + answer.token_count + MAX_DOCUMENT_CHARS + MAX_ANSWER_TOKENS > usage.window
        ):
            return None
        before = request_from(record, history.messages, history.contents)
        return replace(before, messages=(*before.messages, PromptMessage(role="assistant", text=answer.text)))

    async def _describe_one(self, version: DocumentVersion, before: ModelRequest) -> None:
        try:
            text = self._library.section(version.path, version.anchor)
        except VaultError:
            return  # gone since, or kept from this model
        prompt = f"{format_document(version.path, text[:MAX_DOCUMENT_CHARS])}\n\n{DESCRIPTION}"
        if sentence := accept_sentence(await self._written(prompt, before), text):
            self._summaries.replace(version, sentence)

    async def _written(self, prompt: str, before: ModelRequest) -> str:
        request = replace(
            before,
            messages=(*before.messages, PromptMessage(role="user", text=prompt)),
            max_answer_tokens=MAX_ANSWER_TOKENS,
            temperature=TEMPERATURE,
        )
        said, finish = "", None
        async with aclosing(self._provider.stream(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    said += chunk.text
                    if len(said) > MAX_ANSWER_CHARS:
                        return ""
                elif isinstance(chunk, Finish):
                    finish = chunk
        return said if finish and finish.reason == "stop" else ""


def accept_sentence(said: str, text: str) -> str:
    """What a model said of a text, if it is one short sentence about it in its language; else nothing."""
    sentence = plain_line(said)
    if (
        not sentence
        or len(sentence) > MAX_SUMMARY_CHARS
        or len(sentences(said.strip())) != 1
        or _EXCUSE.match(sentence)
    ):
        return ""
    written, language = detect_language(sentence), detect_language(text)
    if written and language and written != language:
        return ""
    own, there = {*query_terms(sentence)}, {*terms(text)}
    return sentence if len(own & there) >= MIN_OVERLAP * len(own) else ""
