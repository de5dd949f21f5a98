"""Links after files have moved: which would lead elsewhere, and edits of notes, canvases and bases so that none do."""

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Final
from urllib.parse import quote

from msgspec import Struct, field

from zkchat.core import (
    Ambiguous,
    ChangeRecord,
    EditRefused,
    Link,
    Resolved,
    is_drawing,
    is_in_trash,
    is_note,
    lazy_pattern,
    without_suffix,
)
from zkchat.index import BrokenLink, Library, Repair
from zkchat.notes import (
    Catalog,
    Notation,
    TextEdit,
    edited,
    find_links,
    find_target,
    fits,
    frontmatter_of,
    link_targets,
    name_key,
    scan,
    wikilink,
    wikilink_spans,
    written_target,
)
from zkchat.writing.staging import StagedChanges
from zkchat.writing.targets import LinkStyle

_ENCODED: Final = {ord(character): f"%{ord(character):02X}" for character in ' %()<>#?"\\|'}
"""What would end the address of a hyperlink, or mean something else in it."""


def spellings(
    written: str, old: str, new: str, source: str, style: LinkStyle, *, was_relative: bool = False
) -> Iterator[str]:
    """Targets for a link in the note `source` that meant the file `old` and has to mean `new`, the best first.

    A name stays a name, a path a path, a relative path a relative one, and `.md` stays away where it was. A name that
    is not enough becomes what new links are in this vault. Folders that stay are written as they are there.
    """
    for suffixed in (_has_suffix(written, old), True):
        parts = _parts(written, old, new, suffixed=suffixed)
        here = source.split("/")[:-1]
        common = len([*takewhile(lambda pair: pair[0] == pair[1], zip(new.split("/")[:-1], here, strict=False))])
        relative = "/".join([*([".."] * (len(here) - common) or ["."]), *parts[common:]])
        path = "/".join(parts)
        fallbacks = (relative, path, f"/{path}") if style.format == "relative" else (path, f"/{path}", relative)
        if was_relative and not written.startswith(("./", "../")):
            yield relative.removeprefix("./")
        if was_relative or written.startswith(("./", "../")):
            yield relative
        elif written.startswith("/"):
            yield f"/{path}"
        elif not _names_file(written, old) or "/" not in written:
            yield parts[-1]
        elif (slashes := written.count("/")) != old.count("/"):
            yield "/".join(parts[-slashes - 1 :])
        else:
            yield path
        yield from fallbacks


def is_relative(target: str, path: str, source: str) -> bool:
    """Whether a target is the path of a file from the folder of the note `source`, as other programs read links."""
    if target.startswith("/"):
        return False
    full = name_key(posixpath.normpath(posixpath.join(source.rpartition("/")[0], target)))
    return full in {name_key(path), name_key(without_suffix(path))}


def _parts(written: str, old: str, new: str, *, suffixed: bool) -> list[str]:
    """The folders and the name of the new path; those that stay where they are as they were written."""
    parts = [*(new if suffixed else without_suffix(new)).split("/")]
    before, after = old.split("/"), new.split("/")
    spelled = [part for part in written.split("/") if part not in {"", ".", ".."}]
    if _names_file(written, old):
        for at in range(-1, -1 - min(len(parts), len(before), len(spelled)), -1):
            names_all = at < -1 or _has_suffix(written, old) == suffixed
            if before[at] == after[at] and names_all:
                parts[at] = spelled[at]
    return parts


def _names_file(written: str, path: str) -> bool:
    """Whether a target names a file by its name, and not by an alias, an id or a title."""
    name = path.rpartition("/")[2]
    return name_key(written.rpartition("/")[2]) in {name_key(name), name_key(without_suffix(name))}


def _has_suffix(written: str, path: str) -> bool:
    name = path.rpartition("/")[2]
    return not is_note(path) or name_key(written.rpartition("/")[2]) == name_key(name)


def write_link(
    library: Library, source: str, target: str, text: str, style: LinkStyle, *, in_table: bool = False
) -> str | None:
    """A link in the note `source` to the note `target` that shows `text`; None where no spelling leads there.

    It is written as the vault writes links, else as a hyperlink: not every name can stand in a wikilink.
    """
    pipe = r"\|" if in_table else "|"
    suffix = target[len(without_suffix(target)) :]
    for path in new_spellings(source, target, style):
        wikilinks = [] if style.markdown else [f"[[{path}]]" if text == path else f"[[{path}{pipe}{text}]]"]
        for written in (*wikilinks, f"[{text}]({(path + suffix).translate(_ENCODED)})"):
            links = scan(written)
            if len(links) == 1 and links[0].text == written and leads_to(library, links[0], source, target):
                return written
    return None


