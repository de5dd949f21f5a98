"""What a note is about, in a line of its own words."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.libraries import library_of
from tests.support.world import GARDEN
from zkchat.chat.summaries import MAX_SUMMARIES, MAX_SUMMARY_CHARS, DocumentVersion, Summaries, Summary, summarize
from zkchat.core.errors import StorageError
from zkchat.core.message import DocumentReference
from zkchat.core.values import from_plain
from zkchat.index.library import Library
from zkchat.sessions.memories import SqliteSummaries

SAID = "Adults need seven hours of sleep."
LONG = "This sentence is one of many that say the same thing again. "


@pytest.mark.parametrize(
    "above",
    [
        "---\ntitle: About the night\ntags: [sleep]\n---\n",
        "# A heading of four words\n",
        "A heading of many words\n=======================\n\n",
        "# One\n## Two of them\n",
        "![[a picture of the night.png]]\n\n",
        "![A picture of the night](night.png)\n\n",
        "%% a comment that nobody shall see %%\n\n",
        "%% a comment\n\nof several paragraphs that nobody shall see %%\n",
        "<!-- a comment that nobody shall see -->\n\n",
        "- [[One note]]\n- [[Another note]]\n- [[A third note]]\n\n",
        "[[Up]] | [[Next]] | [[Previous]]\n\n",
        "#one #two #three #four\n\n",
        "```python\nprint('code says nothing here')\n```\n\n",
        "> [!note] A callout of some words\n\n",
        "| a table | of many cells |\n|---|---|\n| and | more |\n\n",
        "$$\na + b = c + d\n$$\n\n",
        "* * *\n\n",
        "Two words\n\n",
    ],
)
def test_the_first_paragraph_that_says_something_is_the_summary(above: str) -> None:
    assert summarize(f"{above}{SAID}\n\nAnother paragraph of words.\n") == Summary(SAID)


@pytest.mark.parametrize(
    ("paragraph", "read"),
    [
        ("It is **very** `short`, _they_ say.", "It is very short, they say."),
        ("See [[Notes/Sleep|the night]] and [[Coffee#Late]] first.", "See the night and Coffee first."),
        ("Do see [the manual](https://example.org) first.", "Do see the manual first."),
        ("A line\nand the next one. ^block-1", "A line and the next one."),
        ("Seen %% by nobody %%by all who look.", "Seen by all who look."),
        ("Three things count:\n- one\n- two", "Three things count:"),
        ("Take this ![[picture.png]] as it is.", "Take this as it is."),
        ("卡片盒笔记法来自德国社会学家卢曼。", "卡片盒笔记法来自德国社会学家卢曼。"),
    ],
)
def test_a_summary_reads_without_marks(paragraph: str, read: str) -> None:
    assert summarize(f"# Title\n\n{paragraph}\n").text == read


def test_of_a_long_paragraph_the_first_sentences_are_taken() -> None:
    assert summarize(LONG * 20) == Summary((LONG * 3).strip(), is_truncated=True)


def test_a_sentence_that_is_too_long_is_cut_between_words() -> None:
    summary = summarize("word " * 100).text
    assert len(summary) <= MAX_SUMMARY_CHARS
    assert summary.endswith("word…")


def test_a_note_of_nothing_but_a_list_is_summed_up_by_its_items() -> None:
    items = "- [[Country loaf]]\n- Rye bread takes two days.\n- Salt is [[Salt|added]] last.\n"
    assert summarize(f"---\na: b c d\n---\n# Bread\n\n{items}").text == "Rye bread takes two days. Salt is added last."


@pytest.mark.parametrize("text", ["", "\n", "# Only a heading here\n", "---\na: b\n---\n", "[[a]] [[b]]", "| a | b |"])
def test_a_note_that_says_nothing_has_no_summary(text: str) -> None:
    assert summarize(text) == Summary("")


@given(st.text(alphabet=st.sampled_from("ab .\n#-*|>%`[]!=$^<\0卡。") | st.characters(), max_size=400))
@settings(max_examples=200, deadline=None)
def test_any_text_has_a_summary_of_one_short_line(text: str) -> None:
    summary = summarize(text).text
    assert len(summary) <= MAX_SUMMARY_CHARS
    assert "\n" not in summary
    assert "\0" not in summary


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "x.png").write_bytes(b"\0")
    with library_of(tmp_path, {"Sleep.md": f"# Sleep\n\n{SAID}\n\n## Naps\n\nTwenty minutes at most.\n"}) as library:
        yield library


def test_references_get_the_summary_of_what_they_lead_to(library: Library) -> None:
    def of(**more: object) -> str:
        reference = from_plain(DocumentReference, {"wikilink": "[[x]]", "relative_path": "Sleep.md", **more})
        return Summaries(library).add_to([reference])[0].summary

    assert of() == SAID
    assert of(anchor="Naps") == "Twenty minutes at most."
    assert of(anchor="Nope", anchor_found=False) == SAID
    assert of(summary="Written by hand.") == "Written by hand."
    assert of(relative_path=None) == ""
    assert of(relative_path="Gone.md") == ""
    assert of(relative_path="x.png") == ""


def test_of_a_long_list_only_the_first_are_read(library: Library) -> None:
    reference = DocumentReference(wikilink="[[Sleep]]", relative_path="Sleep.md")
    summaries = [each.summary for each in Summaries(library).add_to([reference] * (MAX_SUMMARIES + 5))]
    assert summaries == [SAID] * MAX_SUMMARIES + [""] * 5


def test_every_note_of_the_garden_has_a_summary() -> None:
    assert [file.name for file in GARDEN.rglob("*.md") if not summarize(file.read_text()).text] == []


SLEEP = DocumentReference(wikilink="[[Sleep]]", relative_path="Sleep.md")


def summary_in(summaries: Summaries, reference: DocumentReference = SLEEP) -> str:
    return summaries.add_to([reference])[0].summary


def test_a_document_is_read_once_and_again_when_it_has_changed(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "vault" / "Sleep.md"
    summaries = Summaries(library)
    assert summary_in(summaries) == SAID
    file.write_text("Adults need eight hours of sleep.\n")
    assert summary_in(summaries) == SAID  # the index knows of no change, so nobody looks
    library.refresh()
    assert summary_in(summaries) == "Adults need eight hours of sleep."


def test_a_document_that_the_index_does_not_know_is_read_each_time(library: Library, tmp_path: Path) -> None:
    new = DocumentReference(wikilink="[[New]]", relative_path="New.md")
    summaries = Summaries(library)
    for text in ("It says one thing.", "It says another thing."):
        (tmp_path / "vault" / "New.md").write_text(text)
        assert summary_in(summaries, new) == text


class BrokenIndex(Library):
    """Nothing can be looked up, but files can be read."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def fingerprints(self, _paths: Iterable[str]) -> dict[str, bytes]:
        raise StorageError("The index is broken.")

    def read(self, path: str, *, suggests: bool = True) -> str:
        return self._library.read(path, suggests=suggests)


