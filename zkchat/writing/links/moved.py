"""Links after files have moved: which would lead elsewhere, and how they are written so that they do not."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from zkchat.errors import EditRefused
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.links.catalog import Catalog
from zkchat.vault.links.resolver import find_target
from zkchat.vault.notes.link_targets import LinkTarget, Notation, TextEdit, edited, fits, link_targets, written_target
from zkchat.vault.notes.parse import frontmatter_of
from zkchat.vault.notes.wikilink import name_key
from zkchat.writing.conventions import LinkStyle
from zkchat.writing.links.spelling import is_relative, spellings

_PLAIN = lazy_pattern(r"(?:[\w ./-]|%20)*")
"""What is no mark of Markdown or YAML inside a link: such targets take each other's place without any other effect."""


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
