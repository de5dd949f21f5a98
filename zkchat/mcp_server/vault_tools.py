"""The tools that only hosts have: evidence for a question, and search and fetch under the names that hosts expect."""

from typing import Annotated, Final

from pydantic import AliasChoices, Field

from zkchat.chat.question import Question
from zkchat.context.assembly import digest
from zkchat.errors import NoteNotFound, UsageError
from zkchat.mcp_server.answers import Document, Hit, Hits, Quote, VaultAnswer, Verdict
from zkchat.mcp_server.uris import path_in, uri_of
from zkchat.model.message import Evidence
from zkchat.model.note import Ambiguous, Link, Missing, Resolved, is_note
from zkchat.tools.registry import Arguments, Limit
from zkchat.vault.evidence import DEFAULT_LIMIT, find_evidence
from zkchat.vault.library import Library
from zkchat.vault.notes import wikilink

MAX_FETCHED_CHARS: Final = 100_000
"""Characters of a note that one call fetches."""
MAX_HITS: Final = 10


class AskVault(Arguments):
    question: Annotated[
        str,
        Field(
            description="A question in words; [[links]] name notes to look in first.",
            min_length=1,
            validation_alias=AliasChoices("question", "query", "q", "text"),
        ),
    ]
    limit: Annotated[Limit, Field(description="Quotes at most.")] = DEFAULT_LIMIT


class SearchNotes(Arguments):
    query: Annotated[
        str,
        Field(
            description='Words, tag:x, path:x, after:2026-01-31, "phrase".',
            min_length=1,
            validation_alias=AliasChoices("query", "q", "text"),
        ),
    ]


class FetchNote(Arguments):
    id: Annotated[
        str,
        Field(
            description="The id of a result of search; also a path, title, [[link]] or note:/// address.",
            min_length=1,
            validation_alias=AliasChoices("id", "path", "uri", "url", "relative_path"),
        ),
    ]
    offset: Annotated[int, Field(ge=0, description="Character to go on at, for a long note.")] = 0


def ask_vault(library: Library, wanted: AskVault) -> VaultAnswer:
    """The passages that answer, word for word; no model is asked."""
    question = Question.parse(wanted.question, is_agent=lambda _: False)
    linked = [
        (found.path, link.anchor)
        for link in question.links
        if isinstance(found := library.resolve(link), Resolved | Ambiguous) and is_note(found.path)
    ]
    findings = find_evidence(library, question.prose, linked, limit=wanted.limit)
    digests: dict[str, str] = {}

    def quoted(evidence: Evidence) -> Quote:
        path = evidence.relative_path
        if path not in digests:
            digests[path] = digest(library.section(path))
        return Quote.of(evidence, digests[path])

    verdict: Verdict = "doubtful" if findings.is_doubtful else "answered"
    return VaultAnswer(
        verdict=verdict if findings.evidence else "unanswered",
        quotes=[*map(quoted, findings.evidence)],
        nearest=[*map(quoted, findings.nearest)],
        more=findings.more,
    )


def search(library: Library, wanted: SearchNotes) -> Hits:
    found = library.documents(wanted.query, limit=MAX_HITS)
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
