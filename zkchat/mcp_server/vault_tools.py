"""The tools that only hosts have: evidence for a question, and search and fetch under the names that hosts expect."""

from typing import Annotated, Final

from zkchat.chat.question import Question
from zkchat.chat.vault_answers import answer_about_vault
from zkchat.context.prompt_items import digest
from zkchat.errors import NoteNotFound, UsageError
from zkchat.mcp_server.answers import (
    Document,
    Hit,
    Hits,
    Place,
    Quote,
    Source,
    Statement,
    VaultAnswer,
    Verdict,
    VerifiedText,
)
from zkchat.mcp_server.uris import path_in, uri_of
from zkchat.model.embeddings import OpenText
from zkchat.model.evidence import DEFAULT_LIMIT, Evidence
from zkchat.model.note import Ambiguous, Link, Missing, Resolved
from zkchat.tools.argument_kinds import Number, Text
from zkchat.tools.arguments import MAX_FOUND, Arguments
from zkchat.vault.dated_evidence import find_evidence
from zkchat.vault.dates.time_filters import check_times
from zkchat.vault.library import Library
from zkchat.vault.notes import wikilink
from zkchat.vault.verification.verify import verify

MAX_FETCHED_CHARS: Final = 100_000
"""Characters of a note that one call fetches."""
MAX_HITS: Final = 10


class AskVault(Arguments, frozen=True, kw_only=True):
    question: Annotated[
        str,
        Text(
            description="A question in words; [[links]] name notes to look in first.",
            min_length=1,
            also=("query", "q", "text"),
        ),
    ]
    limit: Annotated[int, Number(at_least=1, at_most=MAX_FOUND, description="Quotes at most.")] = DEFAULT_LIMIT


class VerifyQuotes(Arguments, frozen=True, kw_only=True):
    text: Annotated[
        str,
        Text(
            description="A draft: sentences that should stand in the notes.",
            min_length=1,
            also=("draft", "quotes", "content"),
        ),
    ]


class SearchNotes(Arguments, frozen=True, kw_only=True):
    query: Annotated[
        str,
        Text(
            description='Words, tag:x, path:x, on:2026-01-31, after:last-week, before:2026, "phrase".',
            min_length=1,
            also=("q", "text"),
        ),
    ]


class FetchNote(Arguments, frozen=True, kw_only=True):
    id: Annotated[
        str,
        Text(
            description="The id of a result of search; also a path, title, [[link]] or note:/// address.",
            min_length=1,
            also=("path", "uri", "url", "relative_path"),
        ),
    ]
    offset: Annotated[int, Number(at_least=0, description="Character to go on at, for a long note.")] = 0


def ask_vault(library: Library, wanted: AskVault, *, lists: bool = False) -> VaultAnswer:
    """The passages that answer, word for word; no model is asked.

    With `lists` a question about the vault itself is answered from the index.
    """
    question = Question.parse(wanted.question, is_agent=lambda _: False)
    if lists and not question.links and (listing := answer_about_vault(library, question, ())):
        sources = [Source.of(reference) for reference in listing.references if reference.relative_path]
        return VaultAnswer(verdict="answered", listing=listing.text, sources=sources, more=listing.more)
    linked = [
        (found.path, link.anchor)
        for link in question.links
        if isinstance(found := library.resolve(link), Resolved | Ambiguous) and library.is_indexed(found.path)
    ]
    findings = find_evidence(library, question.prose, linked, limit=wanted.limit)
    digests = Digests(library)

    def quoted(evidence: Evidence) -> Quote:
        return Quote.of(evidence, digests.of(evidence.relative_path))

    verdict: Verdict = "doubtful" if findings.is_doubtful else "answered"
    return VaultAnswer(
        verdict=verdict if findings.evidence else "unanswered",
        quotes=[*map(quoted, findings.evidence)],
        nearest=[*map(quoted, findings.nearest)],
        remark=findings.remark,
        searched_for=[*findings.searched_for],
        more=findings.more,
    )


def verify_quotes(library: Library, wanted: VerifyQuotes) -> VerifiedText:
    """Which sentences the notes support, word for word or nearly, with places, and which not."""
    verified, digests = verify(library, wanted.text), Digests(library)
    return VerifiedText(
        is_supported=verified.is_supported,
        is_complete=verified.is_complete,
        statements=[
            Statement(
                text=each.text,
                line=each.line,
                verdict=each.verdict,
                difference=each.difference,
                places=[Place.of(place, digests.of(place.path)) for place in each.places],
            )
            for each in verified.statements
        ],
    )


class Digests:
    """The digests of notes, each read once."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[str, str] = {}

    def of(self, path: str) -> str:
        if path not in self._known:
            self._known[path] = digest(self._library.section(path))
        return self._known[path]


def search(library: Library, wanted: SearchNotes) -> Hits:
    check_times(wanted.query, library.calendar())
    found = library.documents(OpenText(wanted.query), limit=MAX_HITS)
    return Hits(
        results=[
            Hit(id=passage.path, title=passage.title, url=uri_of(passage.path), text=passage.snippet)
            for passage in found
        ]
    )


def fetch(library: Library, wanted: FetchNote) -> Document:
    path = find_note(library, wanted.id)
    text = library.section(path)
    page = text[wanted.offset : wanted.offset + MAX_FETCHED_CHARS]
    if wanted.offset and not page:
        raise UsageError(f"{path} has {len(text):,} characters.", hint="Fetch it with a smaller offset.")
    end = wanted.offset + len(page)
    rest = {"next_offset": str(end)} if end < len(text) else {}
    return Document(
        id=path,
        title=library.title(path),
        text=page,
        url=uri_of(path),
        metadata={
            "path": path,
            "link": library.link_to(path),
            "digest": digest(text),
            "characters": str(len(text)),
            **rest,
        },
    )


def find_note(library: Library, named: str) -> str:
    """The path of a note that is in the index, by its path, address, title, alias or link. Raises `NoteNotFound`."""
    target = path_in(named) or named
    links = wikilink.scan(target)
    found = library.resolve(links[0] if links else Link(text=target, target=f"/{target.removeprefix('/')}"))
    if not links and not isinstance(found, Resolved | Ambiguous):
        found = library.resolve(Link(text=target, target=target.strip()))
    if isinstance(found, Resolved | Ambiguous):
        return found.path
    close = [f"[[{name}]]" for name in found.suggestions] if isinstance(found, Missing) else []
    raise NoteNotFound(f"There is no note '{named}'.", hint=f"Closest: {', '.join(close)}." if close else "")
