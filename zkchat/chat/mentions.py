"""What a message names by `@`: notes, other files that hold text, folders; and what is wrong with other paths."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from zkchat.errors import VaultError
from zkchat.model.events import Warned
from zkchat.model.note import Ambiguous, External, Link, Missing, Resolved, is_image, is_note, without_suffix
from zkchat.model.patterns import lazy_pattern
from zkchat.model.references import DocumentReference
from zkchat.vault.library import Library
from zkchat.vault.notes import wikilink
from zkchat.vault.notes.wikilink import name_key

MAX_UNKNOWN_PATHS: Final = 5
"""Paths of a message that are not there and are said to be missing; one with more of them is pasted code."""
_FILE_NAME: Final = lazy_pattern(
    r".\.(?:md|txt|csv|tsv|json|jsonl|ya?ml|toml|ini|log|org|rst|tex|bib|html?|xml|css|py|ipynb|js|ts|sh|sql|r|"
    r"canvas|base|pdf|docx?|xlsx?|png|jpe?g|gif|svg|webp|avif|bmp|hei[cf]|tiff?)$",
    re.IGNORECASE,
)


def looks_like_path(name: str) -> bool:
    """Whether a name after `@` can only be meant as a path: it has a slash, or the suffix of a file."""
    return "://" not in name and ("/" in name.rstrip() or _FILE_NAME.search(name) is not None)


def is_mentioned(library: Library, link: Link) -> bool:
    """Whether a name after `@` means a document: one that has this path, or the only one of this name."""
    match library.resolve(link, suggestions=0):
        case Resolved():
            return True
        case Ambiguous(path=path):
            return name_key(without_suffix(path)) == name_key(without_suffix(link.target.removeprefix("/")))
        case Missing():
            return bool(path_mentioned(library, link) or library.withheld(link))
        case External():
            return False


def path_mentioned(library: Library, link: Link) -> str:
    """The folder that a mention leads to, or the file that is too new for the index; empty where there is none."""
    if not (link.text.startswith("@") and looks_like_path(link.target)):
        return ""
    return library.find_folder(link.target) or (link.target if library.has_text(link.target) else "")


def link_mentioned(written: str) -> Link:
    """The link that is written as `@name` or `@"a name"`."""
    return wikilink.link_to(written.removeprefix("@").strip('"'))._replace(text=written)


def problems_of(
    library: Library, unknown_paths: Sequence[Link], references: Iterable[DocumentReference]
) -> Iterator[Warned]:
    """A sentence for each path that is mentioned and not there, and for each file whose text cannot be sent."""
    unknown = [link.target for link in unknown_paths]
    files = [path for each in references if (path := each.relative_path) and not (is_note(path) or is_image(path))]
    for path in dict.fromkeys((*unknown, *files)):
        try:
            library.read(path)
        except VaultError as error:
            yield Warned(text=error.message, hint=error.hint)
