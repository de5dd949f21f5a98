from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.sessions import NOON
from zkchat.chat.question import Question
from zkchat.core.message import ChatMessage, DocumentReference, TextPart


def test_a_question_is_parsed_into_agent_links_and_prose() -> None:
    question = Question.parse("@writer shorten [[Sleep#Naps|this]], and see [Tea](Tea.md)!")
    assert question.text == "@writer shorten [[Sleep#Naps|this]], and see [Tea](Tea.md)!"
    assert question.agent == "writer"
    assert [(link.target, link.anchor) for link in question.links] == [("Sleep", "Naps"), ("Tea.md", "")]
    assert question.prose == "  shorten  , and see  !"
    (link, other) = parse('@Tea#Green or @"Tea#How long"').links
    assert (link.target, link.anchor, link.text) == ("Tea", "Green", "@Tea#Green")
    assert (other.target, other.anchor, other.text) == ("Tea", "How long", '@"Tea#How long"')


@pytest.mark.parametrize(
    ("question", "text", "marked"),
    [
        ("What did we decide about the roof?", "We decided: glass roofs. What about it?", ["decided", "roofs"]),
        ("What do my notes say about [[Sleep]] and naps?", "Notes say: sleep, and a nap.", ["nap"]),
        ("屋顶是什么做的?", "我们的屋顶是玻璃做的。", ["屋顶", "做的"]),
        ("What is it?", "What is it? It is.", []),
        ("Wann ist Gartenarbeit?", "Im Garten, im Mai.", ["Garten"]),
    ],
)
def test_words_that_matter_are_found_in_a_text(question: str, text: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in Question.parse(question).matches(text)] == marked


@pytest.mark.parametrize(
    ("text", "told", "asked"),
    [
        ("I'm off to Trieste. What is compost?", "I'm off to Trieste.", "What is compost?"),
        ("What is compost? My cat is called Kiwi.", "My cat is called Kiwi.", "What is compost?"),
        ("什么是堆肥？我的猫叫小白。", "我的猫叫小白。", "什么是堆肥？"),
        ("vet is Dr Novak now. when are peas sown?", "vet is Dr Novak now.", "when are peas sown?"),
        ("when are peas sown? the shed is locked btw", "the shed is locked btw", "when are peas sown?"),
        ("What is compost, e.g. for peas?", "", "What is compost, e.g. for peas?"),
        ("I have a Moka. How do I clean it?", "", "I have a Moka. How do I clean it?"),
        ("Which notes are new? Find the oldest.", "", "Which notes are new? Find the oldest."),
        ("I'm off to Trieste.", "", "I'm off to Trieste."),
    ],
)
def test_what_is_told_beside_a_question_is_no_part_of_it(text: str, told: str, asked: str) -> None:
    question = Question.parse(text)
    assert (question.told, question.prose) == (told, asked)


def test_what_begins_as_a_question_tells_nothing_also_without_its_mark() -> None:
    assert not any(Question.parse(text).tells for text in ("can I work from Spain", "darf ich heim", "puis-je partir"))


def parse(text: str) -> Question:
    """In a vault with some documents, and with one agent."""
    documents = {"Tea", "Tea.md", "ideas/naming.md", "a b/c d.md", "St.", "writer", "picture.png"}
    return Question.parse(
        text, is_agent=lambda name: name == "writer", is_document=lambda link: link.target in documents
    )


@pytest.mark.parametrize(
    ("text", "targets", "prose"),
    [
        ("@Tea what is it?", ["Tea"], "  what is it?"),
        ('Compare @"a b/c d.md" and (@Tea.md), please', ["a b/c d.md", "Tea.md"], "Compare   and ( ), please"),
        ("See @Tea, [[Coffee]] and @Tea.", ["Tea", "Coffee", "Tea"], "See  ,   and  ."),
        ("@writer make @Tea short", ["Tea"], "  make   short"),
        ("@writer about @writer", ["writer"], "  about  "),
        ("比较：@Tea.md和@picture.png吧", ["Tea.md", "picture.png"], "比较： 和 吧"),
    ],
)
def test_a_mention_of_a_document_is_a_link(text: str, targets: list[str], prose: str) -> None:
    question = parse(text)
    assert [link.target for link in question.links] == targets
    assert question.prose == prose
    assert all(text[link.start : link.end] == link.text for link in question.links)


