import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.model.note import PrivacyClass
from zkchat.vault.privacy import privacy_of, privacy_of_text


@pytest.mark.parametrize(
    ("frontmatter", "path", "local_only", "expected"),
    [
        ({}, "A.md", (), "open"),
        ({"title": "A"}, "A.md", (), "open"),
        ({"zkchat": None}, "A.md", (), "open"),
        ({"zkchat": ""}, "A.md", (), "open"),
        ({"zkchat": "open"}, "A.md", (), "open"),
        ({"zkchat": "local"}, "A.md", (), "local"),
        ({"zkchat": " Local "}, "A.md", (), "local"),
        ({"ZKChat": "local"}, "A.md", (), "local"),
        ({"zkchat": "never"}, "A.md", (), "never"),
        # What cannot be understood is kept back.
        ({"zkchat": "locale"}, "A.md", (), "never"),
        ({"zkchat": "private"}, "A.md", (), "never"),
        ({"zkchat": True}, "A.md", (), "never"),
        ({"zkchat": False}, "A.md", (), "never"),
        ({"zkchat": ["local"]}, "A.md", (), "never"),
        ({"zkchat": {"class": "open"}}, "A.md", (), "never"),
        # Folders.
        ({}, "Journal/2026/A.md", ("Journal",), "local"),
        ({}, "Journal/A.md", ("Journal/",), "local"),
        ({}, "Journal/A.md", ("/Journal",), "local"),
        ({}, "Journal/A.md", ("./Journal/**",), "local"),
        ({}, "journal/A.md", ("Journal",), "local"),
        ({}, "Work/Clients/A.md", ("Work/Clients",), "local"),
        ({}, "Work\\Clients\\A.md", ("Work/Clients",), "local"),
        ({}, "Work/A.md", ("Work/Clients",), "open"),
        ({}, "Journals/A.md", ("Journal",), "open"),
        ({}, "My/Journal/A.md", ("Journal",), "open"),
        ({}, "A.md", ("",), "open"),
        ({}, "A.md", ("A.md",), "local"),
        ({}, "STRASSE/A.md", ("Straße",), "local"),
        # The stricter of the two.
        ({"zkchat": "open"}, "Journal/A.md", ("Journal",), "local"),
        ({"zkchat": "never"}, "Journal/A.md", ("Journal",), "never"),
        ({"zkchat": "local"}, "Open/A.md", ("Journal",), "local"),
    ],
)
def test_the_class_of_a_note(
    frontmatter: dict[str, object], path: str, local_only: tuple[str, ...], expected: PrivacyClass
) -> None:
    assert privacy_of(frontmatter, path, local_only) == expected


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_folder_is_the_same_in_both_unicode_forms(form: str) -> None:
    written = unicodedata.normalize("NFC", "Tagebücher")
    path = unicodedata.normalize(form, "Tagebücher/A.md")  # type: ignore[arg-type]
    assert privacy_of({}, path, (written,)) == "local"


@pytest.mark.parametrize(
    ("unread", "expected"),
    [
        ("title: {{date}}\n", "open"),
        ("title: {{date}}\nzkchat: local\n", "never"),
        ('  "zkchat" : never\n', "never"),
        ("ZKCHAT:local\n", "never"),
        ("about: my zkchat: setup\n", "open"),
    ],
)
def test_a_frontmatter_that_cannot_be_read_but_speaks_of_it_keeps_the_note_back(
    unread: str, expected: PrivacyClass
) -> None:
    assert privacy_of({}, "A.md", unread=unread) == expected


STRICTNESS = {"open": 0, "local": 1, "never": 2}


@given(
    st.one_of(st.none(), st.text(), st.booleans(), st.sampled_from(["open", "local", "never"])),
    st.text(),
    st.lists(st.text(), max_size=3),
    st.text(),
)
@settings(max_examples=200, deadline=None)
def test_one_more_folder_never_makes_a_note_more_open(value: object, path: str, folders: list[str], more: str) -> None:
    before, after = privacy_of({"zkchat": value}, path, folders), privacy_of({"zkchat": value}, path, [*folders, more])
    assert STRICTNESS[after] >= STRICTNESS[before]


@pytest.mark.parametrize(
    ("path", "glob", "expected"),
    [
        ("Journal/2026/A.md", "Journal/*", "local"),
        ("Journal/2026/A.md", "Journal/**/A.md", "local"),
        ("Work/Private/A.md", "**/Private", "local"),
        ("Private/A.md", "**/**/private/**", "local"),
        ("Work/Privates/A.md", "**/Private", "open"),
        ("Work/A.secret.md", "**/*.secret.md", "local"),
        ("Work/A.md", "**/*.secret.md", "open"),
        ("A.md", "*", "local"),
        ("Work/A.md", "**", "local"),
        ("Journal [old]/A.md", "Journal [old]", "local"),
        ("Journal/A.md", "Journal/2026", "open"),
    ],
)
def test_a_folder_may_be_a_glob(path: str, glob: str, expected: PrivacyClass) -> None:
    assert privacy_of({}, path, (glob,)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plain.\n", "open"),
        ("---\nzkchat: local\n---\nKept.\n", "local"),
        ("\ufeff---\r\nzkchat: local\r\n---\r\nKept.\r\n", "local"),
        ("---\nzkchat: [local\n---\nKept.\n", "never"),
        ("---\ntitle: [\n---\nzkchat: local\n", "open"),
    ],
)
def test_the_class_of_a_note_as_it_stands_in_its_file(text: str, expected: PrivacyClass) -> None:
    assert privacy_of_text(text, "A.md") == expected