def new_spellings(source: str, target: str, style: LinkStyle) -> Iterator[str]:
    """How the path of a note may be written in another one, without its suffix; the preferred spelling first."""
    stem = without_suffix(target)
    if style.format == "relative":
        yield without_suffix(posixpath.relpath(f"/{target}", f"/{source.rpartition('/')[0]}"))
    elif style.format == "shortest":
        yield stem.rpartition("/")[2]
    yield stem
    yield f"/{stem}"


def leads_to(library: Library, link: Link, source: str, target: str) -> bool:
    """Whether a link means this note by its path or its name, which is what other programs understand too."""
    found = library.resolve(link, source, suggestions=0)
    if isinstance(found, Ambiguous) and "/" not in link.target.strip("/") and "/" in target:
        return False
    return isinstance(found, Resolved | Ambiguous) and found.path == target and found.via in {"name", "path"}


class RepairedLink(Struct, frozen=True, kw_only=True):
    """A link as it was and as it will be."""

    source: str
    lines: tuple[int, ...]
    before: str
    after: str
    path: str
    reason: str


class LinkRepairer:
    """Stages repairs one by one, each checked: the link leads where it should, and every other link where it did."""

    def __init__(self, library: Library, staged: StagedChanges, style: LinkStyle) -> None:
        self._library = library
        self._staged = staged
        self._style = style

    def preview(self, broken: BrokenLink, repair: Repair) -> RepairedLink:
        """What a repair makes of a link. Raises `EditRefused` where it cannot be written."""
        return self._repaired(broken, repair)[0]

    def stage(self, broken: BrokenLink, repair: Repair) -> RepairedLink:
        """Stage a repair. Raises `EditRefused` and `NoteUnreadable`."""
        repaired, before, after = self._repaired(broken, repair)
        self._staged.write(broken.source, after, made_from=before, title=f"Repair links in {broken.source}")
        return repaired

    def _repaired(self, broken: BrokenLink, repair: Repair) -> tuple[RepairedLink, str, str]:
        """The link, and the text without and with the repair."""
        text = self._staged.read(broken.source)
        if text is None:
            raise EditRefused(f"{broken.source} no longer exists.")
        links = [link for link in find_links(text).links if link.text == broken.link.text]
        edits = [*self._edits(text, broken, repair, links)]
        after = edited(text, edits)
        new = self._checked(broken, repair, text, after)
        repaired = RepairedLink(
            source=broken.source,
            lines=broken.lines,
            before=broken.link.text,
            after=new.text,
            path=repair.path,
            reason=repair.reason,
        )
        return repaired, text, after

    def _edits(self, text: str, broken: BrokenLink, repair: Repair, links: list[Link]) -> Iterator[TextEdit]:
        targets = {(each.link, each.place): each for each in link_targets(text) if each.link == broken.link.text}
        found = self._library.resolve(broken.link, broken.source, suggestions=0)
        if broken.is_missing or not (isinstance(found, Resolved | Ambiguous) and found.path == repair.path):
            spelled = self._spelled(broken, repair)
            for target in targets.values():
                if target.place is None:
                    raise _cannot(broken)
                yield TextEdit(*target.place, written_target(spelled, target, text))
        if repair.anchor != broken.link.anchor:
            for link in links:
                start, end = _anchor_place(text, link)
                is_address = link.syntax == "markdown" and text[start - 2 : start - 1] != "<"
                anchor = quote(repair.anchor, safe="^#") if is_address else repair.anchor
                yield TextEdit(start, end, anchor)

    def _spelled(self, broken: BrokenLink, repair: Repair) -> str:
        """The target in the notation of the link that is repaired, as far as it leads there."""
        written, source = broken.link.target, broken.source
        suffix = repair.path[len(without_suffix(repair.path)) :]
        has_suffix = broken.link.syntax == "markdown" or is_note(written)
        style = LinkStyle(format="relative") if written.startswith(("./", "../")) else self._style
        for spelled in new_spellings(source, repair.path, style):
            target = spelled + suffix if has_suffix and is_note(repair.path) else spelled
            if leads_to(self._library, Link(text="", target=target), source, repair.path):
                return target
        raise _cannot(broken)

    def _checked(self, broken: BrokenLink, repair: Repair, text: str, after: str) -> Link:
        """The repaired link. Raises `EditRefused` unless it, and no other link, is different."""
        before, now = find_links(text).links, find_links(after).links
        repaired = None
        for old, new in zip(before, now, strict=False):
            if old.text != broken.link.text:
                if old.text != new.text:
                    raise _cannot(broken)
                continue
            found = self._library.resolve(new, broken.source, suggestions=0)
            if not isinstance(found, Resolved | Ambiguous) or found.path != repair.path:
                raise _cannot(broken)
            if repair.anchor != broken.link.anchor and not found.anchor_found:
                raise _cannot(broken)
            repaired = new
        is_worse = frontmatter_of(after).warning and not frontmatter_of(text).warning
        if repaired is None or len(before) != len(now) or is_worse:
            raise _cannot(broken)
        return repaired


