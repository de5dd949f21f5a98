from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from zkchat.core.note import Passage
from zkchat.index.search.weighted_question import RankedBlock, WeightedQuestion, rank_blocks


def equal(terms: Iterable[str]) -> dict[str, float]:
    return dict.fromkeys(terms, 1.0)


def asked(question: str) -> WeightedQuestion:
    return WeightedQuestion.of(question, equal)


def passage(text: str, *, path: str = "a.md", title: str = "", heading: str = "", score: float = 1.0) -> Passage:
    return Passage(
        path=path,
        title=title,
        heading_path=(heading,) if heading else (),
        text=text,
        first_line=1,
        last_line=9,
        score=score,
        snippet="",
        why="",
    )


def best(question: str, *passages: Passage) -> RankedBlock:
    return rank_blocks(asked(question), passages)[0]


def test_the_block_that_holds_most_of_the_question_is_first() -> None:
    found = rank_blocks(asked("When do bees sleep in winter?"), [passage("Bees dance.\n\nIn winter, bees sleep.")])
    assert [each.block.text for each in found] == ["In winter, bees sleep.", "Bees dance."]
    assert found[0].coverage == 1.0


def test_a_heading_counts_for_the_block_below_it() -> None:
    below, other = passage("They go to bed at dusk.", heading="Bees"), passage("They go to bed at dawn.", path="b.md")
    assert best("When do bees go to bed?", other, below).passage is below


def test_what_the_search_prefers_is_first_among_equals() -> None:
    low, high = passage("Bees sleep.", score=0.5), passage("Bees sleep!", path="b.md", score=0.9)
    assert best("Do bees sleep?", low, high).passage is high


def test_a_number_is_preferred_where_one_is_asked_for() -> None:
    text = passage("Bees sleep in the hive.\n\nBees sleep 5 hours in it.")
    assert best("How many bees sleep?", text).block.text == "Bees sleep 5 hours in it."
    assert best("When do bees sleep?", passage("Bees sleep well.\n\nBees sleep from 21:00.")).block.first_line == 2


def test_a_year_is_no_number_and_a_number_may_be_a_word() -> None:
    assert asked("How many bees sleep?").cue("Bees sleep since 1927, on 2026-03-14.") == 0
    assert asked("How many bees sleep?").cue("Bees sleep, 2,026 in all.") == 1
    assert asked("How far is it?").cue("Twenty-two paces.") == 1
    assert asked("Wie viele Bienen?").cue("Fünf von ihnen.") == 1
    assert asked("Where do bees sleep?").cue("5 in the hive.") == 0


def test_a_number_of_what_is_asked_for_counts_twice() -> None:
    assert asked("How many hours do bees sleep?").cue("Seven to nine hours.") == 2
    assert asked("How many cards were there?").cue("He had 90,000 cards.") == 2
    text = "Bees rest for hours, 5 in a row.\n\nBees sleep for 5 hours."
    assert best("How many hours do bees rest or sleep?", passage(text)).block.text == "Bees sleep for 5 hours."


def test_a_clause_that_only_refers_to_another_note_meets_nothing() -> None:
    refers = passage("The brewing of tea is described in [[Tea]].")
    tells = passage("Tea is brewed for three minutes.", path="b.md", score=0.5)
    assert best("How is tea brewed?", refers, tells).passage is tells


def test_forms_and_parts_of_a_word_count_half() -> None:
    assert best("Wo ist der Komposthaufen?", passage("Der Kompost ist hinten.")).coverage == 0.5
    assert best("Gärtnerin", passage("Mein Gärtner.")).coverage == 0.5
    assert best("cat", passage("The catalogue.")).coverage == 0.0
    assert best("绿茶", passage("茶是绿的。")).coverage == 0.5
    assert best("绿茶", passage("绿茶很好。")).coverage == 1.0


@given(st.text(max_size=60), st.text(max_size=200))
def test_a_share_is_never_more_than_the_whole(question: str, text: str) -> None:
    for each in rank_blocks(asked(question), [passage(text, heading=text[:20])]):
        assert 0 <= each.coverage <= 1.0001
        assert set(each.best_sentences) <= set(range(len(each.block.sentences)))


def test_what_the_rest_of_the_note_says_counts_for_its_blocks() -> None:
    cousin = passage("My cousin is a nurse.\n\nHer birthday is in June.", path="z.md")
    stranger = passage("A birthday is in July.", path="a.md")
    found = rank_blocks(asked("When is the birthday of my cousin?"), [cousin, stranger])
    assert next(each.block.text for each in found if "irthday" in each.block.text) == "Her birthday is in June."


def test_of_a_note_that_was_read_whole_all_blocks_count_and_each_once() -> None:
    section, other = passage("Bees sleep.", score=0.5), passage("Bees dance.", path="b.md", score=0.9)
    note = passage("Bees wake.\n\nBees sleep.", score=0.0)
    found = rank_blocks(asked("Do bees sleep?"), [section, other], {"a.md": note})
    assert {each.block.text: each.passage for each in found} == {
        "Bees wake.": note,
        "Bees sleep.": section,
        "Bees dance.": other,
    }
    assert len(found) == 3


def test_a_list_is_preferred_where_steps_are_asked_for() -> None:
    text = passage("The soup needs salt and water.\n\n- salt for the soup\n- water, as it needs")
    assert best("What ingredients does the soup need?", text).block.kind == "list"
    same = passage("Salt for the soup."), passage("- Salt for the soup.", path="b.md")
    assert best("Is there salt in the soup?", *same).block.kind == "paragraph"
    assert best("How do I salt the soup?", *same).block.kind == "list"
