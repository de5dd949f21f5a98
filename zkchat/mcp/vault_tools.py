"""The tools that only hosts have, and their answers as structured content."""

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import GenerateJsonSchema

from zkchat.answers import find_evidence, verify
from zkchat.chat import (
    MAX_FOUND,
    Arguments,
    FunctionTool,
    Number,
    Question,
    Text,
    answer_about_vault,
    digest,
    missing_heading,
)
from zkchat.core import (
    DEFAULT_LIMIT,
    Ambiguous,
    Difference,
    DocumentReference,
    Evidence,
    LineRange,
    Link,
    Missing,
    NoteNotFound,
    OpenText,
    Resolved,
    ToolOutcome,
    UsageError,
)
from zkchat.core import Verdict as StatementVerdict
from zkchat.index import Library
from zkchat.mcp.service import places_in, uri_of
from zkchat.notes import check_times, link_catalog

Verdict = Literal["answered", "doubtful", "unanswered"]


class Answer(BaseModel):
    """Base of every answer."""

    model_config = ConfigDict(frozen=True)


class Source(Answer):
    """A note, or a place in it, that an answer comes from."""

    path: str
    title: str
    uri: str
    link: Annotated[str, Field(description="The wikilink that leads to it.")]
    heading: str = ""
    first_line: int | None = None
    last_line: int | None = None
    score: float | None = None
    digest: Annotated[str, Field(description="Of the text of the note, where all of it was read.")] = ""

    @classmethod
    def of(cls, reference: DocumentReference) -> "Source":
        path = reference.relative_path or ""
        return cls(
            path=path,
            title=reference.title,
            uri=uri_of(path),
            link=reference.wikilink,
            heading=reference.anchor,
            first_line=reference.lines.first if reference.lines else None,
            last_line=reference.lines.last if reference.lines else None,
            score=reference.score,
            digest=reference.digest,
        )


class Reading(Answer):
    """What a tool that reads notes found."""

    text: str
    sources: list[Source] = []


class Located(Answer):
    """A passage of a note, and where it stands."""

    path: str
    title: str
    heading: str = ""
    first_line: int
    last_line: int
    digest: Annotated[str, Field(description="Of the text of the note: another one says that it changed since.")]
    link: str
    uri: str


class Quote(Located):
    """A passage of a note, word for word."""

    text: str
    score: Annotated[float, Field(description="How well it fits the question, 1 at most.")]
    is_linked: Annotated[bool, Field(description="Whether the question links to or names the note.")]
    date: Annotated[str, Field(description="Of what it says, where quotes of different dates stand together.")] = ""
    outdated_by: Annotated[str, Field(description="The link of a newer note that says otherwise: that one counts.")] = (
        ""
    )


class VaultAnswer(Answer):
    """What the notes say on a question."""

    verdict: Annotated[
        Verdict, Field(description="Whether the quotes answer the question. Where nothing does, say so.")
    ]
    quotes: list[Quote] = []
    nearest: Annotated[list[Quote], Field(description="Where nothing answers: what comes nearest.")] = []
    searched_for: Annotated[list[str], Field(description="Where nothing answers: the words looked for.")] = []
    remark: Annotated[
        str, Field(description="Of which days the quotes are, where a time is asked for; or why there may be none.")
    ] = ""
    listing: Annotated[str, Field(description="The answer to a question about the vault itself, in Markdown.")] = ""
    sources: Annotated[list[Source], Field(description="The notes that the listing names.")] = []
    more: Annotated[int, Field(description="How many further passages, or lines of the listing, there are.")] = 0


class Place(Located):
    """Where a note says something."""

    quote: Annotated[str, Field(description="As it is written in the note.")]
    score: Annotated[float, Field(description="The share of the statement that it holds, 1 at most.")]


class Statement(Answer):
    """A sentence of a draft, and what the notes say of it."""

    text: str
    line: Annotated[int, Field(description="Of the draft, from 1.")]
    verdict: Annotated[
        StatementVerdict,
        Field(description="quoted: word for word; supported: nearly; contradicted: a note says otherwise."),
    ]
    difference: Annotated[Difference | None, Field(description="In what a note says otherwise.")] = None
    places: list[Place] = []


class VerifiedText(Answer):
    """Which sentences of a draft the notes support."""

    is_supported: Annotated[bool, Field(description="Whether the notes say all that the draft says.")]
    is_complete: Annotated[bool, Field(description="Whether all of the draft was looked at.")]
    statements: list[Statement]


class Hit(Answer):
    id: str
    title: str
    url: str
    text: str


class Hits(Answer):
    """Notes that match a query, as hosts expect of a tool `search`."""

    results: list[Hit]


class Document(Answer):
    """The text of a note, as hosts expect of a tool `fetch`."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


class Changed(Answer):
    """A change of notes that was made."""

    text: str
    title: str
    paths: list[str]
    change: Annotated[int | None, Field(description="Its number in the journal: `zkchat undo` takes it back.")]


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, *_: object) -> bool:
        return False


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of an answer, without the titles that pydantic makes of names."""
    schema = model.model_json_schema(mode="serialization", schema_generator=_Untitled)
    for each in (schema, *schema.get("$defs", {}).values()):
        del each["title"]
    return schema


Wanted = TypeVar("Wanted", bound=Arguments)
Answered = TypeVar("Answered")


class CallFailed(Exception):
    """Why a call has no answer, as a sentence for the model."""