def _anchor_place(text: str, link: Link) -> tuple[int, int]:
    """Where the heading or block of a link is written, after its `#`. Raises `EditRefused` for one by reference."""
    if link.syntax == "wikilink":
        inner = text[link.start : link.end - 2].partition("|")[0].removesuffix("\\")
        return link.start + len(inner) - len(Link.split(inner)[2]), link.start + len(inner.rstrip())
    opening = text.rfind("](", link.start, link.end)
    before, sign, _ = Link.split(text[opening : link.end])
    if opening < 0 or not sign:
        raise EditRefused(f"zkchat cannot rewrite the heading in the link {link.text}.")
    start = opening + len(before + sign)
    is_angle = text[opening + 2 : link.end].lstrip().startswith("<")
    end = text.find(">", start, link.end) if is_angle else start
    while not is_angle and end < link.end - 1 and not text[end].isspace():
        end += 1
    return start, end


def _cannot(broken: BrokenLink) -> EditRefused:
    return EditRefused(
        f"zkchat cannot rewrite the link {broken.link.text} in {broken.source}.",
        hint="Change it in your editor.",
    )


def past_renames(records: Iterable[ChangeRecord]) -> dict[str, str]:
    """By the path that a file once had, the one that it has now, as far as the journal tells; the records in order."""
    renamed: dict[str, str] = {}
    for record in records:
        for move in record.changes.moves if record.state == "applied" else ():
            if is_note(move.target) and not is_in_trash(move.target):
                for old, now in [*renamed.items()]:
                    if now == move.source:
                        renamed[old] = move.target
                renamed[move.source] = move.target
    return {old: now for old, now in renamed.items() if old != now}


_PLAIN = lazy_pattern(r"(?:[\w ./-]|%20)*")
"""What is no mark of Markdown or YAML inside a link: such targets take each other's place without any other effect."""
_QUOTED = (lazy_pattern(r'(?<=")[^"\n\\]+(?=\\?")'), lazy_pattern(r"(?<=')[^'\n\\]+(?=\\?')"))
"""What stands between two quotation marks, escaped or not, also between the end of one text and the next one."""
_COMMENT = lazy_pattern(r"^[ \t]*#.*$", re.MULTILINE)
_TAKES_LINK = lazy_pattern(r"\b(?:link|file|hasLink|image|embed)\(\s*\\?[\"']\Z")
_TAKES_FOLDER = lazy_pattern(r"(?:\binFolder\(|\bfolder\s*[=!]=)\s*\\?[\"']\Z")
_TOKEN = lazy_pattern(r'"(?:[^"\\]|\\.)*"|[{}\[\],]', re.DOTALL)
_CHARACTER = lazy_pattern(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)
_CANVAS = "nodes", frozenset({"file", "background"}), frozenset({"text"})
"""The list of objects in which files and links stand, and their keys: the file that a node shows, the picture behind a
group, the text of a card."""
_EXCALIDRAW = "elements", frozenset[str](), frozenset({"text", "rawText", "originalText", "link"})


