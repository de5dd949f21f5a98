"""Where the targets of links stand in a text, and how another target is written there: for whoever changes links."""

import html
import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple
from urllib.parse import quote, unquote

from zkchat.model.note import Link
from zkchat.vault.notes.markdown import Hyperlink, Span, blank
from zkchat.vault.notes.parse import LinksInText, find_links
from zkchat.vault.notes.wikilink import link_to, wikilink_spans

Notation = Literal["wikilink", "plain", "angle"]
"""`[[…]]`, `[x](…)` and `[x](<…>)`; the last two also in definitions, `[x]: …`."""

_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])|(&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)")
_DEFINITION = re.compile(
    r"^(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*\[(?!\^)(?:[^\[\]\\\n]|\\.)+\]:[ \t]*(?:\n[ \t>]*)?(?=\S)", re.MULTILINE
)
_OPENING = re.compile(r"[ \t\r\n]*")
_ANGLE = re.compile(r"<((?:[^<>\n\\]|\\.)*)>")
_NOT_IN_ANGLES = re.compile(r"[\x00-\x1f<>\\#`|$]|%(?=[0-9A-Fa-f]{2}|%)|&(?=[#A-Za-z][0-9A-Za-z]*;)")
_NOT_PLAIN = re.compile(rf"{_NOT_IN_ANGLES.pattern}|[%\s\x7f]")
_PARENTHESES = re.compile(r"[()]")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_ENCODED_BEYOND_ASCII = re.compile(r"%[89A-Fa-f][0-9A-Fa-f]")
_ENCODED_PARENTHESIS = re.compile(r"%2[89]")


_ENDS_EARLY = re.compile(r"\||\\\Z")
"""In a wikilink: a pipe, or the backslash before one."""


class LinkTarget(NamedTuple):
    """The target of a link, before `#` and `|`, and its place in the text."""

    target: str
    """As reading understands it."""
    link: str
    """The whole link as it is written."""
    place: Span | None
    """Of the target as it is written; None where it cannot be told, so that it cannot be changed either."""
    notation: Notation
    in_frontmatter: bool = False


def link_targets(text: str, *, has_frontmatter: bool = True) -> list[LinkTarget]:
    """The targets of all links of a note that may lead to a file, in order; a definition once for each of its uses."""
    found = find_links(text, has_frontmatter=has_frontmatter)
    hyperlinks = {(link.start, link.end): link for link in found.outline.hyperlinks}
    definitions: Mapping[str, _Destination] | None = None
    targets = []
    for link in found.links:
        if link.external or not link.target:
            continue
        if link.syntax == "wikilink":
            targets.append(_in_wikilink(link))
            continue
        hyperlink = hyperlinks[link.start, link.end]
        destination = _inline_destination(text, hyperlink)
        if destination is None:
            definitions = _definitions(text, found) if definitions is None else definitions
            destination = definitions.get(hyperlink.address)
        targets.append(_in_destination(text, link, destination))
    return targets


def _in_wikilink(link: Link) -> LinkTarget:
    start = link.start + 2 + link.embed
    written = link.text[2 + link.embed : -2].partition("|")[0].removesuffix("\\").partition("#")[0]
    start += len(written) - len(written.lstrip())
    place = start, start + len(written.strip())
    return LinkTarget(link.target, link.text, place, "wikilink", bool(link.in_frontmatter))


class _Destination(NamedTuple):
    """Where a link leads, as it is written, without `<` and `>`."""

    place: Span
    angle: bool


def _in_destination(text: str, link: Link, destination: _Destination | None) -> LinkTarget:
    if destination is None:
        return LinkTarget(link.target, link.text, None, "plain")
    start, end = destination.place
    written = text[start:end].partition("#")[0]
    start += len(written) - len(written.lstrip())
    written = written.strip()
    is_certain = unquote(_unescaped(written)).strip() == link.target
    place = (start, start + len(written)) if is_certain else None
    return LinkTarget(link.target, link.text, place, "angle" if destination.angle else "plain")


def _inline_destination(text: str, link: Hyperlink) -> _Destination | None:
    """The destination of `[label](destination "title")`; None for a link by reference."""
    at = text.rfind("](", link.start, link.end)
    while at >= 0:
        destination = _destination_at(text, at + 2, link.end)
        if destination and _unescaped(text[slice(*destination.place)]) == link.address:
            return destination
        at = text.rfind("](", link.start, at)
    return None


def _definitions(text: str, found: LinksInText) -> dict[str, _Destination]:
    """By address, the first definition that leads there."""
    visible = blank(found.body, found.outline.code)
    definitions: dict[str, _Destination] = {}
    for match in _DEFINITION.finditer(visible):
        destination = _destination_at(text, match.end(), len(text))
        if destination:
            definitions.setdefault(_unescaped(text[slice(*destination.place)]), destination)
    return definitions


def _destination_at(text: str, start: int, end: int) -> _Destination | None:
    opening = _OPENING.match(text, start, end)
    start = opening.end() if opening else start
    if angle := _ANGLE.match(text, start, end):
        return _Destination(angle.span(1), angle=True)
    depth, at = 0, start
    while at < end and not text[at].isspace():
        if text[at] == "\\":
            at += 1
        elif text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
            if depth < 0:
                break
        at += 1
    return _Destination((start, min(at, end)), angle=False) if at > start else None


def _unescaped(written: str) -> str:
    """Without backslashes and entities, as Markdown reads an address."""
    if "\\" not in written and "&" not in written:
        return written
    return _ESCAPED.sub(lambda match: match[1] or html.unescape(match[2]), written)


def written_target(target: str, at: LinkTarget, text: str) -> str:
    """A target as it has to be written in the place of another, encoded as that is.

    Folders and names that the other has too are written as they are there.
    """
    if at.notation == "wikilink" or at.place is None:
        return target
    before = text[slice(*at.place)]
    known = {unquote(_unescaped(part)): part for part in before.split("/")}
    return "/".join(known.get(part) or _encoded(part, before, at.notation) for part in target.split("/"))


def fits(target: str, notation: Notation) -> bool:
    """Whether a link of this notation can have this target; `[x](…)` can have any."""
    if notation != "wikilink":
        return True
    text, link = f"[[{target}]]", link_to(target)
    is_whole = wikilink_spans(text) == [(0, len(text))] and not _ENDS_EARLY.search(target)
    return is_whole and link.target == target and not link.external


def _encoded(part: str, example: str, notation: Notation) -> str:
    special = _NOT_IN_ANGLES if notation == "angle" else _NOT_PLAIN
    encoded = special.sub(lambda match: quote(match[0], safe=""), part)
    if notation == "plain" and (not _is_balanced(part) or _ENCODED_PARENTHESIS.search(example)):
        encoded = _PARENTHESES.sub(lambda match: f"%{ord(match[0]):X}", encoded)
    if _ENCODED_BEYOND_ASCII.search(example):
        encoded = _BEYOND_ASCII.sub(lambda match: quote(match[0]), encoded)
    return encoded


def _is_balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


class TextEdit(NamedTuple):
    """What takes the place of a span."""

    start: int
    end: int
    text: str


def edited(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with these spans replaced; an edit that is there twice is made once."""
    pieces: list[str] = []
    position = 0
    for start, end, replacement in sorted({*edits}):
        pieces += (text[position:start], replacement)
        position = end
    return "".join([*pieces, text[position:]])
