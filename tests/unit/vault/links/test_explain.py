import pytest

from zkchat.index.library import Library
from zkchat.notes.link_catalog import scan
from zkchat.notes.link_resolver import explain

NOTES = {
    "Naming.md": "# Naming\n\nA block ^first\n",
    "people/Ada.md": "---\naliases: [Countess, Shared]\n---\n",
    "people/Bob.md": "---\naliases: [Shared]\n---\n",
    "202401151230 Zettel.md": "",
    "Titled.md": "# A title of its own\n",
    "b/Note.md": "",
    "a/b/Note.md": "",
    "inbox/Note.md": "",
    "x/Same.md": "",
    "y/Same.md": "",
}


@pytest.mark.parametrize(
    ("link", "source", "expected"),
    [
        ("[[Naming]]", None, "It is the only file of that name."),
        ("[[people/Ada]]", None, "It is the only file whose path ends with what the link says."),
        ("[[202401151230]]", None, "The only note with that id; no file has that name."),
        ("[[A title of its own]]", None, "The only note with that title; no file has that name."),
        ("[[#Naming]]", "Naming.md", "It leads to a place in the same note."),
        ("[[Note]]", None, "3 files have that name; this one wins because its path is the shortest."),
        (
            "[[Note]]",
            "inbox/other.md",
            "3 files have that name; this one wins because it is in the same folder as inbox/other.md.",
        ),
        ("[[b/Note]]", None, "The paths of 2 files end like that; this one wins because its path is exactly that."),
        (
            "[[B/NOTE]]",
            None,
            "The paths of 2 files end like that; this one wins because its path differs only in upper and lower case.",
        ),
        (
            "[[Shared]]",
            None,
            "No file has that name; 2 notes have that alias; this one wins because "
            "its path comes first in the alphabet.",
        ),
        (
            "[[Naming#Nope]]",
            None,
            "It is the only file of that name. It has no such heading, so the link leads to its beginning.",
        ),
        ("[[Nobody]]", None, "Nothing has that name, alias, id or title; or several notes share that id or title."),
        ("[[../Naming]]", "Naming.md", "There is no file at that path."),
        ("[[#Naming]]", None, "It leads to a place in the note that contains it, and that note was not given."),
        ("[[https://example.org]]", None, "It is an address outside the vault."),
    ],
)
def test_the_rule_that_decided_is_named(library: Library, link: str, source: str | None, expected: str) -> None:
    (asked,) = scan(link)
    assert explain(asked, library.resolve(asked, source), source) == expected