class MovedFiles(Struct, frozen=True, kw_only=True):
    """What moves, and what links mean before and after it."""

    before: Catalog
    after: Catalog
    paths: Mapping[str, str]
    """By the path of each file that moves, its new one."""
    style: LinkStyle
    revived: dict[str, list[str]] = field(default_factory=dict)
    """By the new path of a file, its links that led nowhere, and now lead to a file."""

    def path(self, path: str) -> str:
        """Where a file will be."""
        return self.paths.get(path, path)

    def moved_path(self, value: str, source: str) -> str | None:
        """The new path of the file whose path is written in the file `source`; None for one that stays."""
        if value in self.paths:
            return self.paths[value]
        key = name_key(value)
        alike = self.before.at(key)
        if not alike and self.after.at(key):
            self.revive(source, value)
        return self.paths.get(alike[0]) if alike and value not in alike else None

    def revive(self, source: str, link: str) -> None:
        """Note that a link of the file `source` led nowhere, and now leads to a file."""
        self.revived.setdefault(self.path(source), []).append(link)

    def retargeted(self, target: str, source: str, link: str, notation: Notation = "wikilink") -> str | None:
        """What a link in the file `source` has to say to mean the same file; None where it may stay as it is."""
        found = find_target(self.before, target, source)
        new_source = self.path(source)
        now = find_target(self.after, target, new_source)
        if found is None:
            if now is not None:
                self.revive(source, link)
            return None
        path, named, by_name = found
        wanted = self.path(path)
        is_bare = notation == "wikilink" and "/" not in named  # which is found in whatever folder it is
        was_relative = self.style.format == "relative" and by_name and not is_bare and is_relative(named, path, source)
        stays_relative = not was_relative or is_relative(named, wanted, new_source)
        if now is not None and now[:2] == (wanted, named) and now.by_name >= by_name and stays_relative:
            return None
        rest = target[len(named) :]
        for spelled in spellings(named, path, wanted, new_source, self.style, was_relative=was_relative):
            if fits(spelled, notation) and self.means(spelled + rest, new_source) == wanted:
                return spelled + rest
        raise cannot_be_written(link, source, wanted)

    def means(self, target: str, new_source: str) -> str | None:
        """The file that a target will mean in the file `new_source`; None for none."""
        found = find_target(self.after, target, new_source)
        return found[0] if found else None


def cannot_be_written(link: str, source: str, wanted: str) -> EditRefused:
    return EditRefused(
        f"The link {link} in {source} cannot be rewritten to lead to {wanted}.",
        hint="Choose a name without # ^ | [ ] % and quotation marks, or change that link first.",
    )


def update_text(text: str, source: str, moved: MovedFiles, *, has_frontmatter: bool = True) -> list[TextEdit]:
    """The edits that make every link of a text mean what it meant. Raises `EditRefused` where there are none."""
    targets = link_targets(text, has_frontmatter=has_frontmatter)
    needed: dict[TextEdit, None] = {}
    for each in targets:
        target = moved.retargeted(each.target, source, each.link, each.notation)
        if target is not None:
            if each.place is None:
                raise cannot_be_written(each.link, source, target)
            needed[TextEdit(*each.place, written_target(target, each, text))] = None
    edits = [*needed]
    if not edits or all(_PLAIN.fullmatch(edit.text) and _PLAIN.fullmatch(text, edit.start, edit.end) for edit in edits):
        return edits
    after, new_source = edited(text, edits), moved.path(source)
    before = [find_target(moved.before, each.target, source) for each in targets]
    expected = [moved.path(each[0]) if each else None for each in before]  # none where a link leads nowhere now
    now = link_targets(after, has_frontmatter=has_frontmatter)
    pairs = zip(now, expected, strict=False)
    leads_there = [wanted is None or moved.means(each.target, new_source) == wanted for each, wanted in pairs]
    if not all(leads_there) or len(now) != len(expected):
        at = min([*leads_there, False].index(False), len(targets) - 1)
        raise cannot_be_written(targets[at].link, source, expected[at] or source)
    if has_frontmatter and frontmatter_of(after).warning and not frontmatter_of(text).warning:
        raise EditRefused(
            f"The new links would make the frontmatter of {source} unreadable.", hint="Choose another name."
        )
    return edits


def is_other_host(path: str) -> bool:
    """Whether a file is not a note, and may hold links."""
    return is_drawing(path) or path.lower().endswith(".base")


