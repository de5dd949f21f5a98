"""`zkchat chat --resume`: the session that the user chooses from a list, before the chat begins."""

import asyncio
from pathlib import Path

from zkchat.cli.common import CommandIO
from zkchat.cli.line_input import can_draw_prompt
from zkchat.compose import stores
from zkchat.errors import SessionNotFound, UsageError
from zkchat.repl.pick_list import numbered_lines
from zkchat.repl.picker import pick
from zkchat.repl.session_rows import QUESTION, session_rows, sessions_to_resume

_PLAIN_WIDTH = 100
"""Columns of a list that is not drawn."""


def choose_session(io: CommandIO, vault: Path | None, *, plain: bool) -> str | None:
    """The id of the chosen session; None if the user leaves the list.

    Where no list can be drawn, print a numbered one, and raise `UsageError` with how to name a session.
    """
    with stores.open_sessions(io.environment, vault, io) as store:
        sessions = sessions_to_resume(store)
    if not sessions:
        raise SessionNotFound("There are no sessions in this vault yet.", hint="Begin one: zkchat chat")
    is_drawn = can_draw_prompt(io.environment) and not plain
    rows = session_rows(sessions, now=io.environment.now(), with_ids=not is_drawn)
    if not is_drawn:
        for line in numbered_lines(rows, _PLAIN_WIDTH):
            io.out(line)
        raise UsageError(
            "Choosing from the list needs a terminal that can be drawn on.",
            hint=f"Name a session by its title or its id: zkchat chat --session {sessions[0].id}",
        )
    chosen = asyncio.run(pick(QUESTION, rows))
    if chosen is None:
        io.note("No session was chosen. To begin a new one: zkchat chat")
        return None
    return sessions[chosen].id
