"""The rows of the table of slash commands that are about the notes of the vault."""

from collections.abc import Sequence
from typing import Final

from zkchat.repl.command_context import Command
from zkchat.repl.commands import daily_brief, documents, mentions, timeline, vault
from zkchat.repl.commands.places import complete_place, describe_number

VAULT_COMMANDS: Final[Sequence[Command]] = (
    Command(
        name="search",
        arguments="WORDS",
        help="search your notes",
        details='As zkchat search does, with tag:idea, path:Projects, on:yesterday, "a phrase" and -without. Hits '
        "are numbered: /show N reads one and /open N opens it, until another list is shown or an answer comes.",
        act=vault.search,
        complete=vault.complete_search,
    ),
    Command(
        name="show",
        arguments="[NOTE]",
        help="read a note",
        details="NOTE is the number of a hit, a link such as [[Note#Heading]] or [[Note#^block]], or a path. A long "
        "one comes in pages: /show more goes on, /show all shows the rest. "
        "Without NOTE, the first source of the last answer.",
        act=documents.show,
        complete=documents.complete_show,
        describe=describe_number,
    ),
    Command(
        name="open",
        arguments="[NOTE]",
        help="open in its program",
        details="NOTE as for /show. In Obsidian if the vault is used with it, else with the program that your system "
        "has for it; without a desktop in $VISUAL or $EDITOR, at the line. The setting ui.open_with chooses.",
        act=documents.open_,
        complete=complete_place,
        describe=describe_number,
    ),
    Command(
        name="links",
        arguments="[NOTE]",
        help="where a note leads",
        details="Its links in order, with their lines; those that lead nowhere, or to one of several notes, are "
        "yellow. NOTE as for /show.",
        act=vault.links,
        complete=complete_place,
        describe=describe_number,
    ),
    Command(
        name="backlinks",
        arguments="[NOTE]",
        help="what links to a note",
        details="The links of other notes to it, with the lines they stand in. NOTE as for /show.",
        act=vault.backlinks,
        complete=complete_place,
        describe=describe_number,
    ),
    Command(
        name="link",
        arguments="[NOTE]",
        help="mentions into links",
        details="One key each: where other notes name NOTE without a link to it, then what NOTE names; without NOTE, "
        "what the notes name that changed last. What you say yes to is one change, which /undo takes back. NOTE as for "
        "/show.",
        act=mentions.link,
        complete=complete_place,
        describe=describe_number,
    ),
    Command(
        name="tags",
        is_minor=True,
        arguments="[PREFIX]",
        help="tags, with counts",
        details="Nested tags count for those above them. With PREFIX, those that begin with it.",
        act=vault.tags,
        complete=vault.complete_tag,
    ),
    Command(
        name="recent",
        is_minor=True,
        arguments="[N]",
        help="notes changed last",
        details="Ten of them, or N, with the time of their last change; or up to fifty that changed in a time: "
        "/recent yesterday, /recent since monday, /recent 2026-03.",
        act=vault.recent,
    ),
    Command(
        name="timeline",
        is_minor=True,
        arguments="[NOTE]",
        help="a note in time",
        details="When it was written and changed, what zkchat changed in it, its git commits, and dated notes around "
        "it. NOTE as for /show.",
        act=timeline.timeline,
        complete=complete_place,
        describe=describe_number,
    ),
    Command(
        name="daily",
        help="today's daily note",
        details="By Obsidian's settings of daily notes, else by the usual names. If there is none, you are told how it "
        "would be called; it is not made.",
        act=documents.daily,
    ),
    Command(
        name="brief",
        arguments="[DAYS]",
        help="tasks and changes",
        details="Open tasks by their due dates, notes that changed in seven days, or DAYS, notes of this day in "
        "earlier years, and what is not linked. A model writes a paragraph on top.",
        act=daily_brief.brief,
    ),
)
