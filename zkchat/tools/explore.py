"""Tools that read the vault. Each returns text for the model and the documents it came from."""

from typing import Annotated

from pydantic import Field

from zkchat.context.documents import wrapped
from zkchat.model.note import Passage
from zkchat.model.reference import DocumentReference, LineRange
from zkchat.ports import Tool, ToolOutcome
from zkchat.tools.registry import Arguments, FunctionTool
from zkchat.vault.library import Library

PAGE = 8000
"""Characters of a document given at once."""


class ReadDocument(Arguments):
    relative_path: Annotated[str, Field(description="Path of the note inside the vault, e.g. Ideas/Naming.md")]
    offset: Annotated[int, Field(description="Character to start at; for long documents", ge=0)] = 0


class FindExcerpts(Arguments):
    query: Annotated[str, Field(description="What to look for, in the words that notes would use", min_length=1)]
    limit: Annotated[int, Field(description="How many passages at most", ge=1, le=20)] = 5


def explore_tools(library: Library) -> list[Tool]:
    def read_document(wanted: ReadDocument) -> ToolOutcome:
        text = library.read(wanted.relative_path)
        page = text[wanted.offset : wanted.offset + PAGE]
        end = wanted.offset + len(page)
        more = f"\n(To go on, call read_document with offset {end}; {len(text) - end:,} characters are left.)"
        reference = DocumentReference(
            wikilink=library.link_to(wanted.relative_path),
            relative_path=wanted.relative_path,
            reference_type="search",
            via="read_document",
            title=library.title(wanted.relative_path),
            included=True,
        )
        return ToolOutcome(
            text=wrapped(wanted.relative_path, page) + (more if end < len(text) else ""),
            references=(reference,),
            summary=f"{len(page):,} characters",
        )

    def find_excerpts(wanted: FindExcerpts) -> ToolOutcome:
        passages = library.search(wanted.query, limit=wanted.limit)
        if not passages:
            return ToolOutcome(text="No passage matches. Try other words.", summary="nothing found")
        return ToolOutcome(
            text="\n\n".join(wrapped(passage.path, passage.text) for passage in passages),
            references=tuple(found(library, passage, via="find_excerpts") for passage in passages),
            summary=f"{len(passages)} passage{'s' if len(passages) > 1 else ''}",
        )

    return [
        FunctionTool("read_document", "Read a note of the vault.", ReadDocument, read_document),
        FunctionTool("find_excerpts", "Find passages of notes on a subject.", FindExcerpts, find_excerpts),
    ]


def found(library: Library, passage: Passage, *, via: str) -> DocumentReference:
    """A passage as a reference to its note."""
    return DocumentReference(
        wikilink=library.link_to(passage.path),
        relative_path=passage.path,
        reference_type="search",
        via=via,
        title=passage.title,
        anchor=passage.heading_path[-1] if passage.heading_path else "",
        lines=LineRange(first=passage.first_line, last=passage.last_line),
        snippet=passage.snippet,
        score=passage.score,
        included=True,
    )
