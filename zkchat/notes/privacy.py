"""How far a note may go, by its properties and by folders as people write them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise
from posixpath import join, normpath
from typing import Final, NamedTuple

from zkchat.core import (
    NOTE_SUFFIXES,
    CatalogRow,
    Glob,
    NoteWarning,
    PrivacyClass,
    counted,
    file_title,
    is_note,
    lazy_pattern,
)
from zkchat.notes.frontmatter import MAX_CHARACTERS, comments_in, cut
from zkchat.notes.link_catalog import name_key
from zkchat.notes.markdown import blank, flatten, with_line_feeds

MAX_LISTED: Final = 200
"""Files of a folder that are listed."""
_MAX_NEAREST: Final = 3


def is_folder(path: str) -> bool:
    return path.endswith("/")


class Folders:
    """The folders that hold a file, by the names that people use."""

    def __init__(self, paths: Iterable[str]) -> None:
        found = sorted(folders_of(paths))
        self._by_key = {name_key(folder[:-1]): folder for folder in reversed(found)}
        self._by_name: dict[str, list[str]] = {}
        for key in self._by_key:
            self._by_name.setdefault(key.rpartition("/")[2], []).append(key)

    def find(self, wanted: str) -> str:
        """The folder that a name means, with a slash at its end: by its path, else by the end of its path where only
        one has that end. Empty where there is none."""
        key = name_key(wanted.strip("/"))
        if key in self._by_key:
            return self._by_key[key]
        ending = [each for each in self._by_name.get(key.rpartition("/")[2], ()) if each.endswith(f"/{key}")]
        return self._by_key[ending[0]] if len(ending) == 1 else ""

    def nearest(self, wanted: str) -> list[str]:
        near = self.resembling(wanted)
        for name in get_close_matches(name_key(wanted.strip("/")).rpartition("/")[2], self._by_name):
            near += self._by_name[name]
        return [self._by_key[each] for each in dict.fromkeys(near)][:_MAX_NEAREST]

    def resembling(self, wanted: str, cutoff: float = 0.6) -> list[str]:
        """The keys of folders whose whole path is like this."""
        return get_close_matches(name_key(wanted.strip("/")), self._by_key, cutoff=cutoff)


def folders_of(paths: Iterable[str]) -> set[str]:
    """All folders that hold a file, each with a slash at its end."""
    found: set[str] = set()
    for path in paths:
        end = path.rfind("/")
        while end > 0 and (folder := path[: end + 1]) not in found:
            found.add(folder)
            end = path.rfind("/", 0, end)
    return found


def rows_in(folder: str, rows: Iterable[CatalogRow]) -> list[CatalogRow]:
    """What lies in a folder or below it, notes first, by path."""
    inside = (row for row in rows if row.path.startswith(folder) and not re.search(r"[\n\r]", row.path))
    return sorted(inside, key=lambda row: (not is_note(row.path), row.path))


def describe_folder(folder: str, listed: Sequence[CatalogRow], total: int) -> str:
    """The list of a folder: a line for each file, with the title of a note where its name does not say it."""
    lines = [f"The folder {folder} holds {counted(total, 'file')}:"]
    for row in listed:
        title = " ".join(row.title.split())
        lines.append(f"- {row.path} | {title}" if title and title != file_title(row.path) else f"- {row.path}")
    lines += [f"(and {total - len(listed):,} more)"] if total > len(listed) else []
    return "\n".join([*lines, ""])


def listed_paths(text: str) -> Iterator[str]:
    """The paths that the list of a folder names, and for a path that itself holds a bar what may be one."""
    for line in text.split("\n"):
        if line.startswith("- "):
            place = line[2:]
            yield place
            end = place.rfind(" | ")
            while end >= 0:
                yield place[:end]
                end = place.rfind(" | ", 0, end + 2)


PROPERTY: Final = "zkchat"
STRICTNESS: Final[Mapping[PrivacyClass, int]] = {"open": 0, "local": 1, "never": 2}

_TOP_CHARACTERS: Final = 4_000
"""Of the text below the frontmatter, or of a note without one: a property that lost its fences stands there."""
_MAX_VALUE_WORDS: Final = 3
"""Of a value in that text; what is longer is a sentence about zkchat."""
_MAX_WORDS_BESIDE: Final = 8
"""Of a line that names the property and a class; what is longer is a sentence too."""
_MAX_VALUE_CHARACTERS: Final = 200
_MAX_MARKS: Final = 1_000
"""Of one note; more of them are no description of it."""

_INVISIBLE: Final = r"\u00ad\u200b-\u200f\u2060-\u2064\ufeff"
_ODD_LETTERS: Final = lazy_pattern(rf"[{_INVISIBLE}\uff00-\uffef\U0001d400-\U0001d7ff]")
_LINE_ENDS: Final = lazy_pattern(r"[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_SPACE: Final = rf"[\s{_INVISIBLE}]*"
_DASHES: Final = r"\u2010-\u2015\u2212\u2500"
_OPENING: Final = lazy_pattern(
    rf"{_SPACE}(?P<fence>--|[{_DASHES}]|\+\+|;;|==|~~|``|\.\.\.|\{{|<!--|%YAML)", re.IGNORECASE
)
_CLOSINGS: Final[Mapping[str, tuple[re.Pattern[str], ...]]] = {
    family: tuple(lazy_pattern(rf"^{line}[{_INVISIBLE}\s]*?(?:\n|\Z)", re.MULTILINE) for line in lines)
    for family, lines in {
        "-": (rf"[^\S\n]*(?:---+|[{_DASHES}]+-*)", r"[^\S\n]*\.\.\.+"),
        "+": (r"[^\S\n]*\+\+\++",),
        ";": (r"[^\S\n]*;;;+",),
        "{": (r"[^\n]*\}",),
        "<": (r"[^\n]*-->",),
    }.items()
}
"""By the first sign of the opening, the lines that end a frontmatter; a later one counts where the first is missing."""
_KEY: Final = lazy_pattern(
    rf"(?<!\w){PROPERTY}(?:\.[\w-]{{1,50}}){{0,5}}[^\S\n]{{0,20}}[\"'`*]{{0,4}}[^\S\n]{{0,20}}"
    rf"(?P<sign>[:=]{{1,3}}|(?<={PROPERTY})>)"
)
_TABLE: Final = lazy_pattern(rf"^[^\w\n-]*\[{{1,2}}[^\S\n]*[\"']?{PROPERTY}[\"']?[^\S\n]*[\].,]", re.MULTILINE)
"""Of TOML; of YAML a list as a name."""
_SIGNS: Final = lazy_pattern(rf"[^\w ./-]+|[./-]{{2,}}|\.(?= )|(?<={PROPERTY})/")
_ITEM: Final = lazy_pattern(r"\w{1,3}[.)]")
"""The number of an item of a list."""


class Written(NamedTuple):
    """What a note says of its privacy."""

    privacy: PrivacyClass = "open"
    is_certain: bool = True
    """Whether it stands where it belongs: in a frontmatter that could be read."""


def written_class(text: str) -> Written:
    """The strictest class that the beginning of a note may mean."""
    if PROPERTY not in text.lower() and "\\" not in text and not _ODD_LETTERS.search(text):
        return Written()  # most notes are told by this, which takes a twentieth off the first indexing
    text = with_line_feeds(text)
    opening = _OPENING.match(text)
    region, rest = _fenced(text, opening["fence"], opening.start("fence")) if opening else ("", text)
    lines = [line for line in _LINE_ENDS.sub("\n", rest[:_TOP_CHARACTERS]).split("\n") if line.strip()]
    top = "\n".join(lines[:20])
    if not (_is_mentioned(region) or _is_mentioned(top)):
        return Written()
    found = [*(_of_fenced(text, region) if region else ()), *_marks(_plain(top), most_words=_MAX_VALUE_WORDS)]
    for line in _plain(top).split("\n"):
        found += _side_by_side(line)
    return max(found, key=lambda each: (STRICTNESS[each.privacy], not each.is_certain), default=Written())


def class_of(value: object) -> PrivacyClass:
    match _plain(value).strip() if isinstance(value, str) else value:
        case "open" | "" | None:
            return "open"
        case "local":
            return "local"
        case _:
            return "never"


def _fenced(text: str, fence: str, start: int) -> tuple[str, str]:
    """What is or could have been meant as frontmatter, and the text after it."""
    family = fence[0] if fence.isascii() else "-"
    after = text.find("\n", start) + 1 or len(text)
    begin = text.rfind("\n", 0, start) + 1 if family in "{<" else after
    for closing in _CLOSINGS.get(family, ()):
        if end := closing.search(text, begin):
            return text[start : end.end()], text[end.end() :]
    return text[start : start + MAX_CHARACTERS], ""


def _is_mentioned(part: str) -> bool:
    # An escape in a quoted name may stand for any letter.
    return bool(part) and (PROPERTY in _plain(part) or "\\" in part)


def _of_fenced(text: str, region: str) -> Iterator[Written]:
    flat = flatten(text)
    matter = cut(flat, start=int(text.startswith("\ufeff")))
    if matter.warning or matter.is_template or not matter.span[1]:
        yield from _marks(_plain(region))
        for one, next_one in pairwise([*_plain(region).split("\n"), ""]):
            yield from _side_by_side(f"{one}\n{next_one}")
        if _TABLE.search(_plain(region)):
            yield Written("never", is_certain=False)
        return
    own = [*_values_of(matter.properties)]
    yield from own
    start, end = matter.span
    without_comments = blank(flat[:end], comments_in(flat, matter.span))[start:]
    lines = [*_marks(_plain(without_comments), is_read=True)]
    if len(lines) > len(own):  # the same name twice, or inside of another value
        yield from lines


def _values_of(properties: object, *, is_top: bool = True) -> Iterator[Written]:
    """What the property says, at the top level or below another name, where nobody knows what it is meant for."""
    if isinstance(properties, Mapping):
        for name, value in properties.items():
            if _plain(str(name)).strip(" \t:=").partition(".")[0] != PROPERTY:
                yield from _values_of(value, is_top=False)
                yield from _side_by_side(_plain(f"{name}: {value}"))
            elif is_top:
                yield Written(class_of(value))
            else:
                yield Written("local" if class_of(value) == "local" else "never", is_certain=False)
    elif isinstance(properties, list):
        for item in properties:
            yield from _values_of(item, is_top=False)


def _marks(part: str, *, most_words: int = _MAX_VALUE_CHARACTERS, is_read: bool = False) -> Iterator[Written]:
    """For each place where the property seems to be written: `local` if that is its plain value, else `never`.

    `open` is believed only in a frontmatter that could be read.
    """
    for count, match in enumerate(_KEY.finditer(part)):
        if count == _MAX_MARKS:
            yield Written("never", is_certain=False)
            return
        line_end = part.find("\n", match.end())
        value = part[match.end() : line_end if line_end >= 0 else len(part)][:_MAX_VALUE_CHARACTERS]
        value = value.partition(" #")[0].partition("<")[0]
        # Before it in its line or flow mapping: nothing but signs, numbers of items, YAML's tags and anchors.
        before = part[max(0, match.start() - 100) : match.start()].rpartition("\n")[2]
        last: Sequence[str] = re.split(r"[{,\[]", before)[-1].split()
        begins = all(word[0] in "&!" or _ITEM.fullmatch(word) or not any(map(str.isalnum, word)) for word in last)
        if begins and len(value.split()) <= most_words:
            privacy = class_of(value.strip().lstrip("\"'`*- \t").rstrip("\"'`*_,;}])>%-. \t"))
            yield Written("never" if privacy == "open" and not is_read else privacy, is_certain=False)


def _side_by_side(part: str) -> Iterator[Written]:
    """The classes that stand by themselves in a short text, between signs, where the property does so too."""
    if PROPERTY not in part or len(part.split()) > _MAX_WORDS_BESIDE:
        return
    pieces = [[*filter(None, (word.strip("_-./") for word in piece.split()))] for piece in _SIGNS.split(part)]
    alone = {word for words in pieces if {*words[1:]} <= STRICTNESS.keys() for word in words}
    if any(PROPERTY in word for word in alone):
        yield from (Written(privacy, is_certain=False) for privacy in STRICTNESS if privacy in alone)


def _plain(text: str) -> str:
    """In small letters, without invisible characters, every letter and space in its usual form, lines ended by LF."""
    if not text.isascii():
        if _ODD_LETTERS.search(text):
            text = "".join(each for each in text if unicodedata.category(each) != "Cf")
            text = unicodedata.normalize("NFKC", text)
        text = text.replace("\u00a0", " ")
    return _LINE_ENDS.sub("\n", text).lower()


def privacy_of_text(text: str, path: str, local_only: Sequence[str] = ()) -> PrivacyClass:
    """The class of a note, by what its text says of itself and by the folders of `privacy.local_only`.

    The stricter counts.
    """
    written = written_class(text).privacy
    return "local" if written == "open" and is_inside(path, local_only) else written


def is_inside(path: str, folders: Sequence[str]) -> bool:
    """Whether a path is one of the folders' or below it, in any case and Unicode form: some disks know no difference.
    A folder may be a glob, in which `**` stands for any number of folders.
    """
    globs = _globs(tuple(folders))
    names = components(path) if globs else []
    return any(glob.matches(names) for glob in globs)


@lru_cache(maxsize=8)
def _globs(folders: tuple[str, ...]) -> list[Glob]:
    return [*filter(None, (Glob(components(folder), whole=False) for folder in folders))]


def components(path: str) -> list[str]:
    """The names of a path, without those that mean nothing, each as the most tolerant disk or language compares it."""
    folded = path.casefold() if path.isascii() else _folded(path)
    return [part for part in folded.replace("\\", "/").split("/") if part not in {"", "."}]


def _folded(text: str) -> str:
    """The same for all spellings in which only case, Unicode form or the dot of an i differ."""
    compatible = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return compatible.replace("i\u0307", "i").replace("\u0131", "i")


SETTING: Final = "privacy.local_only"
_TYPO_CUTOFF: Final = 0.8
"""Similarity of names from which on one is taken for a typo of the other: `Dairies` of `Diaries`."""
_DRIVE: Final = lazy_pattern(r"[A-Za-z]:/")


class LocalFolder(NamedTuple):
    written: str
    globs: tuple[str, ...]
    """What it means in the vault; none if it leads out of it."""
    is_user_wide: bool = False
    """Whether it stands in the user's own file, and so may be meant for another vault."""


