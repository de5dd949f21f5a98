"""A question that points back is about what was spoken of before."""

from pathlib import Path

import pytest

from tests.support.conversations import answer_of, conversation_over, events_of, of_kind
from tests.support.libraries import library_of
from tests.support.sessions import SessionsInMemory
from zkchat.chat import in_conversation
from zkchat.chat.question import Question
from zkchat.core.events import Event, Remarked
from zkchat.index.library import Library
from zkchat.models.quote import Quote

NOTES = {
    "Jellyfin.md": "# Jellyfin\n\nJellyfin plays our films. It listens on port 8096.\n",
    "Router.md": "# Router\n\nThe port of the router is 443.\n",
    "Bread.md": "# Bread\n\nThe bread bakes for 40 minutes.\n",
    "Courier co-op.md": "# Courier co-op\n\nThey sit on Quay Street.\n\n## Fees\n\nIn January they were late.\n",
}


def asked(library: Library, question: str, *before: str) -> list[Event]:
    """What comes of a question, in a conversation that others were asked in before."""
    talk = conversation_over(library, SessionsInMemory(), Quote())
    for said in before:
        events_of(talk.say(said))
    return events_of(talk.say(question))


@pytest.mark.parametrize("question", ["and its port?", "Which port does it use?", "und welcher Port?"])
def test_the_topic_of_the_question_before_goes_along(library: Library, question: str) -> None:
    events = asked(library, question, "What is Jellyfin?", "Thanks!")
    assert answer_of(events).text.startswith("> Jellyfin plays our films. It listens on port 8096.")
    assert of_kind(events, Remarked)[0].text == "Taken as a question about Jellyfin."


def test_a_daily_note_and_what_is_told_in_between_are_no_topic(tmp_path: Path) -> None:
    daily = {"2025-10-08.md": "# Wednesday, 8 October 2025\n\nThe ferry sheltered a trawler from Leith.\n"}
    with library_of(tmp_path, {**NOTES, **daily}) as library:
        for question, between in (("which films?", []), ("who was late?", ["My boat is a ketch."])):
            events = asked(library, question, "Which trawler sheltered?", *between)
            assert not of_kind(events, Remarked)
            assert question.split()[-1].rstrip("?") in answer_of(events).text


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("The port of our router is 443 now. How long does bread bake?", "The bread bakes"),
        ("I run Jellyfin at home. What port number must be opened?", "Jellyfin plays"),
    ],
)
def test_what_is_told_beside_a_question_is_looked_for_where_it_is_about_that(
    library: Library, question: str, found: str
) -> None:
    assert answer_of(asked(library, question)).text.startswith(f"> {found}")


@pytest.mark.parametrize("question", ["What does Router listen on?", "Is Router there with its port?"])
def test_a_question_that_names_a_note_is_about_that(library: Library, question: str) -> None:
    events = asked(library, question, "What is Jellyfin?")
    assert not of_kind(events, Remarked)
    assert "443" in answer_of(events).text.split("—")[0]


@pytest.mark.parametrize(("question", "is_on"), [("Why does bread bake longer than it should?", False), ("why?", True)])
def test_what_it_stands_for_may_be_in_the_question(tmp_path: Path, question: str, *, is_on: bool) -> None:
    bread = {"Bread.md": "# Bread\n\nIn winter it bakes longer, as the flour is cold.\n"}
    with library_of(tmp_path, {**NOTES, **bread}) as library:
        events = asked(library, question, "Which films does Jellyfin play?")
        assert bool(of_kind(events, Remarked)) is is_on
        assert answer_of(events).text.startswith("> Jellyfin" if is_on else "> In winter it bakes longer")


def test_how_a_word_was_read_is_told_once(library: Library) -> None:
    talk = conversation_over(library, SessionsInMemory(), Quote())
    said = [
        [each.text for each in of_kind(events_of(talk.say(question)), Remarked)]
        for question in ("Which films does jelyfin play?", "and its port?")
    ]
    assert said == [["“jelyfin” was read as “jellyfin”."], ["Taken as a question about Jellyfin."]]


def test_a_chain_of_them_is_followed_and_a_new_topic_drops_it(library: Library) -> None:
    talk = conversation_over(library, SessionsInMemory(), Quote())
    answers = [
        answer_of(events_of(talk.say(said))).text
        for said in ("What is [[Jellyfin]]?", "and its port?", "and its films?", "How long does bread bake?", "why?")
    ]
    assert [answer.partition(" ")[2].split()[0] for answer in answers] == ["Jellyfin"] * 3 + ["The"] * 2
    assert "40 minutes" in answers[-1]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("which port?", ["Taken as a question about Jellyfin."]),
        ("How long does bread bake?", []),
        ("What is the port of the router?", []),
    ],
)
def test_a_short_question_goes_on_with_the_topic_unless_it_has_one(
    library: Library, question: str, said: list[str]
) -> None:
    events = asked(library, question, "What is Jellyfin?")
    assert [each.text for each in of_kind(events, Remarked)] == said
    assert ("8096" if said else "443" if "router" in question else "40 minutes") in answer_of(events).text.split("—")[0]


