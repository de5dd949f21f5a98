"""The note that a change is about, and names for new notes."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final, Literal

from msgspec import Struct, field

from zkchat.core import (
    NOTE_SUFFIX,
    Ambiguous,
    EditRefused,
    Link,
    Missing,
    NoteNotFound,
    OutsideVault,
    Resolved,
    VaultError,
    is_note,
    lazy_pattern,
)
from zkchat.index import DailyNoteSettings, Library, format_moment
from zkchat.notes import link_catalog
from zkchat.writing.staging import StagedChanges, same_name

LinkFormat = Literal["shortest", "relative", "absolute"]


class LinkStyle(Struct, frozen=True, kw_only=True):
    """How new link targets are spelled, by `newLinkFormat` and `useMarkdownLinks` of Obsidian."""

    format: LinkFormat = "shortest"
    markdown: bool = False


class VaultConventions(Struct, frozen=True, kw_only=True):
    """What the settings of Obsidian say about writing."""

    link_style: LinkStyle = field(default_factory=LinkStyle)
    daily: DailyNoteSettings = field(default_factory=DailyNoteSettings)
    template_folders: tuple[str, ...] = ()
    """Each with a slash at its end."""
    date_format: str = "YYYY-MM-DD"
    time_format: str = "HH:mm"
    """Of `{{date}}` and `{{time}}` in templates, in the notation of moment.js."""
    new_note_folder: str = ""
    """Where a note goes that is named by its title alone; empty for the root of the vault."""
    attachment_folder: str = ""
    """Where attachments go; empty where that is no one folder."""

    @property
    def named_paths(self) -> list[tuple[str, str]]:
        """The folders and notes that settings name, each after what it is for; folders end in a slash."""
        named = [
            ("daily notes", f"{self.daily.folder.strip('/')}/"),
            ("the template of daily notes", self.daily.template.strip("/")),
            *(("templates", folder) for folder in self.template_folders),
            ("new notes", f"{self.new_note_folder}/"),
            ("attachments", f"{self.attachment_folder}/"),
        ]
        return [(setting, path) for setting, path in named if path.strip("/")]


MAX_NAME_BYTES: Final = 255
"""Of a file or folder, as nearly every file system has it."""
_FORBIDDEN: Final = lazy_pattern(r'[\\/:*?"<>|]')
"""What Obsidian or Windows allow in no name."""
_UNLINKABLE: Final = lazy_pattern(r"[#^\[\]]")
"""What ends the target of a link."""
_CONTROL: Final = lazy_pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_RESERVED: Final = lazy_pattern(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
_MARKS: Final = lazy_pattern(
    r"(?: \((?:[^()]* )?conflicted copy\b[^()]*\)| \(SFConflict [^()]*\)|\.sync-conflict-\d{8}-\d{6}(?:-\w+)?)",
    re.IGNORECASE,
)
"""Of Dropbox, Nextcloud and Obsidian Sync; of Seafile; of Syncthing."""
CODE_MARK: Final = "<%"
"""With which code of the plugin Templater begins."""
_PLACEHOLDER: Final = lazy_pattern(r"\{\{\s*(?P<name>title|date|time)\s*(?::(?P<format>[^{}\n]+))?\}\}", re.IGNORECASE)
_UNKNOWN: Final = lazy_pattern(r"\{\{[^{}\n]+\}\}")
MAX_CANDIDATES = 10
"""Files that are named where a target may mean several."""


def path_of_new_note(named: str, folder: str) -> str:
    """The path that a title, a link or a path means for a new note. One without a folder goes into `folder`.

    Raises `EditRefused` and `OutsideVault`.
    """
    written = _written(named)
    check_inside(folder)
    if not written:
        raise EditRefused("A new note needs a name.")
    path = written if "/" in written else "/".join(part for part in (*folder.split("/"), written) if part)
    return path if is_note(path) else path + NOTE_SUFFIX


def path_of_renamed(source: str, new: str, *, is_folder: bool) -> str:
    """The path that a new name, or path, means for a file, which keeps its suffix, or a folder, which has none."""
    written = _written(new).rstrip("/")
    if not written:
        raise EditRefused("A name is needed.")
    folder, _, name = source.rpartition("/")
    suffix = name[name.rindex(".") :] if "." in name[1:] and not is_folder else ""
    ending = "" if written.lower().endswith(suffix.lower()) else suffix
    path = written if "/" in written or not folder else f"{folder}/{written}"
    return path + ending


def _written(named: str) -> str:
    """What a name says, which may be a link. Raises `OutsideVault`."""
    links = link_catalog.scan(named.strip())
    written = links[0].target if len(links) == 1 and links[0].text == named.strip() else named.strip()
    check_inside(written)
    return written


def check_inside(path: str) -> None:
    """Raise `OutsideVault` for a path that leads anywhere but down from the root of the vault."""
    parts = re.split(r"[/\\]", path)
    if path.startswith(("/", "\\", "~/")) or path == "~" or ".." in parts or re.match(r"[A-Za-z]:[/\\]", path):
        raise OutsideVault(
            f"{path!r} leads out of the vault.", hint="Give a path inside the vault, such as Folder/Note."
        )


def check_name(name: str) -> None:
    """Raise `EditRefused` for a name that a new file or folder should not have, and say what is wrong with it."""
    stem = name[: -len(NOTE_SUFFIX)] if is_note(name) else name
    if not stem.strip() or stem in {".", ".."}:
        problem = "is empty"
    elif found := _CONTROL.search(name):
        problem = f"holds the character {found[0]!a}"
    elif found := _FORBIDDEN.search(name) or _UNLINKABLE.search(name):
        why = "which Obsidian or Windows do not allow" if _FORBIDDEN.match(found[0]) else "which no link can contain"
        problem = f"holds {found[0]}, {why}"
    elif name.startswith("."):
        problem = "begins with a dot, which hides it"
    elif name != name.strip() or stem != stem.strip() or stem.endswith("."):
        problem = "begins or ends with a space or a dot"
    elif _RESERVED.fullmatch(stem.partition(".")[0].strip()):
        problem = "is a name that Windows keeps for itself"
    elif (size := len(name.encode())) > MAX_NAME_BYTES:
        problem = f"takes {size} bytes; most disks allow {MAX_NAME_BYTES}"
    else:
        return
    plain = re.sub(r"\s+", " ", _CONTROL.sub(" ", _UNLINKABLE.sub(" ", _FORBIDDEN.sub(" ", stem))))
    usable = plain.encode()[: MAX_NAME_BYTES - len(NOTE_SUFFIX)].decode(errors="ignore").strip(" .")
    if not usable or _RESERVED.fullmatch(usable.partition(".")[0].strip()):
        raise EditRefused(f"The name {name!r} {problem}.", hint="Choose another name.")
    raise EditRefused(f"The name {name!r} {problem}.", hint=f'Try "{usable}".')


def conflict_copies(path: str, files: Iterable[str]) -> list[str]:
    """Those of the files that are copies of this one, by their names."""
    folder, _, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    end = dot + suffix
    prefix = f"{folder}/{stem}" if folder else stem
    return sorted(
        each
        for each in files
        if each.startswith(prefix) and each.endswith(end) and _MARKS.fullmatch(each, len(prefix), len(each) - len(end))
    )


def fill_template(
    text: str, *, name: str, title: str, now: datetime, conventions: VaultConventions
) -> tuple[str, list[str]]:
    """The text of a template for a note of this title, and what is left in double braces, each once.

    Raises `EditRefused` for one that holds Templater's code.
    """
    if CODE_MARK in text:
        raise EditRefused(
            f"The template {name} contains Templater code ({CODE_MARK} … %>), which zkchat never runs.",
            hint="Create this note in Obsidian, or use a template without such code.",
        )
    formats = {"date": conventions.date_format, "time": conventions.time_format}

    def value(match: re.Match[str]) -> str:
        kind = match["name"].lower()
        return title if kind == "title" else format_moment((match["format"] or formats[kind]).strip(), now)

    filled = _PLACEHOLDER.sub(value, text)
    return filled, [*dict.fromkeys(_UNKNOWN.findall(filled))]


class Targets:
    """Finds files in a library that shows what is staged, and that knows no file that is not to be named."""

    def __init__(self, library: Library, staged: StagedChanges) -> None:
        self._library = library
        self._staged = staged

    def note(self, target: str) -> str:
        """The path of the note that is meant. Raises `NoteNotFound`, and `EditRefused` for what is none."""
        path = self.file(target)
        if not is_note(path):
            raise EditRefused(f"{path} is not a note, and was not changed.", hint="Only Markdown notes can be edited.")
        return path

    def file(self, target: str) -> str:
        """The path of the file that is meant, by its exact path or by a link, title or alias that means one file only.

        Raises `NoteNotFound`, and `EditRefused` with the files that it may mean.
        """
        if target and "[[" not in target:
            with_suffix = [f"{target}{NOTE_SUFFIX}"] if "/" in target and not is_note(target) else []
            for path in (target, *with_suffix):
                if self._library.has_text(path):
                    return path
        link = next(iter(link_catalog.scan(target)), Link(text=target, target=target.strip()))
        found = self._library.resolve(link)
        match found:
            case Resolved(path=path, via=via) if via != "id" or link.target.isalnum():
                return path
            case Ambiguous(path=path, others=others):
                listed = ", ".join(self._library.confirmed((path, *others))[:MAX_CANDIDATES])
                raise EditRefused(f"'{target}' may mean several notes: {listed}.", hint="Give the path of one of them.")
            case Resolved(path=path):
                raise NoteNotFound(f"There is no note '{target}'.", hint=f"Did you mean {path}, which has that id?")
            case Missing(suggestions=suggestions):
                close = ", ".join(f"[[{name}]]" for name in suggestions)
                raise NoteNotFound(f"There is no note '{target}'.", hint=f"Closest: {close}." if close else "")
        raise NoteNotFound(f"There is no note '{target}'.")

    def file_or_folder(self, target: str) -> str:
        """The same, also for folders, which are named by their path."""
        folder = self._library.find_folder(target if "/" in target else f"{target}/") if target else ""
        if not folder:
            return self.file(target)
        try:
            path = self.file(target)
        except VaultError:
            return folder.rstrip("/")
        raise EditRefused(f"'{target}' may mean {path} or the folder {folder}", hint="Give the path of the note.")

    def free(self, path: str, instead_of: str = "") -> str:
        """A path, with folders spelled as those that are there, checked to be a good one and free.

        It may differ in case only from `instead_of`, whose place it takes.
        """
        above, _, name = path.rpartition("/")
        folders = {parent for row in self._library.files() for parent in _parents(row.path)}
        if above:
            spelling = {same_name(each): each for each in folders}
            named, above = above, ""
            for part in named.split("/"):
                path = f"{above}/{part}" if above else part
                above = path if path in folders else spelling.get(same_name(path), path)
            for parent in (above, *_parents(above)):
                if parent not in folders:
                    check_name(parent.rpartition("/")[2])
        if name != instead_of.rpartition("/")[2]:
            check_name(name)
        path = f"{above}/{name}" if above else name
        key = same_name(path)
        alike = (row.path for row in self._library.whole.files() if same_name(row.path) == key)
        taken = path if self._staged.is_taken(path) else next(alike, "")
        if not taken or (instead_of and same_name(instead_of) == key and path != instead_of):
            return path
        below = [row.path for row in self._library.whole.files() if row.path.startswith(f"{taken}/")]
        if self._library.confirmed(below or [taken]):  # else a refusal would tell a model of what it may not see
            raise EditRefused(f"{taken} already exists, and was not changed.", hint="Choose another name, or edit it.")
        self._staged.set_aside(taken, f"{path} cannot be made: {taken} already exists, and is private.")
        return path


def _parents(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path
