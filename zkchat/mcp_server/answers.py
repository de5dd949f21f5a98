"""What tools answer, as values that are sent as structured content and, the same, as text."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from zkchat.mcp_server.uris import uri_of
from zkchat.model.evidence import Evidence
from zkchat.model.references import DocumentReference
from zkchat.model.verification import Difference, SourcePlace
from zkchat.model.verification import Verdict as StatementVerdict

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


class Quote(Answer):
    """A passage of a note, word for word."""

    text: str
    path: str
    title: str
    heading: str
    first_line: int
    last_line: int
    digest: Annotated[str, Field(description="Of the text of the note: another one says that it changed since.")]
    link: str
    uri: str
    score: Annotated[float, Field(description="How well it fits the question, 1 at most.")]
    is_linked: Annotated[bool, Field(description="Whether the question links to or names the note.")]
    date: Annotated[str, Field(description="Of what it says, where quotes of different dates stand together.")] = ""
    outdated_by: Annotated[str, Field(description="The link of a newer note that says otherwise: that one counts.")] = (
        ""
    )

    @classmethod
    def of(cls, evidence: Evidence, digest: str) -> "Quote":
        return cls(
            text=evidence.text,
            path=evidence.relative_path,
            title=evidence.title,
            heading=evidence.heading,
            first_line=evidence.lines.first,
            last_line=evidence.lines.last,
            digest=digest,
            link=evidence.wikilink,
            uri=uri_of(evidence.relative_path),
            score=evidence.score,
            is_linked=evidence.linked,
            date=evidence.date.isoformat() if evidence.date else "",
            outdated_by=evidence.outdated_by,
        )


class VaultAnswer(Answer):
    """What the notes say on a question."""

    verdict: Annotated[
        Verdict,
        Field(description="Whether the quotes answer the question. Where nothing does, say so."),
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


class Place(Answer):
    """Where a note says something."""

    quote: Annotated[str, Field(description="As it is written in the note.")]
    path: str
    title: str
    heading: str
    first_line: int
    last_line: int
    digest: str
    link: str
    uri: str
    score: Annotated[float, Field(description="The share of the statement that it holds, 1 at most.")]

    @classmethod
    def of(cls, place: SourcePlace, digest: str) -> "Place":
        return cls(
            quote=place.quote,
            path=place.path,
            title=place.title,
            heading=place.heading,
            first_line=place.lines.first,
            last_line=place.lines.last,
            digest=digest,
            link=place.wikilink,
            uri=uri_of(place.path),
            score=place.score,
        )


class Statement(Answer):
    """A sentence of a draft, and what the notes say of it."""

    text: str
    line: Annotated[int, Field(description="Of the draft, from 1.")]
    verdict: Annotated[
        StatementVerdict,
        Field(description="quoted: word for word; supported: nearly; contradicted: a note says otherwise."),
    ]
    difference: Annotated[Difference | None, Field(description="In what a note says otherwise.")]
    places: list[Place]


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


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of an answer, without the titles that pydantic makes of names."""
    schema = _without_titles(model.model_json_schema(mode="serialization"))
    assert isinstance(schema, dict)
    return schema


def _without_titles(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_titles(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _without_titles(each) for name, each in value.items()}
        if key in {"properties", "$defs"}
        else _without_titles(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }
