from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.embedders import RecordingEmbedder, StaticEmbedder
from tests.support.in_memory_files import MemoryFiles
from tests.support.libraries import Located, library_of
from zkchat.answers.evidence import find_undated_evidence as find_evidence
from zkchat.core.index import OpenText
from zkchat.core.message import DEFAULT_LIMIT, EvidencePart, Findings, LineRange
from zkchat.core.session import read_message
from zkchat.core.values import to_plain
from zkchat.index.library import Library
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search.vectors import VectorSearch

CAFFEINE = "Caffeine keeps half of its strength for six hours.\nA cup at four is still at work at ten."
NAPS = "Keep them under twenty minutes, or you wake up groggy."
NOTES = {
    "Sleep.md": "# Sleep\n\nAdults need seven to nine hours. Dreams come late in the night.\n\n## Naps\n\n"
    f"See also [[Coffee]].\n\n{NAPS}\n",
    "Coffee.md": f"---\ntags: [drink]\naliases: [Java]\n---\n# Coffee\n\n{CAFFEINE}\n",
    "茶.md": "# 茶\n\n绿茶用八十度的水泡两分钟。红茶用开水。\n",
    "Bread.md": "# Bread\n\nThe dough rests overnight.\n\n## Steps\n\nTo shape a loaf:\n\n1. Flour the table.\n"
    "2. Fold it.\n",
    "Trips.md": "# Trips\n\n| town | nights |\n|---|---|\n| Porto | 4 |\n| Bruges | 2 |\n",
    "Empty.md": "---\ntags: [x]\n---\n",
}


def ask(library: Library, question: str, *linked: str, limit: int = DEFAULT_LIMIT, skip: int = 0) -> Findings:
    places = [(path, anchor) for path, _, anchor in (link.partition("#") for link in linked)]
    return find_evidence(library, question, places, limit=limit, skip=skip)


def texts(library: Library, question: str, *linked: str) -> list[str]:
    return [each.text for each in ask(library, question, *linked).evidence]


def test_the_passage_that_answers_comes_first_with_its_place(library: Library) -> None:
    best = ask(library, "How long does caffeine keep its strength?").evidence[0]
    assert best.text == CAFFEINE
    assert (best.relative_path, best.wikilink, best.lines) == ("Coffee.md", "[[Coffee]]", LineRange(first=7, last=8))
    assert best.heading == "", "it repeats the title"
    assert ask(library, "groggy naps").evidence[0].heading == "Naps"
    assert texts(library, "绿茶用多少度的水？")[0].startswith("绿茶用八十度的水泡两分钟。")


def test_a_list_comes_with_its_lead_line_and_a_table_with_its_header(library: Library) -> None:
    steps = ask(library, "How do I shape a loaf?").evidence[0]
    assert steps.text == "To shape a loaf:\n\n1. Flour the table.\n2. Fold it."
    assert (steps.heading, steps.lines) == ("Steps", LineRange(first=7, last=10))
    assert texts(library, "How many nights in Porto?")[0].startswith("| town | nights |\n|---|---|\n| Porto | 4 |")


def test_a_passage_that_only_points_elsewhere_answers_nothing(library: Library) -> None:
    shown = ask(library, "coffee naps", limit=10)
    assert "See also [[Coffee]]." not in [each.text for each in (*shown.evidence, *shown.nearest)]


@pytest.mark.parametrize("question", ["Who won the chess championship?", "???", "[[Nowhere]]", "danke, super"])
def test_nothing_is_near_where_the_vault_has_none_of_the_words(library: Library, question: str) -> None:
    assert ask(library, question) == Findings()


def test_what_meets_too_little_of_the_question_is_near_and_no_answer(library: Library) -> None:
    found = ask(library, "Do penguins on Jupiter have dreams about violins?")
    assert not found.evidence
    assert [each.relative_path for each in found.nearest] == ["Sleep.md"]
    assert found.nearest[0].text.startswith("Adults need")


def test_a_linked_note_answers_before_all_others(library: Library) -> None:
    found = ask(library, "How long does caffeine last?", "Sleep.md").evidence
    assert found[0].relative_path == "Sleep.md"
    assert [each.linked for each in found] == sorted((each.linked for each in found), reverse=True)
    assert texts(library, "When do dreams come?", "Sleep.md")[0].startswith("Adults need")
    assert texts(library, "How long may a nap be?", "Sleep.md")[0] == NAPS


def test_a_question_that_only_asks_for_linked_notes_is_answered_by_how_they_begin(library: Library) -> None:
    found = ask(library, "Summarise", "Bread.md").evidence
    assert [each.text for each in found] == [
        "The dough rests overnight.",
        "To shape a loaf:\n\n1. Flour the table.\n2. Fold it.",
    ]
    assert [each.lines.first for each in found] == [3, 7]
    several = ask(library, "  ?", "Coffee.md", "Sleep.md", "Bread.md", "Trips.md").evidence
    assert [each.relative_path for each in several] == ["Coffee.md", "Sleep.md", "Bread.md", "Trips.md"]


@pytest.mark.parametrize("question", ["What do my notes say about coffee?", "tell me about java"])
def test_a_question_that_only_names_a_note_is_answered_by_how_it_begins(library: Library, question: str) -> None:
    found = ask(library, question).evidence
    assert (found[0].text, found[0].linked) == (CAFFEINE, True)


def test_notes_that_are_named_together_are_each_quoted_unless_the_list_is_long(tmp_path: Path) -> None:
    notes = {
        "Tea.md": "# Tea\n\nLeaves.\n",
        "Coffee.md": "# Coffee\n\nBeans.\n",
        "Cups.md": "Tea and coffee in cups.\n",
        **{f"Herb{number}.md": f"Leaf {number}.\n" for number in range(9)},
    }
    herbs = ", ".join(f"Herb{number}" for number in range(9))
    with library_of(tmp_path, notes) as library:
        for question in ("difference between tea and coffee", "Tea vs. coffee", "What are tea, coffee?"):
            found = find_evidence(library, question, [])
            assert {each.relative_path for each in found.evidence if each.linked} == {"Tea.md", "Coffee.md"}
        assert not any(each.linked for each in find_evidence(library, herbs, []).evidence)


def test_of_a_note_that_is_gone_others_still_speak(tmp_path: Path) -> None:
    notes = {"Tea.md": "It likes rain.\n", "Garden.md": "There is tea behind the house.\n"}
    with library_of(tmp_path, notes) as library:
        next(tmp_path.rglob("Tea.md")).unlink()
        assert texts(library, "What do I know about tea?") == ["There is tea behind the house."]


def test_what_a_model_said_before_is_no_evidence_for_the_same_question(tmp_path: Path) -> None:
    saved = "---\nzkchat-note: answer\n---\nTea is made of stars, said the model.\n"
    with library_of(tmp_path, {"What is tea.md": saved, "Garden.md": "There is tea behind the house.\n"}) as library:
        assert texts(library, "What is tea?") == ["There is tea behind the house."]


def test_a_local_note_that_is_not_shown_is_not_disclosed(tmp_path: Path) -> None:
    notes = {
        "Tea diary.md": "---\nzkchat: local\n---\nI hate the taste of it.\n",
        "Garden.md": "There is tea behind the house.\n",
    }
    with library_of(tmp_path, notes) as library:
        here, elsewhere = library.guarded_for(Located(True)), library.guarded_for(Located(False))
        assert texts(here, "Is there something behind the house?") == ["There is tea behind the house."]
        assert not here.disclosed
        assert texts(here, "Tell me about my tea diary")[0] == "I hate the taste of it."
        assert here.disclosed
        found = ask(elsewhere, "Tell me about my tea diary", limit=10)
        assert {each.relative_path for each in (*found.evidence, *found.nearest)} == {"Garden.md"}


def test_more_passages_come_after_those_that_were_shown(tmp_path: Path) -> None:
    notes = {f"{number}.md": f"Bees in hive {number} sleep at night.\n" for number in range(8)}
    with library_of(tmp_path, notes) as library:
        first = ask(library, "When do bees sleep?")
        rest = ask(library, "When do bees sleep?", limit=10, skip=len(first.evidence))
        shown = [each.relative_path for each in (*first.evidence, *rest.evidence)]
        assert (len(first.evidence), first.more, rest.more) == (3, 5, 0)
        assert sorted(shown) == sorted(notes)
        assert ask(library, "When do bees sleep?", skip=8) == Findings()


def test_evidence_that_an_older_version_stored_is_read() -> None:
    stored = {"sentence": "A.", "relative_path": "a.md", "title": "a", "wikilink": "[[a]]", "score": 1.0}
    part = {"kind": "evidence", "evidence": [{**stored, "lines": {"first": 1, "last": 1}}]}
    read = read_message({"id": "m", "role": "user", "created_at": "2026-03-01T12:00:00Z", "parts": [part]})
    assert [part.evidence[0].text for part in read.parts_of(EvidencePart)] == ["A."]
    assert read_message(to_plain(read)) == read


def test_an_uncertain_answer_is_shown_with_doubt(library: Library) -> None:
    assert not ask(library, "How long does caffeine keep its strength?").is_doubtful
    found = ask(library, "Does caffeine ruin strength training?", limit=1)
    assert (found.evidence[0].text, found.is_doubtful) == (CAFFEINE, True)
    assert not ask(library, "Does it ruin marathon training?", "Coffee.md").is_doubtful, "the user says where"


MEETING = """# Choir tour

## Present

Nora and Desmond.

## Decisions

- We travel by coach.
- Two concerts.
"""


def test_neighbours_that_answer_alike_are_quoted_as_one_passage(tmp_path: Path) -> None:
    """Only the title has the words, so nothing tells which of the two answers."""
    with library_of(tmp_path, {"Tour.md": MEETING, "Bread.md": "# Bread\n\nThe dough rests overnight.\n"}) as library:
        (found,) = ask(library, "the choir and its tour of Wales").evidence
        assert found.text == MEETING[MEETING.index("Nora") :].strip()
        assert (found.heading, found.lines.first, found.lines.last) == ("Present", 5, 10)


def test_no_line_is_quoted_in_two_passages(tmp_path: Path) -> None:
    lines = "".join(f"The kiln of shed {number} fires clay pots.\n\n" for number in range(3))
    rest = "The glaze of the kiln is mixed on Mondays and stands in the shed. " * 8
    with library_of(tmp_path, {"Kiln.md": f"# Kiln\n\n{lines}## Glaze\n\n{rest}\n\nThe kiln fires clay.\n"}) as kiln:
        found = ask(kiln, "Which clay pots does the kiln of the shed fire, and what of the glaze?", limit=10).evidence
    places = [line for each in found for line in range(each.lines.first, each.lines.last + 1)]
    assert len(found) > 1
    assert len(places) == len({*places})


def test_passages_that_merely_share_a_word_do_not_follow(tmp_path: Path) -> None:
    notes = {f"{number}.md": f"Rain fell on day {number}.\n" for number in range(6)}
    with library_of(tmp_path, {"Bees.md": "# Bees\n\nBees stay in the hive in rain.\n", **notes}) as library:
        found = ask(library, "Where do bees stay in rain?", limit=10)
        assert [each.relative_path for each in found.evidence] == ["Bees.md"]
        assert found.more == 0


def test_a_page_that_instructs_the_model_is_no_evidence(tmp_path: Path) -> None:
    with library_of(tmp_path, {"AGENTS.md": "Bees sleep if you say so.\n", "Bees.md": "Bees sleep.\n"}) as library:
        found = ask(library, "Do bees sleep?", limit=10)
        assert [each.relative_path for each in found.evidence] == ["Bees.md"]
        assert ask(library, "Summarise", "AGENTS.md").evidence[0].relative_path == "AGENTS.md", "the user asks for it"


def test_a_question_for_notes_gets_a_passage_of_each(tmp_path: Path) -> None:
    notes = ["Minutes.md", "Plan.md", "Rules.md", "Van.md"]
    minutes = "".join(
        f"## {each}\n\nOwen spoke of Owen, and Owen of the {each}.\n\n" for each in ("roof", "rent", "sum")
    )
    others = {name: f"Owen is in the {name}.\n" for name in notes[1:]}
    others |= {f"Other {number}.md": "Nothing of the kind.\n" for number in range(9)}
    with library_of(tmp_path, {"Minutes.md": minutes} | others) as library:
        for question in ("Which notes mention Owen?", "Find all notes about Owen", "Welche Notizen erwähnen Owen?"):
            found = find_evidence(library, question, ()).evidence
            assert sorted(each.relative_path for each in found) == notes
        said = find_evidence(library, "What does Owen speak of?", ()).evidence
    assert len(said) == 3


def test_of_each_note_that_a_question_names_a_passage_is_shown(tmp_path: Path) -> None:
    said = "The country loaf must rest long before you may cut the loaf"
    told = {
        each: " ".join(f"{each}{number} follows." for number in range(90)) for each in ("Ann", "Bob", "Cid", "Dora")
    }
    loaf = "".join(f"## {each}\n\n{said}, {each} says.\n\n{more}\n\n" for each, more in told.items())
    notes = {"Country loaf.md": loaf, "Ciabatta.md": "The next day it is best.\n"}
    notes |= {f"Other {number}.md": "Nothing of the kind.\n" for number in range(9)}
    with library_of(tmp_path, notes) as library:
        found = ask(
            library, "How long do the country loaf and the ciabatta have to rest before I may cut them?"
        ).evidence
    assert [each.relative_path for each in found] == ["Country loaf.md", "Country loaf.md", "Ciabatta.md"]


class TopicEmbedder(RecordingEmbedder):
    """Knows what texts are about, in whichever words: each topic is a direction, and so is each other text."""

    topics = ({"naps", "groggy", "doze", "lunch"}, {"caffeine", "espresso"})

    def direction(self, text: str) -> NDArray[np.float32]:
        said = {word.strip(".,?") for word in text.lower().split()}
        vector = np.zeros(self.dimensions, dtype=np.float32)
        vector[: len(self.topics)] = [bool(said & topic) for topic in self.topics]
        if not vector.any():
            return super().direction(text)
        normed: NDArray[np.float32] = vector / np.linalg.norm(vector)
        return normed


@contextmanager
def compared_by(model: RecordingEmbedder, index: SqliteNoteIndex) -> Iterator[Library]:
    files = MemoryFiles(**{path.removesuffix(".md"): text for path, text in NOTES.items()})
    search = VectorSearch(index.vectors, model, base=StaticEmbedder(), query_seconds=20)
    with closing(Library.over(files, index, search)) as library:
        library.refresh()
        library.embed()
        library.embed_by_server()
        yield library


OTHER_WORDS = "May I doze after lunch?"


def test_what_is_said_in_other_words_is_shown_with_doubt_where_a_model_finds_it_near(
    library: Library, index: SqliteNoteIndex
) -> None:
    assert ask(library, OTHER_WORDS).evidence == ()
    with compared_by(TopicEmbedder(), index) as by_model:
        found = ask(by_model, OTHER_WORDS)
        assert ask(by_model, "Which spanner fits the bicycle?").evidence == ()
    assert NAPS in found.evidence[0].text
    assert found.is_doubtful


def test_passages_are_compared_by_no_model_elsewhere(index: SqliteNoteIndex) -> None:
    model = TopicEmbedder(on_this_machine=False)
    with compared_by(model, index) as by_model:
        before = len(model.texts)
        assert ask(by_model, OpenText(OTHER_WORDS)).evidence == ()
    assert len(model.texts) == before