def local_folders(entries: Iterable[str], roots: Sequence[str], home: str, *, user_wide: int = 0) -> list[LocalFolder]:
    """What each entry means. `roots` are the names of the vault's folder, `home` is what `~` stands for.

    The first `user_wide` entries are those of the user's own file.
    """
    return [LocalFolder(each, tuple(_globs_of(each, roots, home)), n < user_wide) for n, each in enumerate(entries)]


def unmatched(folders: Iterable[LocalFolder], paths: Sequence[str]) -> Iterator[NoteWarning]:
    """A warning for each entry that keeps no note of the vault back, with the folder that comes nearest.

    An entry of the user's own file may be meant for another vault: it is warned of only if it looks like a typo.
    """
    known = Folders(paths)
    for folder in folders:
        written = folder.written.strip().replace("\\", "/")
        is_path = written.startswith(("/", "~", "..")) or bool(_DRIVE.match(written))
        if folder.is_user_wide and (is_path or not known.resembling(written, _TYPO_CUTOFF)):
            continue
        if not any(is_inside(path, folder.globs) for path in paths):
            what = "matches no note" if folder.globs else "leads out of the vault" if written else "is empty"
            nearest = known.nearest(written)
            hint = "Write folders as they are called in the vault."
            hint = f"Did you mean '{nearest[0][:-1]}'?" if nearest else hint
            text = f"'{folder.written}' {what}, so it keeps no note private. {hint}"
            yield NoteWarning(path=SETTING, text=text, kind="setting")


def _globs_of(entry: str, roots: Sequence[str], home: str) -> Iterator[str]:
    text = entry.strip().replace("\\", "/")
    if not text:
        return
    if text == "~" or text.startswith("~/"):
        text = home.replace("\\", "/") + text[1:]
    wanted = _within(text, roots)
    if wanted is None:
        return
    glob = "/".join(wanted) or "**"
    yield glob
    if wanted and not glob.endswith((*NOTE_SUFFIXES, "*")):
        yield from (glob + suffix for suffix in NOTE_SUFFIXES)  # a note by its name, and the note of a folder


def _within(text: str, roots: Sequence[str]) -> list[str] | None:
    """The part of a path below the vault; None where it leads out of it."""
    is_absolute = text.startswith("/") or bool(_DRIVE.match(text))
    plain = normpath(text)
    if not is_absolute and not plain.startswith(".."):
        return components(plain)
    for root in roots:
        place, base = components(normpath(join(root, text))), components(root)
        if place[: len(base)] == base:
            return place[len(base) :]
    # `/Journal` is a folder of the vault for many, as it is in a link; a path outside matches nothing there.
    return components(plain) if text.startswith("/") else None