def run_validated(name: str, arguments: type[Wanted], given: str, act: Callable[[Wanted], Answered]) -> Answered:
    """What a function answers to arguments that are valid. Raises `CallFailed`."""
    answers: list[Answered] = []

    def run(wanted: Wanted) -> ToolOutcome:
        answers.append(act(wanted))
        return ToolOutcome(text="")

    outcome = asyncio.run(FunctionTool(name, "", arguments, run).call(given))
    if outcome.failed:
        raise CallFailed(outcome.text)
    return answers[0]


MAX_FETCHED_CHARS: Final = 100_000
"""Characters of a note that one call fetches."""
MAX_HITS: Final = 10


def _text(description: str, *also: str) -> Any:
    """An argument that is not empty; models call it by these names too."""
    return Text(description=description, min_length=1, also=also)


class AskVault(Arguments, frozen=True, kw_only=True):
    question: Annotated[str, _text("A question in words; [[links]] name notes to look in first.", "query", "q", "text")]
    limit: Annotated[int, Number(at_least=1, at_most=MAX_FOUND, description="Quotes at most.")] = DEFAULT_LIMIT


class VerifyQuotes(Arguments, frozen=True, kw_only=True):
    text: Annotated[str, _text("A draft: sentences that should stand in the notes.", "draft", "quotes", "content")]


class SearchNotes(Arguments, frozen=True, kw_only=True):
    query: Annotated[
        str, _text('Words, tag:x, path:x, on:2026-01-31, after:last-week, before:2026, "phrase".', "q", "text")
    ]


class FetchNote(Arguments, frozen=True, kw_only=True):
    id: Annotated[
        str,
        _text(
            "The id of a result of search; also a path, title, [[link]] or note:/// address.",
            *("path", "uri", "url", "relative_path"),
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
    missing = (missing_heading(library, library.resolve(link), link) for link in question.links)
    located = _locator(library)

    def quoted(each: Evidence) -> Quote:
        return Quote(
            **located(each.relative_path, each.title, each.heading, each.lines, each.wikilink),
            text=each.text,
            score=each.score,
            is_linked=each.linked,
            date=each.date.isoformat() if each.date else "",
            outdated_by=each.outdated_by,
        )

    verdict: Verdict = "doubtful" if findings.is_doubtful else "answered"
    return VaultAnswer(
        verdict=verdict if findings.evidence else "unanswered",
        quotes=[*map(quoted, findings.evidence)],
        nearest=[*map(quoted, findings.nearest)],
        remark=" ".join(filter(None, [*missing, findings.remark])),
        searched_for=[*findings.searched_for],
        more=findings.more,
    )


def verify_quotes(library: Library, wanted: VerifyQuotes) -> VerifiedText:
    """Which sentences the notes support, word for word or nearly, with places, and which not."""
    verified, located = verify(library, wanted.text), _locator(library)
    return VerifiedText(
        is_supported=verified.is_supported,
        is_complete=verified.is_complete,
        statements=[
            Statement(
                text=each.text,
                line=each.line,
                verdict=each.verdict,
                difference=each.difference,
                places=[
                    Place(
                        **located(place.path, place.title, place.heading, place.lines, place.wikilink),
                        quote=place.quote,
                        score=place.score,
                    )
                    for place in each.places
                ],
            )
            for each in verified.statements
        ],
    )


def _locator(library: Library) -> Callable[[str, str, str, LineRange, str], dict[str, Any]]:
    """The fields of `Located`; each note is read once for its digest."""
    digest_of = cache(lambda path: digest(library.section(path)))

    def located(path: str, title: str, heading: str, lines: LineRange, link: str) -> dict[str, Any]:
        place = {"path": path, "title": title, "heading": heading, "first_line": lines.first, "last_line": lines.last}
        return {**place, "digest": digest_of(path), "link": link, "uri": uri_of(path)}

    return located


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
    links = link_catalog.scan(wanted.id)
    remark = missing_heading(library, library.resolve(links[0]), links[0]) if links else ""
    text = library.section(path)
    page = text[wanted.offset : wanted.offset + MAX_FETCHED_CHARS]
    if wanted.offset and not page:
        raise UsageError(f"{path} has {len(text):,} characters.", hint="Fetch it with a smaller offset.")
    end = wanted.offset + len(page)
    about = {"path": path, "link": library.link_to(path), "digest": digest(text), "characters": str(len(text))}
    about |= {"next_offset": str(end)} if end < len(text) else {}
    about |= {"remark": remark} if remark else {}
    return Document(id=path, title=library.title(path), text=page, url=uri_of(path), metadata=about)


def find_note(library: Library, named: str) -> str:
    """The path of a note that is in the index, by its path, address, title, alias or link. Raises `NoteNotFound`."""
    target = next((place.path for place in places_in(named)), named)
    links = link_catalog.scan(target)
    found = library.resolve(links[0] if links else Link(text=target, target=f"/{target.removeprefix('/')}"))
    if not links and not isinstance(found, Resolved | Ambiguous):
        found = library.resolve(Link(text=target, target=target.strip()))
    if isinstance(found, Resolved | Ambiguous):
        return found.path
    close = [f"[[{name}]]" for name in found.suggestions] if isinstance(found, Missing) else []
    raise NoteNotFound(f"There is no note '{named}'.", hint=f"Closest: {', '.join(close)}." if close else "")