@pytest.mark.parametrize(
    ("before", "question", "first"),
    [
        # A question that found nothing does not end the topic.
        (["What is Jellyfin?", "who invented the gramophone?"], "and its port?", "> Jellyfin plays"),
        # It goes on with something else.
        (["Which port does Jellyfin use?"], "and the router?", "> The port of the router is 443."),
        # Alone it is not answered, and nothing in it points back; one of its words is in the note.
        (["What is Jellyfin?"], "do the children watch cartoons or films every weekend?", "> Jellyfin plays"),
        # The words of a topic are no question: "co" asks in Polish.
        (["Where is the [[Courier co-op]]?"], "why were they late in January?", "> In January they were late"),
    ],
)
def test_a_question_stays_with_what_was_spoken_of(
    library: Library, before: list[str], question: str, first: str
) -> None:
    assert answer_of(asked(library, question, *before)).text.startswith(first)


def test_a_question_leaves_the_topic_where_another_passage_has_more_of_its_words(tmp_path: Path) -> None:
    returns = {
        "Returns.md": "# Returns\n\nUsed wicks are never taken back.\n",
        "Releases.md": "# Releases\n\nA release goes back, send a note to all.\n",
    }
    with library_of(tmp_path, NOTES | returns) as library:
        events = asked(library, "are used wicks okay to send back again", "How does a release go?")
    assert answer_of(events).text.startswith("> Used wicks are never")


def test_a_topic_that_is_named_again_brings_its_note(library: Library) -> None:
    before = ["What plays films?", "How long does bread bake?"]
    assert in_conversation(library, "and films, what does it need?", before).notes == ("Jellyfin.md",)
    assert in_conversation(library, "and what does it need?", before).notes == ("Bread.md",)


def test_two_questions_at_once_are_both_answered_and_a_passage_that_answers_both_is_quoted_once(
    library: Library,
) -> None:
    talk = conversation_over(library, SessionsInMemory(), Quote())
    answer = answer_of(events_of(talk.say("What is Jellyfin, and which port does Jellyfin use?")))
    assert answer.text.count("8096") == 1
    answer = answer_of(events_of(talk.say("What is the port of the router, and how long does the bread bake?")))
    assert "443" in answer.text
    assert "40 minutes" in answer.text


@pytest.mark.parametrize(
    ("question", "is_new"),
    [("what is my blood type?", True), ("What is the capital of Mongolia?", True), ("who is responsible?", False)],
)
def test_a_word_that_no_note_has_is_a_topic_of_its_own(library: Library, question: str, is_new: bool) -> None:
    events = asked(library, question, "What is Jellyfin?")
    assert answer_of(events).abstained is is_new
    assert any("Taken as a question about Jellyfin." in each.text for each in of_kind(events, Remarked)) is not is_new


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What does she lend us?", True),
        ("why?", True),
        ("And for children?", True),
        ("它的端口是什么？", True),
        ("¿Y su puerto?", True),
        ("それはどこ？", True),
        ("How long does that take?", True),
        ("Können Sie mir sagen, wie lange Brot backt?", False),
        ("How long does it take to bake rye bread?", False),
        ("Wie lange muss der Teig kalt sein?", False),
        ("Thanks!", False),
        ("How long does bread bake?", False),
        ("and [[Bread]]?", False),
    ],
)
def test_words_that_point_back(text: str, expected: bool) -> None:
    assert Question.parse(text).points_back is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "What is the port of Jellyfin, and how long does bread bake?",
            ("What is the port of Jellyfin", "how long does bread bake?"),
        ),
        ("What does it cost, and how much of it do we pay?", ("What does it cost", "how much of it do we pay? cost")),
        ("Who made the bell, and in what year?", ("Who made the bell, and in what year?",)),
        ("my coffee is too sour, what should I change?", ("my coffee is too sour, what should I change?",)),
        ("面包烤多久？端口是多少？", ("面包烤多久", "端口是多少？")),
        ("When will the baker I know what price asks open?", ("When will the baker I know what price asks open?",)),
    ],
)
def test_two_questions_in_one_are_told_apart(text: str, expected: tuple[str, ...]) -> None:
    assert Question.parse(text).halves == expected


def test_the_question_itself_chooses_the_place_in_the_note_it_points_back_to(tmp_path: Path) -> None:
    school = (
        "# School\n\nWe look after the pool of bikes of the school, 24 bikes of children.\n\n## Stolen\n\n"
        "One was found in the canal in May. A fisherman saw it.\n\n## Contract\n\nThe pool of bikes of the school "
        "costs 140 pounds a month, and the children get a lesson on the bikes.\n"
    )
    with library_of(tmp_path, {"School.md": school}) as library:
        before = "How many bikes of children are in the pool of the school?"
        answer = answer_of(asked(library, "and was one of them found again?", before))
    assert answer.text.startswith("> One was found in the canal")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Which port does jelyfin use?", "“jelyfin” was read as “jellyfin”."),
        ("What is the routerport?", "“routerport” was read as “router port”."),
    ],
)
def test_a_word_that_no_note_has_is_read_as_the_one_that_it_is_near(library: Library, question: str, said: str) -> None:
    events = asked(library, question)
    assert of_kind(events, Remarked)[0].text.startswith(said)
    assert "port" in answer_of(events).text


@pytest.mark.parametrize(
    "question", ["Which port does Jellyfish use?", "That was brad!", "How long is it baking?", "Where do the portsit?"]
)
def test_other_words_are_left_as_they_are(library: Library, question: str) -> None:
    events = asked(library, question)
    assert not any("was read as" in each.text for each in of_kind(events, Remarked))