def test_without_an_index_there_are_summaries_all_the_same(library: Library) -> None:
    assert summary_in(Summaries(BrokenIndex(library))) == SAID


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[SqliteSummaries]:
    with closing(SqliteSummaries(tmp_path / "summaries.db")) as kept:
        yield kept


def version_of(library: Library, path: str = "Sleep.md", anchor: str = "") -> DocumentVersion:
    return DocumentVersion(path, anchor, library.fingerprints([path])[path])


def test_a_better_sentence_is_shown_from_then_on_and_in_later_sessions(
    library: Library, kept: SqliteSummaries, tmp_path: Path
) -> None:
    first = Summaries(library, kept)
    first.replace(version_of(library), "On the need for sleep.")
    (tmp_path / "vault" / "Sleep.md").unlink()  # what is known need not be read
    assert summary_in(first) == "On the need for sleep."
    assert summary_in(Summaries(library, kept)) == "On the need for sleep."


def test_a_better_sentence_is_only_for_the_text_it_was_written_for(
    library: Library, kept: SqliteSummaries, tmp_path: Path
) -> None:
    Summaries(library, kept).replace(version_of(library), "On the need for sleep.")
    (tmp_path / "vault" / "Sleep.md").write_text("Nothing but dreams here.")
    library.refresh()
    assert summary_in(Summaries(library, kept)) == "Nothing but dreams here."


def test_only_what_was_cut_could_be_said_better(library: Library, tmp_path: Path) -> None:
    (tmp_path / "vault" / "Long.md").write_text(LONG * 20)
    library.refresh()
    long = DocumentReference(wikilink="[[Long]]", relative_path="Long.md")
    summaries = Summaries(library)
    assert summaries.truncated([long]) == []  # nobody has asked for its summary yet
    summaries.add_to([SLEEP, long, long])
    assert summaries.truncated([SLEEP, long, long]) == [version_of(library, "Long.md")]
    summaries.replace(version_of(library, "Long.md"), "It repeats itself.")
    assert summaries.truncated([long]) == []


def test_nothing_is_kept_of_documents_that_are_gone_or_have_changed(
    library: Library, kept: SqliteSummaries, tmp_path: Path
) -> None:
    for name in ("Gone.md", "Changed.md"):
        (tmp_path / "vault" / name).write_text("As it was at first.")
    library.refresh()
    summaries = Summaries(library, kept)
    for name in ("Sleep.md", "Gone.md", "Changed.md"):
        summaries.replace(version_of(library, name), "A sentence.")
    (tmp_path / "vault" / "Gone.md").unlink()
    (tmp_path / "vault" / "Changed.md").write_text("---\nzkchat: never\n---\n")
    library.refresh()
    summaries.tidy()
    assert [path for path, _ in kept.described()] == ["Sleep.md"]


class BrokenCache:
    """A cache whose disk fails."""

    def find(self, path: str, anchor: str, fingerprint: bytes) -> str:
        raise StorageError("The disk fails.")

    def keep(self, path: str, anchor: str, fingerprint: bytes, sentence: str) -> None:
        raise StorageError("The disk fails.")

    def described(self) -> list[tuple[str, bytes]]:
        raise StorageError("The disk fails.")

    def forget(self, documents: Iterable[tuple[str, bytes]]) -> None:
        raise StorageError("The disk fails.")


def test_a_broken_cache_of_sentences_stands_in_nobodys_way(library: Library) -> None:
    assert summary_in(Summaries(library, BrokenCache())) == SAID
