"""Explain in words why a link resolves to a note. The rules themselves are in `resolver`."""

from typing import assert_never

from zkchat.model.choices import LinkVia
from zkchat.model.note import Ambiguous, External, Link, Missing, Resolution, Resolved, without_suffix
from zkchat.vault.notes.wikilink import name_key

_ALONE: dict[LinkVia, str] = {
    "self": "It leads into the note that it stands in.",
    "path": "It is the only file whose path ends like that.",
    "name": "It is the only file of that name.",
    "alias": "No file has that name; it is the only note with that alias.",
    "id": "No file has that name; it is the only note with that id.",
    "title": "No file has that name; it is the only note with that title.",
}
_AMONG = {
    "path": "The paths of {count} files end like that",
    "name": "{count} files have that name",
    "alias": "No file has that name; {count} notes have that alias",
}
_FROM_A_PLACE = ("/", "./", "../")


def explain(link: Link, found: Resolution, source: str | None) -> str:
    """Explain how a link in the note `source`, or in the user's text, was resolved."""
    match found:
        case Resolved():
            at_place = link.target.startswith(_FROM_A_PLACE)
            return ("It is the file at that path." if at_place else _ALONE[found.via]) + _lost_place(link, found)
        case Ambiguous():
            among = _AMONG[found.via].format(count=len(found.others) + 1)
            return f"{among}; this one wins because {_advantage(link, found, source)}.{_lost_place(link, found)}"
        case Missing():
            return _absence(link)
        case External():
            return "It is an address outside the vault."
    assert_never(found)


def _advantage(link: Link, found: Ambiguous, source: str | None) -> str:
    """The first rule that ranks the chosen path before the runner-up."""
    winner, rival = found.path, found.others[0]
    asked = link.target.lstrip("/")
    if without_suffix(winner) == without_suffix(asked) != without_suffix(rival):
        return "its path is exactly that"
    if name_key(without_suffix(winner)) == name_key(without_suffix(asked)) != name_key(without_suffix(rival)):
        return "its path is that, but for upper and lower case"
    if source is not None and _folder(winner) == _folder(source) != _folder(rival):
        return f"it is in the same folder as {source}"
    return "its path is the shortest" if len(winner) < len(rival) else "its path comes first in the alphabet"


def _absence(link: Link) -> str:
    if not link.target:
        return "It leads into the note that it stands in, and no note was named."
    if link.target.startswith(_FROM_A_PLACE):
        return "There is no file at that path."
    return "No file has that name, no note that alias, and no single note that id or title."


def _lost_place(link: Link, found: Resolved | Ambiguous) -> str:
    if found.anchor_found:
        return ""
    kind = "block" if "^" in (link.anchor or link.target) else "heading"
    return f" There is no such {kind} in it, so the link leads to its beginning."


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
