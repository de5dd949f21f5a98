"""Passages of files that are no notes: the lines that answer a question, of a file that a message names."""

from collections.abc import Iterable

from msgspec.structs import replace

from zkchat.context.message_excerpts import find_in_text
from zkchat.errors import VaultError
from zkchat.model.evidence import Evidence, MessageExcerpt
from zkchat.model.references import LineRange
from zkchat.vault.library import Library


def evidence_of_file(library: Library, path: str, question: str) -> list[Evidence]:
    """The lines of a file that answer a question, those that follow each other as one passage; the header of a table
    comes first. None where no line answers, or the file cannot be read."""
    try:
        found = find_in_text(library.read(path), question)
    except VaultError:
        return []
    return [
        Evidence(
            text=excerpt.text,
            relative_path=path,
            title=path,
            wikilink=library.link_to(path),
            lines=LineRange(first=excerpt.first_line, last=excerpt.last_line),
            score=1.0,
            linked=True,
        )
        for excerpt in _joined(found)
    ]


def _joined(excerpts: Iterable[MessageExcerpt]) -> list[MessageExcerpt]:
    """With lines that follow each other put together."""
    joined: list[MessageExcerpt] = []
    for each in excerpts:
        if joined and each.first_line == joined[-1].last_line + 1:
            text = f"{joined[-1].text}\n{each.text}"
            joined[-1] = replace(joined[-1], text=text, last_line=each.last_line)
        else:
            joined.append(each)
    return joined