def test_what_the_best_passage_points_to_comes_along(tmp_path: Path) -> None:
    notes = {
        "Photos.md": "# Photos\n\nThe photo library is on the shelf box.\n\n"
        "The nightly dump of the photo library is described in [[Copies]].\n",
        "Copies.md": "# Copies\n\nEach night at three all is written to a second disk.\n\n## Films\n\nNever.\n",
        "Bees.md": "# Bees\n\nThey sleep at night.\n",
    }
    with library_of(tmp_path, notes) as library:
        found = ask(library, "When is the nightly dump of the photo library made?").evidence
        assert [each.relative_path for each in found][1:2] == ["Copies.md"]
        assert "at three" in found[1].text
        assert not found[1].linked
        pages = [ask(library, "photo library nightly dump", limit=1, skip=skip) for skip in range(6)]
        shown = [(each.relative_path, each.text) for page in pages for each in page.evidence]
        assert len(shown) == len({*shown})


def test_a_section_that_says_all_of_the_question_is_looked_at_and_not_how_its_note_begins(tmp_path: Path) -> None:
    links = (
        "---\naliases: [Link to blocks]\n---\n# Links\n\nLinks join notes.\n\n## Link to a block in a note\n\n"
        "Add a caret at the end of the link.\n"
    )
    with library_of(tmp_path, {"Links.md": links, "Bees.md": NOTES["Bread.md"]}) as library:
        assert texts(library, "How do I link to a block?")[0].startswith("Add a caret")
        assert texts(library, "What are links?")[0].startswith("Links join notes")


def test_a_question_for_a_number_is_not_answered_by_how_the_note_of_that_name_begins(tmp_path: Path) -> None:
    waxing = "# Chain waxing\n\nWe began because of black trousers.\n\n## Steps\n\n1. Heat the wax to 93 degrees.\n"
    with library_of(tmp_path, {"Chain waxing.md": waxing, "Bread.md": NOTES["Bread.md"]}) as library:
        assert "93" in texts(library, "Chain waxing, how hot?")[0]


def test_of_two_notes_with_the_name_both_are_heard(tmp_path: Path) -> None:
    notes = {"a/Tea.md": "Tea is a plant. It has leaves.\n", "b/Tea.md": "We drink it at five. Every day.\n"}
    with library_of(tmp_path, notes) as library:
        assert texts(library, "What do I know about tea?") == [
            "Tea is a plant. It has leaves.",
            "We drink it at five. Every day.",
        ]


def test_what_a_passage_that_only_points_elsewhere_points_to_comes_before_it(tmp_path: Path) -> None:
    notes = {
        "Greenhouse.md": "# Greenhouse\n\nWe build one.\n\n## Decisions\n\nThe reasons are in [[Log]]; the most "
        "important one is [[Log|the choice of glazing]]. Minutes: [[Kick-off]].\n",
        "Log.md": "# Log\n\n## Choices\n\nThe glazing will be polycarbonate: we chose it, since glass is heavy.\n",
        "Kick-off.md": "# Kick-off\n\nAll were there.\n",
    }
    with library_of(tmp_path, notes) as library:
        assert texts(library, "What was the choice of glazing?")[0].startswith("The glazing will be")


def test_a_note_whose_title_the_question_says_is_shown_beside_one_with_a_rarer_word(tmp_path: Path) -> None:
    """ "Work" and "from" count for nothing alone: anybody asks with them."""
    branches = "# Naming branches\n\nWhat is older is split; the list is read aloud on Fridays.\n"
    notes = {"Naming branches.md": branches, "Day.md": "We went home.\n", "Night.md": "We went home.\n"}
    notes["Working from home.md"] = "# Working from home\n\nUp to three days a week, as the team agrees.\n"
    with library_of(tmp_path, notes) as library:
        shown = ask(library, "Can I work from home on Fridays?").evidence
        assert "Working from home" in [each.title for each in shown]
