"""What leads where, and why: the links of a note, and the notes around it."""

from typing import Annotated, Any, assert_never

from msgspec.structs import asdict

from zkchat.actions.base import Argument, NoteArgument, Result, Vault, action
from zkchat.core import (
    Ambiguous,
    ExitCode,
    External,
    Missing,
    Resolved,
    counted,
    file_kind,
    is_note,
    line_place,
    without_suffix,
)
from zkchat.index import Followed, Library, graph, parse_link
from zkchat.notes import explain, is_attachment
from zkchat.render import NumberedRow, Place, RowSection, describe_destination, describe_link, is_doubtful


@action(
    "links from and to a note",
    details="The note's links in order, with line numbers, then links to it; broken and ambiguous ones are yellow. "
    "NOTE as in /show.",
    is_minor=True,
)
def links(vault: Vault, note: NoteArgument) -> Result:
    """Show the links in a note, and the links to it.

    zkchat links "[[Evergreen notes]]"

    zkchat links --all --json | jq 'select(.status == "missing")'
    """
    assert note.path
    library, path = vault.library, note.path
    outgoing, incoming = graph.links(library, path), graph.backlinks(library, path)
    ambiguous = sum(isinstance(each.found, Ambiguous) for each in outgoing)
    broken = sum(is_doubtful(each.found) for each in outgoing) - ambiguous
    faults = [f"{count} {fault}" for count, fault in ((broken, "broken"), (ambiguous, "ambiguous")) if count]
    forth = RowSection(title=", ".join([f"Links ({len(outgoing):,})", *faults]), rows=[*map(_link_row, outgoing)])
    back = RowSection(title=f"Backlinks ({len(incoming):,})", rows=[*map(_backlink_row, incoming)])
    return Result(
        heading=_heading(library, path),
        sections=[forth, back],
        empty=f"{_heading(library, path)} links to nothing, and nothing links to it.",
        data={
            "path": path,
            "title": library.title(path),
            "links": [row.data for row in forth.rows],
            "backlinks": [row.data for row in back.rows],
        },
    )


@action(
    "what links to a note",
    details="The links to it from other notes, with their lines. NOTE as in /show.",
    is_minor=True,
)
def backlinks(vault: Vault, note: NoteArgument) -> Result:
    """Show the links to a note from other notes, with their lines.

    zkchat backlinks "[[Evergreen notes]]"
    """
    assert note.path
    found = graph.backlinks(vault.library, note.path)
    heading = _heading(vault.library, note.path)
    return Result(
        heading=f"{heading}: {counted(len(found), 'link')} from other notes",
        sections=[RowSection(rows=[*map(_backlink_row, found)])],
        empty=f"No other note links to {heading}. To see which mention it: zkchat show {note.path!r} --mentions",
    )


@action()
def resolve(
    vault: Vault,
    link: Annotated[str, Argument(name="LINK", help='For example "[[Note#Heading]]"; a name alone works too.')],
    source: Annotated[
        Place | None,
        Argument(
            option="--from", name="NOTE", help="The note that contains the link: links are looked up from its folder."
        ),
    ] = None,
) -> Result:
    """Show what a link leads to, and why.

    The exit code is 4 if it leads nowhere. A heading or block that the note does not have counts as nowhere; `--json`
    says whether that, or the note itself, is missing.

    zkchat resolve "[[Compost]]" --from "Daily/2026-03-07.md"
    """
    asked, origin = parse_link(link), source.path if source else None
    found = vault.library.resolve(asked, origin)
    followed, why = Followed(source=origin, link=asked, found=found), explain(asked, found, origin)
    is_broken = isinstance(found, Missing) or (not isinstance(found, External) and not found.anchor_found)
    return Result(
        sections=[RowSection(rows=[NumberedRow(name=describe_link(asked, found), text=why)])],
        data={**link_record(followed), "why": why},
        exit_code=ExitCode.VAULT if is_broken else ExitCode.OK,
    )


@action()
def mentions(vault: Vault, note: NoteArgument) -> Result:
    """Show where other notes mention a note without linking to it. By title, file name or alias."""
    assert note.path
    rows = [
        NumberedRow(
            name=f"{line_place(each.path, each.line)}: {each.name}",
            text=each.context,
            to=Place(path=each.path, line=each.line, name=each.name),
            data=asdict(each),
        )
        for each in graph.mentions(vault.library, note.path)
    ]
    return Result(sections=[RowSection(rows=rows)], empty=f"No other note mentions {note.path} without a link.")


@action()
def neighbours(
    vault: Vault,
    note: NoteArgument,
    steps: Annotated[int, Argument(option="--steps", name="N", least=1, most=3, help="At most N links away.")] = 1,
) -> Result:
    """Show the notes linked to or from a note."""
    assert note.path
    found = graph.neighbours(vault.library, note.path, steps=steps)
    titles = {path: vault.library.title(path) for path in found}
    rows = [
        NumberedRow(
            lead=str(away),
            name=titles[path],
            place=path,
            to=Place(path=path, name=titles[path]),
            data={"path": path, "title": titles[path], "steps": away},
        )
        for path, away in found.items()
    ]
    return Result(sections=[RowSection(rows=rows)], empty=f"{note.path} has no links to or from other notes.")


def _heading(library: Library, path: str) -> str:
    title = library.title(path)
    return title if title == without_suffix(path) else f"{title} ({path})"


def _link_row(followed: Followed) -> NumberedRow:
    link, found = followed.link, followed.found
    to = Place(path=None, name=link.text, doubt=f"It leads to {describe_destination(found)}.")
    if isinstance(found, Resolved | Ambiguous):
        to = Place(path=found.path, line=found.line, anchor=link.anchor if found.anchor_found else "", name=link.text)
    return NumberedRow(
        lead="" if file_kind(followed.source or "") else f"line {link.line}",
        name=describe_link(link, found),
        is_doubtful=is_doubtful(found),
        to=to,
        data=link_record(followed),
    )


def _backlink_row(followed: Followed) -> NumberedRow:
    source, line = followed.source or "", followed.link.line
    return NumberedRow(
        name=line_place(source, line),
        text=followed.context,
        to=Place(path=source, line=line, name=without_suffix(source)),
        data={**link_record(followed), "context": followed.context},
    )


def link_record(followed: Followed) -> dict[str, Any]:
    """A link as scripts see it; docs/json.md says what each field means."""
    link, found = followed.link, followed.found
    leads: dict[str, Any] = {"status": "external", "path": None, "via": None, "anchor_found": True, "candidates": ()}
    match found:
        case Resolved() | Ambiguous():
            leads = {
                "status": "resolved" if isinstance(found, Resolved) else "ambiguous",
                "path": found.path,
                "via": found.via,
                "anchor_found": found.anchor_found,
                "candidates": () if isinstance(found, Resolved) else found.others,
                "kind": "note" if is_note(found.path) else "attachment",
            }
        case Missing():
            kind = "attachment" if is_attachment(link.target) else "note"
            leads |= {"status": "missing", "candidates": found.suggestions, "kind": kind}
        case External():
            leads["kind"] = None
        case _:
            assert_never(found)
    return {
        "source": followed.source,
        "text": link.text,
        "target": link.target,
        **leads,
        "anchor": link.anchor,
        "embed": link.embed,
        "line": link.line,
        "in_frontmatter": bool(link.in_frontmatter),
        "property": link.in_frontmatter or None,
        "in_comment": link.in_comment,
    }
