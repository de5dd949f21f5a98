"""What holds for every answer and everything that was given."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.chat.quotations import GivenText, find_quotations, links_outside
from zkchat.notes.link_catalog import scan

SETTINGS = settings(max_examples=150, deadline=None)

letters = st.characters(categories=("L", "N"))
words = st.text(letters, min_size=4, max_size=9)
links = st.sampled_from(["[[Rest]]", "[[Work|the work]]", "[[Plan#Now]]", "[plan](Plan.md)"])
sentences = st.builds(
    lambda before, link, after: " ".join([*before, link, *after]) + ".",
    st.lists(words, min_size=4, max_size=6),
    links,
    st.lists(words, max_size=4),
)
notes = st.lists(sentences, min_size=1, max_size=5)
texts = st.text(st.sampled_from("ab .>\n…|-[]()#é茶"), max_size=60)


@SETTINGS
@given(notes, notes, st.data())
def test_every_passage_of_a_note_is_found_in_a_quote(note: list[str], other: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(note) - 1))
    last = data.draw(st.integers(first + 1, len(note)))
    passage = "\n".join(note[first:last])
    answer = "Here:\n\n" + "\n".join(f"> {line}" for line in passage.splitlines()) + "\n>\n> — [[Source of it]]\n"
    found = scan(answer)
    given_to_it = [GivenText("other.md", "\n\n".join(other)), GivenText("note.md", " ".join(note))]
    own = links_outside(found, find_quotations(answer, found, given_to_it))
    assert [link.text for link in own] == ["[[Source of it]]"]


@SETTINGS
@given(texts, st.lists(texts, max_size=4))
def test_quotations_are_in_order_inside_the_answer_and_from_given_notes(answer: str, given_to_it: list[str]) -> None:
    given_texts = [GivenText(f"{number}.md", text) for number, text in enumerate(given_to_it)]
    quotations = find_quotations(answer, scan(answer), given_texts)
    for quoted in quotations:
        assert 0 <= quoted.start < quoted.end <= len(answer)
        assert quoted.path in {each.path for each in given_texts}
    for before, after in pairwise(quotations):
        assert before.start < after.start
        assert before.end < after.end


@SETTINGS
@given(notes, words)
def test_a_link_that_stands_in_no_given_text_is_never_taken_for_a_quotation(note: list[str], name: str) -> None:
    answer = f"{note[0]} [[{name} of mine]] {note[-1]}"
    found = scan(answer)
    own = links_outside(found, find_quotations(answer, found, [GivenText("note.md", "\n".join(note))]))
    assert f"[[{name} of mine]]" in [link.text for link in own]
