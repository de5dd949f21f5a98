"""`zkchat links`, `backlinks` and `resolve`: what leads where, and why."""

from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from zkchat.cli.common import CommandIO, JsonOption, VaultOption, current_io
from zkchat.cli.note_lookup import NoteArgument, find_note, open_refreshed_library
from zkchat.cli.output import Listing
from zkchat.errors import ExitCode, UsageError
from zkchat.render.link_destinations import describe_link

if TYPE_CHECKING:
    from zkchat.model.note import Resolution
    from zkchat.vault.graph import Followed
    from zkchat.vault.library import Library


def links(
    note: Annotated[
        str | None, typer.Argument(metavar="NOTE", help="Its path, its title, or a [[wikilink]].", show_default=False)
    ] = None,
    all_notes: Annotated[bool, typer.Option("--all", help="The links of every note, a line each.")] = False,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show the links of a note and the links that lead to it.

    zkchat links "[[Evergreen notes]]"

    zkchat links --all --json | jq 'select(.status == "missing")'
    """
    from zkchat.model.note import file_kind, without_suffix
    from zkchat.vault import graph

    io = current_io()
    if all_notes == (note is not None):
        raise UsageError("Name one note, or ask for all of them.", hint="zkchat links NOTE, or zkchat links --all")
    with open_refreshed_library(io, vault) as (paths, library):
        if note is None:
            _print_all(io, library, json_output=json_output)
            return
        path = find_note(io, paths, library, note)
        title, outgoing, incoming = library.title(path), graph.links(library, path), graph.backlinks(library, path)
    if json_output:
        forth, back = [link_record(each) for each in outgoing], [_backlink_record(each) for each in incoming]
        io.json({"path": path, "title": title, "links": forth, "backlinks": back})
        return
    listing = Listing(io, paths)
    listing.line(title if title == without_suffix(path) else f"{title} ({path})")
    listing.title(f"\nLinks ({len(outgoing):,})")
    for each in outgoing:
        line = "" if file_kind(path) else f"line {each.link.line}: "
        listing.line(f"{line}{describe_link(each.link, each.found)}", indent=2)
    listing.title(f"\nBacklinks ({len(incoming):,})")
    _list_backlinks(listing, incoming, indent=2)


def backlinks(note: NoteArgument, vault: VaultOption = None, json_output: JsonOption = False) -> None:
    """Show the links of other notes to a note, with their lines.

    zkchat backlinks "[[Evergreen notes]]"
    """
    from zkchat.vault import graph

    io = current_io()
    with open_refreshed_library(io, vault) as (paths, library):
        path = find_note(io, paths, library, note)
        found = graph.backlinks(library, path)
    if json_output:
        io.json([_backlink_record(each) for each in found])
        return
    if not found and io.environment.stderr_is_tty:
        io.note(f"No other note links to {path}. Perhaps one names it: zkchat vault mentions {note!r}")
    _list_backlinks(Listing(io, paths), found, indent=0)


def resolve(
    link: Annotated[
        str,
        typer.Argument(
            metavar="LINK", help='For example "[[Note#Heading]]"; a name alone is one too.', show_default=False
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="NOTE",
            help="The note that the link stands in: links are looked for from its folder.",
            show_default=False,
        ),
    ] = None,
    vault: VaultOption = None,
    json_output: JsonOption = False,
) -> int:
    """Show what a link leads to, and why. The exit code is 4 where it leads to nothing.

    A heading or a block that is not in the note counts as nothing; `--json` says which of the two it is.

    zkchat resolve "[[Compost]]" --from "Daily/2026-03-07.md"
    """
    from zkchat.vault.graph import Followed
    from zkchat.vault.links.explain import explain
    from zkchat.vault.named_notes import parse_link

    io = current_io()
    asked = parse_link(link)
    with open_refreshed_library(io, vault) as (paths, library):
        origin = None if source is None else find_note(io, paths, library, source)
        found = library.resolve(asked, origin)
    followed, why = Followed(source=origin, link=asked, found=found), explain(asked, found, origin)
    if json_output:
        io.json({**link_record(followed), "why": why})
    else:
        listing = Listing(io, paths)
        listing.line(describe_link(followed.link, followed.found))
        listing.aside(why, indent=0)
    return ExitCode.VAULT if _is_broken(found) else ExitCode.OK


def _is_broken(found: "Resolution") -> bool:
    from zkchat.model.note import External, Missing

    return isinstance(found, Missing) or (not isinstance(found, External) and not found.anchor_found)


def _print_all(io: CommandIO, library: "Library", *, json_output: bool) -> None:
    from zkchat.model.note import line_place
    from zkchat.vault import graph

    for each in graph.all_links(library):
        if json_output:
            io.json_line(link_record(each))
        else:
            io.out(f"{line_place(each.source or '', each.link.line)}: {describe_link(each.link, each.found)}")


def _list_backlinks(listing: Listing, found: list["Followed"], *, indent: int) -> None:
    from zkchat.model.note import line_place

    for each in found:
        listing.line(line_place(each.source or "", each.link.line), indent=indent)
        listing.aside(each.context, indent=indent + 2)


def link_record(followed: "Followed") -> dict[str, object]:
    """A link as scripts see it; docs/json.md says what each field means."""
    link = followed.link
    return {
        "source": followed.source,
        "text": link.text,
        "target": link.target,
        **_destination_record(followed),
        "anchor": link.anchor,
        "embed": link.embed,
        "line": link.line,
        "in_frontmatter": bool(link.in_frontmatter),
        "property": link.in_frontmatter or None,
        "in_comment": link.in_comment,
    }


def _backlink_record(followed: "Followed") -> dict[str, object]:
    return {**link_record(followed), "context": followed.context}


def _destination_record(followed: "Followed") -> dict[str, object]:
    """Where a link leads."""
    from zkchat.model.note import Ambiguous, External, Missing, Resolved, is_note
    from zkchat.vault.links.resolver import is_attachment

    found = followed.found
    nowhere = {"path": None, "via": None, "anchor_found": True, "candidates": ()}
    match found:
        case Resolved() | Ambiguous():
            return {
                "status": "resolved" if isinstance(found, Resolved) else "ambiguous",
                "path": found.path,
                "via": found.via,
                "anchor_found": found.anchor_found,
                "candidates": () if isinstance(found, Resolved) else found.others,
                "kind": "note" if is_note(found.path) else "attachment",
            }
        case Missing():
            kind = "attachment" if is_attachment(followed.link.target) else "note"
            return {"status": "missing", **nowhere, "candidates": found.suggestions, "kind": kind}
        case External():
            return {"status": "external", **nowhere, "kind": None}
    assert_never(found)
