"""`zkchat help`: the commands, the pages that come with zkchat, and the help of one command."""

from difflib import get_close_matches
from typing import Annotated

import typer

from zkchat.cli.common import CommandIO, current_io
from zkchat.cli.completion import Topic, topics
from zkchat.core import UsageError
from zkchat.render import console_for, note_rows


def help_(
    context: typer.Context,
    topic: Annotated[
        list[str] | None, typer.Argument(metavar="TOPIC", help="A page, or a command such as context stats.")
    ] = None,
) -> None:
    """Show a page of the documentation, or the help of a command.

    Without a topic, all pages and commands are listed. On a terminal a page is drawn; in a pipe it is Markdown.

    zkchat help configuration

    zkchat help context stats

    zkchat help json | less
    """
    io, pages = current_io(), {each.name: each for each in topics()}
    words = topic or []
    page = pages.get(words[0].casefold()) if len(words) == 1 else None
    if not words:
        _list(io, context, [*pages.values()])
    elif page is None:
        io.out(_help_of_command(context, words, [*pages]))
    else:
        _show(io, page)
        if page.name in getattr(context.find_root().command, "commands", {}):
            io.note(f"The command of that name: zkchat {page.name} --help")


def _list(io: CommandIO, context: typer.Context, pages: list[Topic]) -> None:
    root = context.find_root()
    io.out(root.command.get_help(root))
    width = max((len(page.name) for page in pages), default=0)
    io.out("\nPages (zkchat help PAGE):")
    for page in pages:
        io.out(f"  {page.name:<{width}}  {page.title}")


def _help_of_command(context: typer.Context, words: list[str], pages: list[str]) -> str:
    root = context.find_root()
    command, described = root.command, root
    for word in words:
        below = getattr(command, "commands", {})
        if word not in below:
            closest = get_close_matches(word, [*below, *pages])
            hint = f"Closest: {', '.join(closest)}." if closest else "All of them: zkchat help"
            raise UsageError(f"There is no page and no command {' '.join(words)!r}.", hint=hint)
        command = below[word]
        described = typer.Context(command, parent=described, info_name=word)
    return command.get_help(described)


def _show(io: CommandIO, page: Topic) -> None:
    if not io.environment.stdout_is_tty:
        io.out(page.text.rstrip("\n"))
        return

    console = console_for(io.environment.stdout, is_tty=True, variables=io.environment.variables)
    for row in note_rows(console, page.text):
        io.environment.stdout.write(f"{row.text}\n")