def update_base(text: str, source: str, moved: MovedFiles, folder: tuple[str, str] | None) -> list[TextEdit]:
    """The edits that make what a base names mean what it meant. `folder` is the old and new path of one that moves."""
    edits: dict[TextEdit, None] = {}
    for start, named, is_path, is_folder in _named_in_base(text):
        new = None if is_path else moved.retargeted(named, source, named)
        if is_path and named in moved.paths:
            new = moved.paths[named]
        elif is_path and named in moved.paths.values():
            moved.revive(source, named)
        elif is_path and folder and ("/" in named or is_folder):
            old, target = folder
            if f"{named}/".startswith(f"{old}/"):
                new = target + named[len(old) :]
            elif f"{named}/".startswith(f"{target}/"):
                moved.revive(source, named)
        if new is not None:
            edits[TextEdit(start, start + len(named), new)] = None
    return [*edits]


def base_targets(text: str) -> Iterator[tuple[str, bool]]:
    """What the links and texts of a base name, and whether that is the very path of a file."""
    yield from ((named, is_path) for _, named, is_path, _ in _named_in_base(text))


def _named_in_base(text: str) -> Iterator[tuple[int, str, bool, bool]]:
    """What a base may name, outside comments: where that stands, whether it is the very path of a file or folder and
    no link, and whether it can only be that of a folder."""
    visible = _COMMENT.sub(lambda match: "\0" * len(match[0]), text)
    for span in wikilink_spans(visible):
        link = wikilink(visible, span, 1)
        if link and link.target and not link.external:
            yield visible.index(link.target, link.start), link.target, False, False
    for match in (each for pattern in _QUOTED for each in pattern.finditer(visible)):
        first = max(0, match.start() - 60)
        takes_link = _TAKES_LINK.search(visible, first, match.start())
        named = Link.split(match[0])[0].partition("|")[0] if takes_link else match[0]
        if named.strip() and "[[" not in match[0]:
            yield match.start(), named, not takes_link, bool(_TAKES_FOLDER.search(visible[first : match.start()]))


def update_canvas(text: str, source: str, moved: MovedFiles) -> list[TextEdit]:
    """The edits that make every node and link of a canvas mean what it meant; none for what is no JSON."""
    edits: list[TextEdit] = []
    for start, end, is_path in _node_texts(text, source):
        written = text[start:end]
        if is_path:
            path = moved.moved_path(_decoded(written), source)
            edits += [TextEdit(start, end, _encoded(path))] if path else []
        elif "](" in written or "[[" in written or "]:" in written:
            offsets = [start + match.start() for match in _CHARACTER.finditer(written)] + [end]
            edits += [
                TextEdit(offsets[edit.start], offsets[edit.end], _encoded(edit.text))
                for edit in update_text(_decoded(written), source, moved, has_frontmatter=False)
            ]
    return edits


def canvas_targets(text: str, path: str) -> Iterator[tuple[str, bool]]:
    """What the nodes and links of a canvas name, and whether that is the very path of a file; nothing for no JSON."""
    for start, end, is_path in _node_texts(text, path):
        named = _decoded(text[start:end])
        if is_path:
            yield named, True
        else:
            yield from ((link.target, False) for link in link_targets(named, has_frontmatter=False))


def _node_texts(text: str, path: str) -> Iterator[tuple[int, int, bool]]:
    """Where the texts stand that name a file or may hold links, without quotation marks, and which are paths."""
    try:
        json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return
    list_key, paths, texts = _CANVAS if path.lower().endswith(".canvas") else _EXCALIDRAW
    keys: list[str | None] = []
    """For each open object the key at hand, empty before it; None for a list."""
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if piece in {"{", "["}:
            keys.append("" if piece == "{" else None)
        elif piece in {"}", "]"}:
            keys.pop()
        elif piece == ",":
            keys[-1] = None if keys[-1] is None else ""
        elif keys and keys[-1] == "":
            keys[-1] = _decoded(piece[1:-1])
        elif len(keys) == 3 and keys[:2] == [list_key, None] and keys[2] in paths | texts:
            yield match.start() + 1, match.end() - 1, keys[2] in paths


def _decoded(written: str) -> str:
    return str(json.loads(f'"{written}"', strict=False))


def _encoded(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]
