"""Which questions are about the vault itself: a set to choose words by, and one that was kept unseen meanwhile."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.answers.catalog_parser import LINK_MARK, CatalogQuery, parse_question, tokens_of
from zkchat.core.note import Calendar
from zkchat.language.words import by_code, phrases
from zkchat.notes import link_catalog as wikilink
from zkchat.notes.dates.calendar import fold
from zkchat.notes.dates.expressions import period_text

ROWS = [
    line.split("\t")
    for line in (Path(__file__).parent / "questions.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
WEDNESDAY = Calendar(datetime(2026, 11, 18, 12, tzinfo=UTC))
OTHER = "-"
KINDS = {"broken_links": "broken", "overview": "about", "hubs": "linked"}


class Names:
    def is_folder(self, name: str) -> bool:
        return name.casefold() in {"projects", "daily", "notes", "reading list"}

    def is_note(self, name: str) -> bool:
        return name.casefold() in {"evergreen notes", "taking back used parts", "réunion du 2026-01-24"}

    def note_like(self, words: str) -> str:
        return {"ferry": "Marrow Sound ferry", "bell": "Bell of Saint Ode"}.get(words, "")

    def is_tag(self, name: str) -> bool:
        return name.casefold() in {"python", "solver"}

    def tag_for(self, plural: str) -> str:
        return {"recipes": "recipe"}.get(plural, "")


def ask(text: str) -> CatalogQuery | None:
    links = wikilink.scan(text)
    marked = text
    for link in reversed(links):
        marked = marked[: link.start] + LINK_MARK + marked[link.end :]
    return parse_question(marked, [link.target for link in links], Names(), WEDNESDAY)


def kind_of(query: CatalogQuery | None) -> str:
    """The name of the set for what is asked."""
    if query is None or query.kind != "notes":
        return KINDS.get(query.kind, query.kind) if query else OTHER
    if query.order:
        return query.order
    if query.tags:
        return "tagged"
    if query.period or query.is_about_changes:
        return "changed"
    return "folder" if query.folder else "list"


def test_the_words_are_written_as_questions_are_read() -> None:
    listed = [each for words in by_code("catalog").values() for text in words.values() for each in phrases(text)]
    assert [phrase for phrase in listed if phrase != " ".join(fold(phrase).split())] == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("notes tagged Book", CatalogQuery(kind="notes", tags=("Book",))),
        ("notes tagged #a or #b", CatalogQuery(kind="notes", tags=("a", "b"), any_tag=True)),
        ("notes tagged #a but not #b", CatalogQuery(kind="notes", tags=("a",), without_tags=("b",))),
        (
            "notes tagged #a or #b but not tagged #c",
            CatalogQuery(kind="notes", tags=("a", "b"), any_tag=True, without_tags=("c",)),
        ),
        ("notes not tagged #a", CatalogQuery(kind="notes", without_tags=("a",))),
        ("orphans in Notes", CatalogQuery(kind="orphans", folder="Notes")),
        ("broken links in Projects", CatalogQuery(kind="broken_links", folder="Projects")),
        ("how many daily notes do I have?", CatalogQuery(kind="notes", folder="daily")),
        ("what are my projects", CatalogQuery(kind="notes", folder="projects")),
        ("what recipes do I have?", CatalogQuery(kind="notes", tags=("recipe",))),
        ("show all my projects", CatalogQuery(kind="notes", folder="projects", wants_all=True)),
        (
            "notes in [[Projects/]] changed",
            CatalogQuery(kind="notes", folder="Projects/", is_about_changes=True, by_change=True),
        ),
        ("Which notes link to Evergreen notes?", CatalogQuery(kind="backlinks", note="Evergreen notes")),
        ("Where is [[Roof]] mentioned?", CatalogQuery(kind="backlinks", note="Roof")),
        ("Which notes mention [[Roof]]?", CatalogQuery(kind="backlinks", note="Roof")),
        ("what points to my note on Evergreen notes?", CatalogQuery(kind="backlinks", note="Evergreen notes")),
        ("what does the ferry note link to?", CatalogQuery(kind="links", note="Marrow Sound ferry")),
        ("when did I write the note about the bell?", CatalogQuery(kind="dates", note="Bell of Saint Ode")),
        (
            "Quelles tâches restent ouvertes dans la note Réunion du 2026-01-24 ?",
            CatalogQuery(kind="tasks", note="Réunion du 2026-01-24"),
        ),
        ("what open to-dos does Tamsin still have?", CatalogQuery(kind="tasks", words="Tamsin")),
        ("Where in the handbook is Gerald mentioned?", CatalogQuery(kind="holding", words="Gerald")),
        ("#python", CatalogQuery(kind="notes", tags=("python",))),
        ("how many notes have the python tag", CatalogQuery(kind="notes", tags=("python",))),
        ("notes that nobody links to", CatalogQuery(kind="unlinked")),
        ("in which notes do we mention Gerald", CatalogQuery(kind="holding", words="Gerald")),
        ("哪些笔记提到卢曼", CatalogQuery(kind="holding", words="卢曼")),
        ("Which folder has the most notes?", CatalogQuery(kind="folders")),
        ("When was [[Roof]] last changed?", CatalogQuery(kind="dates", note="Roof")),
        ("[[Roof]]是什么时候修改的？", CatalogQuery(kind="dates", note="Roof")),
        ("what does [[Roof]] link to", CatalogQuery(kind="links", note="Roof")),
        ("[[屋顶]]链接到哪些笔记？", CatalogQuery(kind="links", note="屋顶")),
        ("[[屋根]]はどのノートにリンクしていますか", CatalogQuery(kind="links", note="屋根")),
        ("the 7 longest notes", CatalogQuery(kind="notes", order="longest", limit=7)),
    ],
)
def test_the_names_and_numbers_of_a_question_are_part_of_the_query(text: str, query: CatalogQuery) -> None:
    assert ask(text) == query


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("notes changed today", "2026-11-18"),
        ("Which notes were written in 2025?", "2025-01-01 to 2025-12-31"),
        ("how many daily notes are there in October?", "2026-10-01 to 2026-10-31"),
        ("what changed since last Friday", "since 2026-11-13"),
        ("notes changed in the last 7 days", "2026-11-11 to 2026-11-18"),
        ("notas modificadas en los últimos 5 días", "2026-11-13 to 2026-11-18"),
        ("今週変更したノート", "2026-11-16 to 2026-11-22"),
        ("O que mudou desde segunda-feira?", "since 2026-11-16"),
    ],
)
def test_times_are_understood(text: str, period: str) -> None:
    query = ask(text)
    assert query
    assert query.period
    assert period_text(query.period) == period


@pytest.mark.parametrize(
    ("text", "by_change"),
    [("what changed this week", True), ("what did I write last week", False), ("先週変更したノート", True)],
)
def test_what_was_written_is_told_from_what_was_changed(text: str, by_change: bool) -> None:
    query = ask(text)
    assert query
    assert query.by_change is by_change


@pytest.mark.parametrize(
    "text",
    [
        *("", "What did I write on 8 March?", "Was habe ich gestern geschrieben?", "昨天写了什么"),
        "which notes changed since 2026-13-45",
        "what links to [[A]] and [[B]]",
        "what is in [[Projects/]]",
        "which notes changed this week " * 8,
        "notes tagged #a and #b or #c",
        "notes tagged #a but not #b or #c",
        "notes tagged #a or in Projects/",
        "notes tagged python or gardening tools",
        "orphans in Attic",
        "list my gadgets",
        "How many projects failed?",
        *("Where do badgers occur?", "When did I add the bell?", "what does the ferry cost?"),
        *("When did the ferry note a delay?", "What does the bell refer to in the poem?"),
    ],
)
def test_what_is_no_single_question_is_none(text: str) -> None:
    assert ask(text) is None


words = st.sampled_from([word for *_, text in ROWS for word in text.split()])


@settings(max_examples=50)
@given(st.lists(words | st.text(max_size=8), max_size=12).map(" ".join))
def test_any_text_is_parsed(text: str) -> None:
    for language in by_code("catalog"):
        tokens = tokens_of(text, language)
        assert all(0 <= token.start < token.end <= len(text) for token in tokens)
        assert [token.start for token in tokens] == sorted(token.start for token in tokens)
    assert len(fold(text)) == len(text)
    ask(text)


@settings(max_examples=50)
@given(st.sampled_from([text for _, kind, language, text in ROWS if kind != OTHER and language == "en"]))
def test_one_more_subject_makes_it_another_question(text: str) -> None:
    assert ask(f"{text.rstrip('?')} concerning my grandmother's allotment garden") is None


@pytest.mark.no_cover
@pytest.mark.parametrize("part", ["dev", "unseen"])
def test_nearly_every_question_about_the_vault_is_known_and_no_other_is_taken_for_one(part: str) -> None:
    """Of every third question, for time."""
    asked = [(kind, text, kind_of(ask(text))) for name, kind, _, text in ROWS[::3] if name == part]
    assert [text for kind, text, taken in asked if taken not in {kind, OTHER}] == []
    missed = [text for kind, text, taken in asked if taken == OTHER != kind]
    assert len(missed) / sum(kind != OTHER for kind, _, _ in asked) <= 0.02, missed
