"""Texts against the notes: which of their statements the notes support."""

from collections.abc import Collection

from zkchat.actions.base import Result
from zkchat.errors import ExitCode
from zkchat.model.verification import VERDICTS
from zkchat.render.numbered_rows import RowSection
from zkchat.render.verification import statement_rows, summary
from zkchat.vault.library import Library
from zkchat.vault.verification.verify import verify


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
