"""Texts against the notes: which of their statements the notes support."""

from collections.abc import Collection

from zkchat.actions.base import Result
from zkchat.answers import verify
from zkchat.core import VERDICTS, ExitCode
from zkchat.index import Library
from zkchat.render import RowSection, statement_rows, summary


def verified(library: Library, text: str, *, without: Collection[str] = (), problems: bool = False) -> Result:
    """A row for each statement of a text, or for those that the notes do not support; `without` are notes left out."""
    found = verify(library, text, without=without)
    rows = statement_rows([each for each in found.statements if not (problems and each.is_supported)])
    return Result(
        sections=[RowSection(rows=rows)],
        empty=summary(found),
        summary=summary(found),
        data={
            "supported": found.is_supported,
            "complete": found.is_complete,
            "counts": {verdict: found.count(verdict) for verdict in VERDICTS},
            "statements": [row.data for row in rows],
        },
        exit_code=ExitCode.OK if found.is_supported else ExitCode.NO_ANSWER,
    )