@pytest.mark.parametrize(
    "text",
    ["me@Tea.md", "Where did I meet @nobody?", "What does `@Tea` do?", "@@Tea", '@"Tea', "@https://example.org/Tea"],
)
def test_any_other_word_with_an_at_sign_is_text(text: str) -> None:
    question = parse(text)
    assert (question.links, question.prose) == ([], text)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("See @Projcts/Roof.md, and @Nowhere/?", ["Projcts/Roof.md", "Nowhere/"]),
        ("@../x and @/etc/passwd", ["../x", "/etc/passwd"]),
        ("@Tea/Green#Taste", ["Tea/Green"]),
        ("请看@项目/价格.csv里的数字", ["项目/价格.csv"]),
        ("@nobody, me@a/b.md, `@a/b`, @https://example.org/a.md, @v1.2 and @a.b", []),
    ],
)
def test_a_path_that_is_not_there_is_told_apart_and_stays_in_the_prose(text: str, unknown: list[str]) -> None:
    question = parse(text)
    assert [link.target for link in question.unknown_paths] == unknown
    assert all(link.text in question.prose for link in question.unknown_paths)


def test_a_message_with_many_paths_that_are_not_there_is_taken_for_code() -> None:
    assert len(parse(" ".join(f"@a/{number}.js" for number in range(5))).unknown_paths) == 5
    assert parse(" ".join(f"@a/{number}.js" for number in range(6))).unknown_paths == ()
    pasted = "\n".join(f"import {{ part{number} }} from '@/parts/{number}.js';" for number in range(200))
    question = parse(f"What does it import, and @Nowhere/x.js?\n\n{pasted}\n")
    assert [link.target for link in question.unknown_paths] == ["Nowhere/x.js"]


def test_who_is_addressed_is_an_agent_first_then_a_document_then_unknown() -> None:
    assert parse("@writer shorten it").agent == "writer"
    assert parse("@Tea is it good?").agent is None
    assert parse("@wrter shorten it").agent == "wrter"
    assert parse("@wrter shorten it").prose == "@wrter shorten it"
    assert parse("Is @Tea good?").agent is None


def test_a_question_that_was_answered_mentions_what_was_found_then() -> None:
    asked = ChatMessage(
        id="m",
        role="user",
        created_at=NOON,
        parts=(TextPart(text='@Tea or @"a b" or @nobody?'),),
        references=(
            DocumentReference(wikilink="@Tea", relative_path="Tea.md"),
            DocumentReference(wikilink='@"a b"', relative_path="a b.md"),
        ),
    )
    question = Question.of(asked)
    assert (question.agent, question.prose) == (None, "  or   or @nobody?")
    assert Question.of(replace(asked, references=())).agent == "Tea"


@given(st.text(st.sampled_from('@aT eM.md/"`[](),#|\n\\é看。')))
@settings(max_examples=100, deadline=None)
def test_links_stand_where_they_say_and_in_order(text: str) -> None:
    question = Question.parse(text, is_agent=lambda name: name == "a", is_document=lambda link: "e" not in link.target)
    for link in question.links:
        assert text[link.start : link.end] == link.text
    for before, after in pairwise(question.links):
        assert before.end <= after.start
    for unknown in question.unknown_paths:
        assert text[unknown.start : unknown.end] == unknown.text
        assert "/" in unknown.target or "." in unknown.target
        assert all(link.end <= unknown.start or unknown.end <= link.start for link in question.links)
    left = Counter(text)
    left.subtract(question.prose)
    assert all(count >= 0 for sign, count in left.items() if not sign.isspace())


LOG = "\n".join(f"12:{n % 60:02} worker {n} read [[Compost]] and finished" for n in range(200))


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        (f"Which job failed?\n\n{LOG}", "Which job failed?"),
        (f"@writer {LOG}\n\nWhich job failed?", "Which job failed?"),
        (
            f"See [[Jobs]]: which failed?\n\n{LOG}\n\nAnd why does [[Jobs]] not say?",
            "See : which failed? And why does not say?",
        ),
    ],
)
def test_what_is_pasted_in_is_no_part_of_what_is_looked_for(text: str, prose: str) -> None:
    question = Question.parse(text, is_agent=lambda name: name == "writer")
    assert " ".join(question.prose.split()) == prose
    assert question.text == text


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        (
            "Find out what the storm broke, what has been mended since, and what that costs",
            ("Find out what the storm broke", "what has been mended since", "what that costs"),
        ),
        ("who came and when, and what did we eat?", ("who came and when", "what did we eat?")),
        ("Finde heraus, was brach und was das kostet", ("Finde heraus, was brach", "was das kostet")),
        ("Collect all decisions and write them down", ("Collect all decisions and write them down",)),
        ("", ("",)),
    ],
)
def test_a_goal_is_taken_apart_into_its_questions(text: str, clauses: tuple[str, ...]) -> None:
    assert Question.parse(text).clauses == clauses
