"""Paths of new notes: names that every system and every link can hold, never one that is taken."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from zkchat.errors import EditRefused, OutsideVault
from zkchat.model.note import NOTE_SUFFIX, is_note
from zkchat.model.patterns import lazy_pattern
from zkchat.vault.notes import wikilink

MAX_NAME_BYTES: Final = 255
"""Of a file or folder, as nearly every file system has it."""
_FORBIDDEN: Final = lazy_pattern(r'[\\/:*?"<>|]')
"""What Obsidian or Windows allow in no name."""
_UNLINKABLE: Final = lazy_pattern(r"[#^\[\]]")
"""What ends the target of a link."""
_CONTROL: Final = lazy_pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_RESERVED: Final = lazy_pattern(r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)


def path_of_new_note(named: str, folder: str) -> str:
    """The path that a title, a link or a path means for a new note. One without a folder goes into `folder`.

    Raises `EditRefused` and `OutsideVault`.
    """
    links = wikilink.scan(named.strip())
    is_link = len(links) == 1 and links[0].text == named.strip()
    written = links[0].target if is_link else named.strip()
    check_inside(written)
    check_inside(folder)
    if not written:
        raise EditRefused("A new note needs a name.")
    path = written if "/" in written else "/".join(part for part in (*folder.split("/"), written) if part)
    return path if is_note(path) else path + NOTE_SUFFIX


def path_of_renamed(source: str, new: str, *, is_folder: bool) -> str:
    """The path that a new name, or path, means for a file, which keeps its suffix, or a folder, which has none."""
    links = wikilink.scan(new.strip())
    written = links[0].target if len(links) == 1 and links[0].text == new.strip() else new.strip().rstrip("/")
    check_inside(written)
    if not written:
        raise EditRefused("A name is needed.")
    folder, _, name = source.rpartition("/")
    suffix = name[name.rindex(".") :] if "." in name[1:] and not is_folder else ""
    ending = "" if written.lower().endswith(suffix.lower()) else suffix
    path = written if "/" in written or not folder else f"{folder}/{written}"
    return path + ending


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
        why = "which Obsidian or Windows do not allow" if _FORBIDDEN.match(found[0]) else "to which no link can lead"
        problem = f"holds {found[0]}, {why}"
    elif name.startswith("."):
        problem = "begins with a dot, which hides it"
    elif name != name.strip() or stem != stem.strip() or stem.endswith("."):
        problem = "begins or ends with a space or a dot"
    elif _RESERVED.fullmatch(stem.partition(".")[0].strip()):
        problem = "is a name that Windows keeps for itself"
    elif (size := len(name.encode())) > MAX_NAME_BYTES:
        problem = f"takes {size} bytes, and most disks hold {MAX_NAME_BYTES}"
    else:
        return
    usable = usable_name(stem)
    raise EditRefused(f"The name {name!r} {problem}.", hint=f'Try "{usable}".' if usable else "Choose another name.")


def usable_name(title: str) -> str:
    """A title without what no name may hold; empty where nothing is left."""
    plain = re.sub(r"\s+", " ", _CONTROL.sub(" ", _UNLINKABLE.sub(" ", _FORBIDDEN.sub(" ", title))))
    short = plain.encode()[: MAX_NAME_BYTES - len(NOTE_SUFFIX)].decode(errors="ignore")
    name = short.strip(" .")
    return "" if _RESERVED.fullmatch(name.partition(".")[0].strip()) else name


def same_name(path: str) -> str:
    """A key under which names are equal that some disks take for one: it ignores case and normal form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def spelled_as(folder: str, known: Iterable[str]) -> str:
    """A folder as those that are there spell it, as far as they have it but for case and normal form."""
    spelling = {same_name(each): each for each in known}
    parts: list[str] = []
    for part in folder.split("/"):
        path = "/".join([*parts, part])
        parts = spelling.get(same_name(path), path).split("/")
    return "/".join(parts)
