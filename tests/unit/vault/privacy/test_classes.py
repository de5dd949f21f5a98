import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.frontmatter_forms import FORMS, Form
from zkchat.core.note import PrivacyClass
from zkchat.notes.privacy import STRICTNESS, class_of, privacy_of_text, written_class

BODY = "\nThe body of the note.\n"


@pytest.mark.parametrize("form", FORMS, ids=[form.what for form in FORMS])
def test_a_note_gets_the_class_that_could_have_been_meant(form: Form) -> None:
    assert written_class(form.text + BODY).privacy == form.privacy


@pytest.mark.parametrize(
    ("meant", "told"),
    [
        ("zkchat: keep it secret", "zkchat: keep it very secret"),
        ("zkchat, local, a b c d e f", "zkchat, local, a b c d e f g"),
        ("a\n" * 19 + "zkchat: local", "a\n" * 20 + "zkchat: local"),
        (f"{'x' * 3_986}\nzkchat: local", f"{'x' * 3_998}\nzkchat: local"),
    ],
)
def test_what_is_long_or_stands_far_below_is_a_text_about_privacy_and_no_class(meant: str, told: str) -> None:
    assert [privacy_of_text(each, "A.md") == "open" for each in (meant, told)] == [False, True]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "open"), ("", "open"), ("open", "open"), (" Local ", "local"), ("never", "never"), ("locale", "never"),
        (True, "never"), (False, "never"), (["local"], "never"), ({"class": "open"}, "never"),
    ],
)  # fmt: skip
def test_the_class_that_a_value_names(value: object, expected: PrivacyClass) -> None:
    assert class_of(value) == expected


@pytest.mark.parametrize(
    ("zkchat", "path", "local_only", "expected"),
    [
        # Folders.
        ("", "Journal/2026/A.md", ("Journal",), "local"),
        ("", "Journal/A.md", ("/Journal",), "local"),
        ("", "Journal/A.md", ("./Journal/**",), "local"),
        ("", "journal/A.md", ("Journal",), "local"),
        ("", "Work\\Clients\\A.md", ("Work/Clients",), "local"),
        ("", "Work/A.md", ("Work/Clients",), "open"),
        ("", "Journals/A.md", ("Journal",), "open"),
        ("", "My/Journal/A.md", ("Journal",), "open"),
        ("", "A.md", ("",), "open"),
        ("", "A.md", ("A.md",), "local"),
        ("", "STRASSE/A.md", ("Straße",), "local"),
        ("", "İSTANBUL/A.md", ("ıstanbul",), "local"),
        ("", "ﬁles Ⅳ/A.md", ("Files IV",), "local"),
        ("", "Zaba/A.md", ("Żaba",), "open"),
        ("", unicodedata.normalize("NFD", "Tagebücher/A.md"), ("Tagebücher",), "local"),
        # Globs.
        ("", "Journal/2026/A.md", ("Journal/*",), "local"),
        ("", "Work/Private/A.md", ("**/Private",), "local"),
        ("", "Private/A.md", ("**/**/private/**",), "local"),
        ("", "Work/Privates/A.md", ("**/Private",), "open"),
        ("", "Work/A.secret.md", ("**/*.secret.md",), "local"),
        ("", "A.md", ("*",), "local"),
        ("", "Work/A.md", ("**",), "local"),
        ("", "Journal [old]/A.md", ("Journal [old]",), "local"),
        ("", "Journal/A.md", ("Journal/2026",), "open"),
        # The stricter of the two.
        ("open", "Journal/A.md", ("Journal",), "local"),
        ("never", "Journal/A.md", ("Journal",), "never"),
        ("local", "Open/A.md", ("Journal",), "local"),
    ],
)
def test_the_class_of_a_note(zkchat: str, path: str, local_only: tuple[str, ...], expected: PrivacyClass) -> None:
    assert privacy_of_text(f"---\nzkchat: {zkchat}\n---\n", path, local_only) == expected


@given(
    st.one_of(st.text(), st.sampled_from(["open", "local", "never"])),
    st.text(),
    st.lists(st.text(), max_size=3),
    st.text(),
)
@settings(max_examples=200, deadline=None)
def test_one_more_folder_never_makes_a_note_more_open(value: str, path: str, folders: list[str], more: str) -> None:
    text = f"---\nzkchat: {value}\n---\n"
    before, after = privacy_of_text(text, path, folders), privacy_of_text(text, path, [*folders, more])
    assert STRICTNESS[after] >= STRICTNESS[before]


_NOISE = st.text(alphabet=" \t\n\r-+.;:{}[]\"'#&*!|>zkchatlocneverp\u00a0\u200b\ufeff", max_size=60)


@given(st.sampled_from([form for form in FORMS if form.privacy != "open"]), _NOISE)
@settings(max_examples=100, deadline=None)
def test_nothing_below_it_makes_a_private_note_open(form: Form, noise: str) -> None:
    assert STRICTNESS[written_class(f"{form.text}\n{noise}").privacy] >= STRICTNESS["local"]


@given(_NOISE, _NOISE)
@settings(max_examples=100, deadline=None)
def test_no_text_makes_the_reading_fail(before: str, after: str) -> None:
    assert written_class(f"{before}zkchat: local{after}").privacy in STRICTNESS


@pytest.mark.parametrize(
    "text",
    [
        "---\n" + "zkchat " * 10_000,
        "---\n" + "{" * 80_000,
        "{" + " " * 80_000,
        "---\n" + " " * 80_000 + "x\n---\n",
        " " * 80_000 + "x",
        "---\n" + "-" * 80_000 + "x",
        "---\n" + "zkchat: local\n" * 3_000 + "---\n",
        "zkchat" + "." * 80_000,
        "---\nzkchat" + " " * 80_000 + ": local\n---\n",
        "---\n" + "}\n" * 40_000,
        "<!--" + "-" * 80_000,
    ],
    ids=range(11),
)
def test_long_odd_beginnings_are_read_in_time_that_grows_with_their_length(text: str) -> None:
    assert written_class(text).privacy in STRICTNESS
