"""Links after files have moved: which would lead elsewhere, and edits of notes, canvases and bases so that none do."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from zkchat.errors import EditRefused
from zkchat.model.note import is_drawing
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.links.catalog import Catalog
from zkchat.vault.links.resolver import find_target
from zkchat.vault.notes.link_targets import LinkTarget, Notation, TextEdit, edited, fits, link_targets, written_target
from zkchat.vault.notes.parse import frontmatter_of
from zkchat.vault.notes.wikilink import name_key, wikilink, wikilink_spans
from zkchat.writing.conventions import LinkStyle
from zkchat.writing.links.spelling import is_relative, spellings

_PLAIN = lazy_pattern(r"(?:[\w ./-]|%20)*")
"""What is no mark of Markdown or YAML inside a link: such targets take each other's place without any other effect."""
BASE_SUFFIX: Final = ".base"
_QUOTED = (lazy_pattern(r'(?<=")[^"\n\\]+(?=\\?")'), lazy_pattern(r"(?<=')[^'\n\\]+(?=\\?')"))
"""What stands between two quotation marks, escaped or not, also between the end of one text and the next one."""
_COMMENT = lazy_pattern(r"^[ \t]*#.*$", re.MULTILINE)
_TAKES_LINK = lazy_pattern(r"\b(?:link|file|hasLink|image|embed)\(\s*\\?[\"']\Z")
_TAKES_FOLDER = lazy_pattern(r"(?:\binFolder\(|\bfolder\s*[=!]=)\s*\\?[\"']\Z")
_CONTEXT = 60
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

    def expected(self, targets: Sequence[LinkTarget], source: str) -> list[str | None]:
        """What each link has to mean; None for those that lead nowhere now."""
        found = [find_target(self.before, each.target, source) for each in targets]
        return [self.path(each[0]) if each else None for each in found]


def cannot_be_written(link: str, source: str, wanted: str) -> EditRefused:
    return EditRefused(
        f"The link {link} in {source} cannot be written so that it means {wanted}.",
        hint="Choose a name without # ^ | [ ] % and quotation marks, or change that link first.",
    )


def update_text(text: str, source: str, moved: MovedFiles, *, has_frontmatter: bool = True) -> list[TextEdit]:
    """The edits that make every link of a text mean what it meant. Raises `EditRefused` where there are none."""
    targets = link_targets(text, has_frontmatter=has_frontmatter)
    edits = [*dict.fromkeys(_edits(text, targets, source, moved))]
    if not edits or all(_PLAIN.fullmatch(edit.text) and _PLAIN.fullmatch(text, edit.start, edit.end) for edit in edits):
        return edits
    expected = moved.expected(targets, source)
    after = edited(text, edits)
    problem = _problem(after, source, moved, expected, has_frontmatter)
    if problem is not None:
        at = min(problem, len(targets) - 1)
        raise cannot_be_written(targets[at].link, source, expected[at] or source)
    if has_frontmatter and frontmatter_of(after).warning and not frontmatter_of(text).warning:
        raise EditRefused(
            f"The new links would make the frontmatter of {source} unreadable.", hint="Choose another name."
        )
    return edits


def _edits(text: str, targets: Iterable[LinkTarget], source: str, moved: MovedFiles) -> Iterator[TextEdit]:
    for each in targets:
        target = moved.retargeted(each.target, source, each.link, each.notation)
        if target is None:
            continue
        if each.place is None:
            raise cannot_be_written(each.link, source, target)
        yield TextEdit(*each.place, written_target(target, each, text))


def _problem(
    after: str, source: str, moved: MovedFiles, expected: Sequence[str | None], has_frontmatter: bool
) -> int | None:
    """The number of the first link of the new text that does not mean what it has to; None if all do."""
    new_source = moved.path(source)
    targets = link_targets(after, has_frontmatter=has_frontmatter)
    for number, (each, wanted) in enumerate(zip(targets, expected, strict=False)):
        if wanted is not None and moved.means(each.target, new_source) != wanted:
            return number
    return None if len(targets) == len(expected) else min(len(targets), len(expected))


def is_other_host(path: str) -> bool:
    """Whether a file is no note, and may hold links."""
    return is_drawing(path) or path.lower().endswith(BASE_SUFFIX)


def update_base(text: str, source: str, moved: MovedFiles, folder: tuple[str, str] | None) -> list[TextEdit]:
    """The edits that make what a base names mean what it meant. `folder` is the old and new path of one that moves."""
    visible = _visible(text)
    edits: dict[TextEdit, None] = {}
    for start, named, is_path in _named_in_base(visible):
        new = None if is_path else moved.retargeted(named, source, named)
        if is_path and named in moved.paths:
            new = moved.paths[named]
        elif is_path and named in moved.paths.values():
            moved.revive(source, named)
        elif is_path and folder and ("/" in named or _TAKES_FOLDER.search(visible[max(0, start - _CONTEXT) : start])):
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
    yield from ((named, is_path) for _, named, is_path in _named_in_base(_visible(text)))


def _visible(text: str) -> str:
    """The text without its comments."""
    return _COMMENT.sub(lambda match: "\0" * len(match[0]), text)


def _named_in_base(visible: str) -> Iterator[tuple[int, str, bool]]:
    """What a base may name: where that stands, and whether it is the very path of a file or folder and no link."""
    for span in wikilink_spans(visible):
        link = wikilink(visible, span, 1)
        if link and link.target and not link.external:
            yield visible.index(link.target, link.start), link.target, False
    for match in (each for pattern in _QUOTED for each in pattern.finditer(visible)):
        takes_link = _TAKES_LINK.search(visible, max(0, match.start() - _CONTEXT), match.start())
        named = match[0].partition("#")[0].partition("|")[0] if takes_link else match[0]
        if named.strip() and "[[" not in match[0]:
            yield match.start(), named, not takes_link


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
