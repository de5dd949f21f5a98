"""What a small model is given, and what is made of what it says."""

import asyncio
import json
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from tests.support.changes import Answering, AppendingVault, yes
from tests.support.conversations import Saying, answer_of, conversation_over, events_of, of_kind, stored
from tests.support.libraries import library_of
from tests.support.sessions import SessionsInMemory
from tests.support.waiting import eventually_async
from zkchat.chat import request_plan
from zkchat.chat.context.assembly import prompt_item, request_from
from zkchat.chat.context.selection import Relevance
from zkchat.chat.conversation import Conversation
from zkchat.chat.message_search import ConversationSearch
from zkchat.chat.question import Question, wants_change
from zkchat.chat.request import rank_of
from zkchat.chat.second_look import is_founded
from zkchat.core.errors import ProviderError
from zkchat.core.events import AnswerReplaced, Compacted, TextDelta, ToolFinished, Warned
from zkchat.core.message import ImagePart, ToolCallPart
from zkchat.index.library import Library
from zkchat.models.static_vectors import installed
from zkchat.sessions.store import SqliteMessageIndex

NOTES = {
    "Mara.md": "# Mara\n\nMara teaches physics. ^work\n\n## Van\n\nShe lends us her van if the tank comes back full.\n",
    "Sleep.md": "# Sleep\n\nAdults need seven to nine hours.\n",
    "Tent.md": "# Tent\n\nThe tent of [[Mara]] is green.\n",
}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
QUOTED = "What the notes say:\n\n[[Mara]]:\n> Mara teaches physics."


def small(*answers: str | ToolCallPart | ProviderError | None, tiny: bool = False) -> Saying:
    return Saying(*answers, needs_evidence=True, is_tiny=tiny, calls_tools=not tiny)


def talk_with(library: Library, model: Saying, **more: object) -> Conversation:
    return conversation_over(library, SessionsInMemory(), model, check_answers=True, **more)  # type: ignore[arg-type]


def after(library: Library, model: Saying, *said: str, **more: object) -> Conversation:
    talk = talk_with(library, model, **more)
    for each in said:
        events_of(talk.say(each))
    return talk


def test_it_reads_plain_quotations_and_the_question_last_and_has_no_tools(library: Library) -> None:
    model = small("She teaches physics.", "She lends us her van.")
    talk = talk_with(library, model)
    answer = answer_of(events_of(talk.say("Who is Mara?")))
    (request,) = model.requests
    system, asked = request.messages
    assert asked.text.startswith(QUOTED)
    assert asked.text.endswith("\n\nQuestion: Who is Mara?")
    assert not any(mark in system.text + asked.text for mark in ("<", "^work", "do not say"))
    assert (request.tools, request.must_call) == ((), False)
    assert answer.request_context
    assert request_from(answer.request_context, talk.history.messages, talk.history.contents) == request
    answer = answer_of(events_of(talk.say("What does she lend us?")))
    earlier = [message.text for message in model.requests[1].messages[1:3]]
    assert earlier == ["Who is Mara?", "She teaches physics."], "the words alone"
    assert answer.text == "She lends us her van.\n\n— [[Mara]] › Van\n"
    assert [each.relative_path for each in answer.references if each.cited] == ["Mara.md"]


def test_a_question_on_something_else_comes_without_what_was_said_before(library: Library) -> None:
    model = small("She teaches physics.", "Seven to nine hours.")
    after(library, model, "Who is Mara?", "My sister comes on Friday.", "How long do adults sleep?")
    sent = "\n".join(message.text for message in model.requests[1].messages)
    assert "sister" not in sent
    assert "Mara" not in sent


def test_passages_in_the_place_of_its_answer_are_not_there_to_be_imitated(library: Library) -> None:
    model = small("She is an astronaut from Ulaanbaatar.", "Her van.")
    talk = after(library, model, "Who is Mara?", "What does she lend us?")
    assert any(message.text.startswith("> Mara teaches") for message in talk.messages)
    assert [message.role for message in model.requests[1].messages] == ["system", "user"]


ASTRONAUT = "Mara is an astronaut from Toronto who won prizes."


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (ASTRONAUT, f"said “{ASTRONAUT}”, which your notes do not support."),
        ("  ", "found no answer in your notes."),
        ("The notes do not say.", "found no answer in your notes."),
    ],
)
def test_the_notes_are_quoted_where_it_says_what_they_do_not(library: Library, said: str, why: str) -> None:
    events = events_of((talk := talk_with(library, small(said))).say("Who is Mara?"))
    (replaced,) = of_kind(events, AnswerReplaced)
    assert answer_of(events).text.startswith("> Mara teaches physics.")
    assert talk.history.messages[replaced.message_id].text == said
    assert [event.text for event in of_kind(events, Warned)] == [f"saying:x {why}"]


def test_where_it_finds_no_answer_the_nearest_passage_is_shown(library: Library) -> None:
    asked = "What colour has the inner lining of the tent of Ole?", "How deep is the tent of Ole?"
    yes_or_no = "Has the tent of Ole a lining?", "the tent of Ole leaks in the morning"
    said = "I see no information.", "The tent is deep.", "Yes, the tent of Ole has a lining.", "The tent of Ole leaks."
    for question, answered in zip((*asked, *yes_or_no), said, strict=True):
        answer = answer_of(events_of(talk_with(library, small(answered)).say(question)))
        assert answer.text.startswith("The model found no answer. Closest in your notes:\n\n> The tent of [[Mara]]")
        assert (answer.text.count("—"), answer.abstained) == (1, True)


@pytest.mark.parametrize(
    ("question", "confirms", "shown"),
    [
        ("What does Mara teach?", "Yes, it", "Mara teaches physics."),
        ("What does Mara teach?", "No.", "The model gave no answer that your notes support. Closest in them"),
        ("What does Mara teach?", ProviderError("Down."), "Mara teaches physics."),
        ("Who is Mara?", "No.", "Mara teaches physics."),
        ("My cat is Miso. What does Mara teach?", "No.", "Mara teaches physics."),
    ],
)
def test_it_is_asked_whether_passages_that_were_found_answer(
    library: Library, question: str, confirms: str | ProviderError, shown: str
) -> None:
    model = small("Mara teaches physics.")
    model.confirms = confirms
    assert answer_of(events_of(talk_with(library, model).say(question))).text.startswith(shown)


@pytest.mark.parametrize(
    ("question", "chosen", "shown"),
    [
        ("what hangs on the tag camp?", ("tagged", "camp"), "1 note tagged #camp:"),
        ("what hangs on the tag camp?", ("of_time", "#camp"), "1 note tagged #camp:"),
        ("Sind im Ordner Trips welche?", ("in_folder", "Trips"), "1 note in Trips/:"),
        (
            "what tags has the tent page, roughly",
            ("tags", "tent page"),
            "- tags (1): #camp\n- colour (2): green, red\n",
        ),
        ("By how many is [[Mara]] linked, roughly?", ("links", "Mara"), "linked from (1): [[Tent]]"),
        ("anything untagged of 2026-03-05?", ("answer", ""), "> Hail."),
        ("anything untagged of 2026-03-05?", ("of_time", ""), "1 note written on 2026-03-05"),
        ("are there unlinked ones, apart from none?", ("unlinked", ""), "3 notes have no link from another note:"),
        ("How long do adults sleep, without a tag?", ("tagged", "Gone"), "Adults need"),
        ("How long do adults sleep, in notes?", ("headings", "Mara"), "Adults need"),
        ("Give me a rough outline of [[Mara]], please.", ("headings", "Mara"), "- headings (2): Mara, Van"),
        ("Which sections has Mara's note of the loch?", ("headings", "Mara"), "- headings (2): Mara, Van"),
    ],
)
def test_it_chooses_what_is_looked_up_of_tags_folders_and_links_and_else_where_nothing_answers(
    tmp_path: Path, question: str, chosen: tuple[str, str], shown: str
) -> None:
    tent = "---\ntags: [camp]\ncolour: [green, red]\n---\n# Tent\n\nThe tent of [[Mara]] is green.\n"
    with library_of(tmp_path, NOTES | {"Tent.md": tent, "Trips/2026-03-05.md": "Hail.\n"}) as library:
        model = small("Adults need seven to nine hours.")
        model.chooses = json.dumps({"name": chosen[0], "arguments": {"name": chosen[1]}})
        assert shown in answer_of(events_of(talk_with(library, model).say(question))).text


def test_what_it_says_of_an_image_is_left(library: Library) -> None:
    talk = talk_with(library, Saying("A red boat.", needs_evidence=True, sees_images=True))
    talk.keep(asked := "Is this Mara?", images=[ImagePart(name="a.png", media_type="image/png", data=PNG)])
    assert answer_of(events_of(talk.say(asked))).text == "A red boat."


@pytest.mark.parametrize(
    "said",
    [
        "What the notes say:\n\n[[Tent]]:\n> Ole has the tent.",
        "The tent of Ole is the tent of Ole. " * 4,
        "Question: Which colour has the tent of Mara?\n\nThe tent of Mara is green.",
    ],
)
def test_of_a_model_that_cannot_read_its_prompt_nothing_is_left_but_the_notes(library: Library, said: str) -> None:
    question = "What colour has the inner lining of the tent of Ole?"
    events = events_of(talk_with(library, small(said)).say(question))
    assert answer_of(events).text.startswith("> ")
    assert "[[Tent]]" in answer_of(events).text
    assert any("gave a garbled answer" in each.text for each in of_kind(events, Warned))


@pytest.mark.parametrize(
    ("question", "said", "begins"),
    [
        ("How many hours does the tent need?", "Ole needs seven to nine hours.", "The model gave no answer that your"),
        ("How many hours does Mara need?", "Mara needs seven to nine hours.", "The model gave no answer that your"),
        ("Where is the tent of Mara from?", "The tent of Mara is from Ulaanbaatar.", "> "),
        ("How many hours do adults like Rafa need?", "Rafa needs seven to nine hours.", "The model gave no answer"),
        ("How old is [[Mara]]?", "The notes do not say.", "The model found no answer. Closest in your notes:\n\n> "),
        ("How many hours do adults need?", "The notes do not say.", "The model found no answer. Closest in"),
    ],
)
def test_an_answer_is_from_a_passage_that_speaks_of_what_is_named(
    library: Library, question: str, said: str, begins: str
) -> None:
    answer = answer_of(events_of(talk_with(library, small(said)).say(question)))
    assert (answer.text.startswith(begins), answer.abstained) == (True, False)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What does she lend us?", "She lends us her van."),  # a word that only joins in Dutch
        ("When, and which subject, does Mara teach?", "Mara teaches physics."),
        ("Does she teach?", "She teaches physics.\n\n— [[Mara is not here]] › Van"),
        ("Why do we fill up the tank?", "She lends us her van if the tank comes back full."),
        ("Whose tent is green, in the van?", "The green tent in the van is Mara's."),
        ("How many hours do adults need, and what does Mara teach?", "Adults need seven to nine hours, Mara physics."),
    ],
)
def test_a_right_answer_is_left(library: Library, question: str, said: str) -> None:
    talk = after(library, small("She teaches physics.", said), "Who is Mara?")
    assert answer_of(events_of(talk.say(question))).text.startswith(said)


def test_a_number_may_be_from_a_title_but_not_from_its_own_answer_before(tmp_path: Path) -> None:
    notes = {"2026-01-21 Outage.md": "A disk threw errors.\n", "Prices.md": "A chain costs 28 pounds.\n"}
    with library_of(tmp_path, notes) as library:
        dated, priced, again = "The disk threw errors on 2026-01-21.", "A chain costs 28 pounds.", "The disk costs 28."
        talk = talk_with(library, small(dated, priced, again))
        for question, said in (("When did the disk throw errors?", dated), ("What does a chain cost?", priced)):
            assert answer_of(events_of(talk.say(question))).text.startswith(said)
        assert not answer_of(events_of(talk.say("How much errors has the disk?"))).text.startswith(again)


def test_what_a_tiny_model_says_is_from_the_passage_that_stands_below_it_or_is_not_left(library: Library) -> None:
    passage = "> Adults need seven to nine hours.\n\n— [[Sleep]]\n"
    for said, text in (
        ("Which hours are those?", passage),
        ("Seven to nine hours.", f"Seven to nine hours.\n\n{passage}"),
    ):
        talk = talk_with(library, small(said, tiny=True))
        assert answer_of(events_of(talk.say("How many hours do adults need?"))).text == text


def test_a_question_about_the_vault_itself_or_which_notes_say_something_is_answered_without_it(
    library: Library,
) -> None:
    model = small()
    say = talk_with(library, model).say
    assert "[[Tent]]" in answer_of(events_of(say("Which notes link to [[Mara]]?"))).text
    assert "headings: Mara, Van" in answer_of(events_of(say("Which sections does [[Mara]] have?"))).text
    assert (
        answer_of(events_of(say("Which notes talk about physics?"))).text == "> Mara teaches physics.\n\n— [[Mara]]\n"
    )
    assert not model.requests


@pytest.mark.parametrize(
    ("said", "is_asked"),
    [("What is the capital of Mongolia?", False), ("Thank you!", True)],
)
def test_it_is_not_asked_for_what_it_would_invent(library: Library, said: str, is_asked: bool) -> None:
    model = small("Well.")
    answer = answer_of(events_of(talk_with(library, model).say(said)))
    assert (bool(model.requests), answer.abstained) == (is_asked, not is_asked)


def test_it_gets_tools_where_it_is_asked_for_a_change_and_has_to_call_one(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_plan, "USUAL_CHANGES", {"append"})
    call = ToolCallPart(call_id="c1", name="append", arguments='{"text": "more"}')
    vault, model = AppendingVault(), small(call, "Seven to nine hours.")
    talk = talk_with(library, model, proposals=vault.proposing(Answering(yes)))
    answer = answer_of([event for event in events_of(talk.say("Append more to [[Sleep]].")) if hasattr(event, "usage")])
    assert answer.text.startswith("Proposed: ")
    assert model.requests[0].messages[0].text.startswith("You change the user's notes.")
    assert [(each.must_call, [tool.name for tool in each.tools]) for each in model.requests] == [(True, ["append"])]
    assert vault.store.files["Sleep.md"] == b"# Sleep\nmore\n"
    events_of(talk.say("How long do adults sleep?"))
    assert (model.requests[1].must_call, model.requests[1].tools) == (False, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Add a task to [[Sleep]]: curtains", True),
        ("Could you rename [[Sleep]] to Rest?", True),
        ("给[[Sleep]]添加一个任务", True),
        ("[[Sleep]]に追加して", True),
        ("What did we add to [[Sleep]]?", False),
        ("Wie setze ich das fort?", False),
    ],
)
def test_a_wish_for_a_change_is_told_from_a_question(text: str, expected: bool) -> None:
    assert wants_change(Question.parse(text).prose) is expected


def test_one_that_repeats_itself_is_stopped_and_the_user_is_told(library: Library) -> None:
    model = small("Adults need seven to nine hours. " * 40)
    events = events_of(talk_with(library, model).say("How long do adults sleep?"))
    assert any("began to repeat itself" in event.text for event in of_kind(events, Warned))


def test_a_call_that_is_written_as_text_is_run_and_never_shown(library: Library) -> None:
    said = 'I look.\n```json\n{"name": "read_document", "arguments": {"relative_path": "Sleep.md"}}\n```\n'
    model = Saying(said, "Seven to nine hours ([[Sleep]]).")
    talk = talk_with(library, model)
    events = events_of(talk.say("How long do adults sleep?"))
    assert [event.name for event in of_kind(events, ToolFinished)] == ["read_document"]
    assert "".join(event.text for event in of_kind(events, TextDelta)) == "I look.\nSeven to nine hours ([[Sleep]])."
    assert "read_document" in talk.messages[1].removed


def test_markup_of_the_prompt_is_not_shown_and_one_who_repeats_it_is_treated_as_small(library: Library) -> None:
    model = Saying(*["<document>Seven to nine hours.</document>"] * 3)
    talk = talk_with(library, model)
    texts = [answer_of(events_of(talk.say("How long do adults sleep?"))).text for _ in range(3)]
    assert texts[:2] == ["Seven to nine hours."] * 2
    assert [bool(request.tools) for request in model.requests] == [True, True, False]
    assert model.requests[2].messages[-1].text.startswith("What the notes say:")
    assert "<document>" in talk.messages[1].removed


def test_what_the_user_told_is_not_looked_for_and_is_repeated_where_it_is_asked_for(library: Library) -> None:
    model = small("Ochre.")
    talk = after(library, model, "I decided to paint the tent of Mara ochre.")
    assert not model.requests
    question = "Which colour did I choose for the tent?"
    answer = answer_of(events_of(talk.say(question)))
    told = "I decided to paint the tent of Mara ochre."
    assert model.requests[0].messages[-1].text == f"- {told}\n\nQuestion: {question}"
    assert "Repeat, word for word, the one line" in model.requests[0].messages[0].text
    assert (answer.text, answer.references) == (f"Ochre.\n\n— you said: “{told}”\n", ())


@pytest.mark.parametrize("first", ["The notes do not say.", "The tent is blue.", "The tent.", "."])
def test_where_what_was_told_does_not_answer_the_notes_are_read_too(library: Library, first: str) -> None:
    model = small(first, "Green.")
    talk = after(library, model, "I decided to clean the tent of Mara.")
    events = events_of(talk.say("Which colour did I choose for the tent?"))
    asked = model.requests[1].messages[-1].text
    assert asked.startswith("What the notes say:\n\n[[Tent]]:\n> The tent of [[Mara]] is green.")
    assert "Earlier I said: I decided to clean the tent of Mara.\n\nQuestion: Which colour" in asked
    assert "".join(each.text for each in of_kind(events, TextDelta)).startswith("Green.")
    assert [each.included for each in answer_of(events).references] == [True]


@pytest.mark.parametrize(
    ("question", "is_first"),
    [
        ("Who owns the tent now?", True),
        ("Is the tent of Mara green?", False),
        ("When do we meet our aunt?", True),
    ],
)
def test_what_may_be_meant_comes_before_the_notes_where_these_are_in_doubt_or_say_nothing(
    library: Library, question: str, *, is_first: bool
) -> None:
    model = small("A man from Ghent.", "Green.")
    after(library, model, "I sold the tent to a man from Ghent.", question)
    assert ("the one line" in model.requests[0].messages[0].text) is is_first
    assert len(model.requests[0].messages) == 2


def test_what_was_told_comes_before_notes_that_say_few_words_of_a_question_of_ones_own(tmp_path: Path) -> None:
    notes = {"Bicycles.md": "# Bicycles\n\nThe firm leases bicycles: half of the rate is ours.\n"}
    with library_of(tmp_path, notes) as library:
        model = small("815 a month")
        talk = after(library, model, "my new flat is 815 a month, heated", "how much is my rent")
    assert talk.messages[-1].text.startswith("815 a month\n\n— you said: “my new flat is 815")
    assert "leases" not in model.requests[0].messages[-1].text


def test_how_something_is_done_is_asked_of_the_notes_though_the_user_says_i(library: Library) -> None:
    model = small("Twice.")
    after(library, model, "My cat is called Miso.", "How do I wash a kettle?", "was merk ich am tee")
    assert not any("Miso" in request.messages[-1].text for request in model.requests)


def test_where_it_fails_or_is_stopped_over_what_was_told_nothing_is_lost(library: Library) -> None:
    store, question = SessionsInMemory(), "Which colour did I choose for the tent?"
    model = small(ProviderError("It is gone."), "Green.", None)
    talk = conversation_over(library, store, model, check_answers=True)
    told = "I decided to paint the tent of Mara ochre."
    events_of(talk.say(told))
    assert answer_of(events_of(talk.say(question))).text.startswith("Green.")
    events_of(talk.say(told))

    async def listen() -> None:
        async with aclosing(talk.say(question)) as events:
            async for _ in events:
                pass

    async def stop() -> None:
        task = asyncio.create_task(listen())
        await eventually_async(lambda: len(model.requests) == 3)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(stop())
    assert stored(store)[-1].error == "Stopped."


def test_where_it_finds_nothing_what_the_user_told_is_said(tmp_path: Path) -> None:
    notes = {"Naming.md": "# Naming\n\nA good name for a note is a sentence.\n", "Tent.md": NOTES["Tent.md"]}
    with library_of(tmp_path, notes) as library:
        talk = after(library, small(*["The notes do not say."] * 2), "Our new neighbour is Mr Zawadzki.")
        answer = answer_of(events_of(talk.say("What's our new neighbour's name?")))
    assert (answer.text, answer.abstained) == ("You said earlier:\n\n> Our new neighbour is Mr Zawadzki.\n", False)


def test_a_yes_that_says_nothing_else_is_no_answer_from_what_was_told(library: Library) -> None:
    talk = after(library, small("Yes, there is a herb I hate.", "Coriander."), "I have gone off coriander.")
    assert "Coriander." in answer_of(events_of(talk.say("Did I hate a herb?"))).text


@pytest.mark.parametrize(
    ("question", "is_quoted"),
    [("When does the sweep clean our chimney?", True), ("When do we sweep our big old kitchen?", False)],
)
def test_what_was_told_is_quoted_where_the_model_makes_up_another_number(
    library: Library, question: str, *, is_quoted: bool
) -> None:
    model, told = small("At 3:30.", "At half past four."), "Our chimney sweep comes at a quarter past seven."
    events = events_of(after(library, model, told).say(question))
    assert len(model.requests) == (1 if is_quoted else 2)
    if is_quoted:
        assert answer_of(events).text == f"You said earlier:\n\n> {told}\n"
        assert [each.text for each in of_kind(events, Warned)] == ["saying:x said “At 3:30.”, which you did not tell."]


@pytest.mark.parametrize(
    ("told", "question", "said"),
    [
        ("My doctor is Dr. Petrosyan.", "Who is my physician?", "Dr. Petrosyan."),
        ("My locker code is 4711.", "What is my locker code?", "4711."),
        ("My cousin Philippa teaches physics in July.", "Who teaches physics in July?", "Philippa teaches physics"),
    ],
)
def test_what_was_told_is_repeated_also_after_the_context_was_cleared(
    library: Library, told: str, question: str, said: str
) -> None:
    model = small(said, said)
    talk = after(library, model, told)
    for _ in range(2):
        assert answer_of(events_of(talk.say(question))).text.startswith(said)
        assert told in model.requests[-1].messages[-1].text
        talk.clear()


def test_what_the_user_told_beside_a_question_is_repeated_without_it(library: Library) -> None:
    model = small("Mara teaches physics.", "Mr Zawadzki.")
    talk = after(library, model, "Our neighbour is called Mr Zawadzki. Who teaches physics?")
    assert "> Mara teaches physics." in model.requests[0].messages[-1].text
    answer = answer_of(events_of(talk.say("What's our neighbour's name?")))
    assert "- Our neighbour is called Mr Zawadzki.\n\n" in model.requests[1].messages[-1].text
    assert answer.text == "Mr Zawadzki.\n\n— you said: “Our neighbour is called Mr Zawadzki.”\n"


@pytest.mark.parametrize(
    ("later", "is_corrected"),
    [
        ("Actually, the dentist called again: it's Friday.", True),
        ("The dentist is on Friday instead.", True),
        ("The dentist has a blue door.", False),
    ],
)
def test_what_was_corrected_is_not_repeated(library: Library, later: str, *, is_corrected: bool) -> None:
    model = small("Noted.", "Friday.", "Friday.")
    after(library, model, "My dentist moved me to Thursday.", later, "When is the dentist?")
    asked = model.requests[-1].messages[-1].text
    assert later in asked
    assert ("My dentist moved me to Thursday." in asked) is not is_corrected


@pytest.mark.parametrize(
    ("told", "later", "question", "comes"),
    [
        ("My new grinder is a Sette 270.", "I park in Linden Street now.", "Which grinder do I have now?", False),
        (
            "Ottokar lent me a ladder that has to go back.",
            "Actually, our vet has to be called.",
            "Whose ladder is it?",
            False,
        ),
        ("My tent has a blue door and no floor.", "My tent is old.", "Which colour has the door of my tent?", False),
        ("My tent has a blue door.", "The door of my tent is torn.", "How is the door of my tent?", True),
        (
            "I meet Leopold off the train.",
            "Actually, my ladder was lent out.",
            "When does Leopold bring my ladder?",
            True,
        ),
    ],
)
def test_a_second_thing_that_was_told_comes_where_it_may_be_meant_as_well(
    library: Library, told: str, later: str, question: str, *, comes: bool
) -> None:
    model = small(*["The notes do not say."] * 4)
    after(library, model, told, later, question)
    asked = next(each.messages[-1].text for each in model.requests if question in each.messages[-1].text)
    assert (told in asked, later in asked) == (True, comes)


def test_below_an_answer_from_what_was_told_stands_what_it_is_from_and_the_latest_that_is_meant(
    library: Library,
) -> None:
    said = "I get 850 for my piano.", "I get only 780 for my piano, they say.", "How much do I get for my piano?"
    talk = after(library, model := small("850.", "A sister."), *said)
    below = "— you said: “I get 850 for my piano.” · you said: “I get only 780 for my piano, they say.”"
    assert talk.messages[-1].text == f"850.\n\n{below}\n"
    events_of(talk.say("And who is Mara?"))
    assert "850." in [each.text for each in model.requests[-1].messages], "and no line that it would imitate"


def test_a_statement_is_taken_as_told(library: Library) -> None:
    for said in (
        "The code for the bike lock is 7719.",
        "Note for later: Zwyck has blue gloves.",
        "I decided to paint the tent of Mara ochre.",
        "got a locker at the climbing hall, it's 218",
        "hab jetzt zimmer 317 im wohnheim, blick auf die garage",
    ):
        answer = answer_of(events_of(talk_with(library, small()).say(said)))
        assert (answer.text, answer.abstained) == ("Noted.", False)
    for searched in ("code of the bike lock", "erzähl mal was das für ein Kahn ist, alles was du hast"):
        assert answer_of(events_of(talk_with(library, small("7719")).say(searched))).abstained


def test_what_is_neither_in_the_notes_nor_told_is_not_said(library: Library) -> None:
    invention = "A zither is tuned with a brass hammer from Vienna."
    model = small(invention, invention, "You parked in Linden Street.")
    talk = after(library, model, "I parked the car with the zither in Linden Street.")
    invented = answer_of(events_of(talk.say("How is a zither tuned?")))
    assert "brass hammer" not in invented.text
    assert "> I parked the car with the zither in Linden Street." in invented.text
    answer = answer_of(events_of(talk.say("Where is the car with the zither?"))).text
    assert answer.startswith("You parked in Linden Street.\n\n— you said: “I parked the car with")


def test_a_correction_counts_though_what_it_corrects_was_kept_from_the_archive(library: Library) -> None:
    model = small("Friday.")
    said = "My dentist is on Thursday.", "Actually, my dentist is on Friday.", "I like tea.", "I like rain."
    talk = after(library, model, *said)
    talk.pin(talk.messages[0].id)
    assert of_kind(events_of(talk.compact(keep=2, strategy="discard")), Compacted)
    events_of(talk.say("When is the dentist?"))
    asked = model.requests[-1].messages[-1].text
    assert ("dentist is on Friday" in asked, "dentist is on Thursday" in asked) == (True, False)


def test_a_correction_comes_along_that_does_not_name_what_it_corrects(library: Library) -> None:
    model = small("Noted.", "A fortnight.", "A fortnight.")
    said = "Ruthild, my sister-in-law, stays five nights.", "I like tea.", "My sister-in-law has a fortnight, not five."
    after(library, model, *said, "How long does Ruthild stay?")
    asked = model.requests[-1].messages[-1].text
    assert asked.index("stays five nights") < asked.index("has a fortnight")
    assert "tea" not in asked


def test_a_correction_comes_along_by_one_word_that_it_has_in_common(library: Library) -> None:
    model = small(*["Brittany."] * 3)
    said = "We go to Brittany for our summer holiday.", "I like tea.", "Our Brittany is booked up, Slovenia instead."
    after(library, model, *said, "Where do we spend our summer holiday?")
    assert "Slovenia instead" in model.requests[0].messages[-1].text


def test_what_is_said_after_a_question_is_told_too_and_repeated_where_the_model_finds_nothing(library: Library) -> None:
    model = small("Physics.", "The notes do not say.")
    talk = after(library, model, "What does Mara teach? He brought his nephew along yesterday, Anselmo.")
    answer = answer_of(events_of(talk.say("What was the name of the nephew?"))).text
    assert answer.startswith("You said earlier:\n\n> He brought his nephew along yesterday, Anselmo.")


def test_archived_questions_of_the_user_are_not_recalled(library: Library, tmp_path: Path) -> None:
    model = small("Physics.", "Noted.", "Noted.", "Blue.", "Blue.")
    with closing(SqliteMessageIndex(tmp_path / "messages.db")) as index:
        said = "Is the tent of Mara old?", "The tent of Mara leaks a lot.", "I like tea."
        talk = after(library, model, *said, search=ConversationSearch(index))
        assert of_kind(events_of(talk.compact(keep=2)), Compacted)
        events_of(talk.say("Which colour has the tent of Mara?"))
    asked = model.requests[-1].messages[-1].text
    assert ("I said: The tent of Mara leaks" in asked, "I said: Is the tent" in asked) == (True, False)


@pytest.mark.parametrize("later", ["I bought nine blue buckets.", "I take the bus home now."])
def test_to_a_question_of_ones_own_in_other_words_all_that_was_told_comes_and_what_is_nearest_is_meant(
    library: Library, later: str
) -> None:
    model = small(*["The notes do not say."] * 2)
    talk = after(library, model, "I park in Linden Street.", later, relevance=Relevance(installed()))
    answer = answer_of(events_of(talk.say("Where do I leave my vehicle?"))).text
    asked = model.requests[0].messages[-1].text
    assert asked.startswith(f"- I park in Linden Street.\n- {later}\n\nQuestion: ")
    assert answer == "You said earlier:\n\n> I park in Linden Street.\n"


def test_my_is_no_word_that_a_question_has_in_common_with_what_was_told(library: Library) -> None:
    model = small("317.")
    after(library, model, "ich wohne jetzt in zimmer 317", "meine tante hat nen hund", "wo ist meine bude?")
    assert "zimmer 317" in model.requests[-1].messages[-1].text


def test_to_a_question_of_ones_own_that_has_few_of_its_words_all_that_was_told_comes(library: Library) -> None:
    model = small("Linden Street.")
    said = "I park in Linden Street.", "I bought new boots.", "Where do I leave my new lovely old vehicle?"
    after(library, model, *said, relevance=Relevance(installed()))
    assert "- I park in Linden Street.\n" in model.requests[0].messages[-1].text


def test_to_a_question_that_names_what_was_told_nothing_else_comes(library: Library) -> None:
    model = small("Linden Street.")
    said = "I park the car in Linden Street.", "I bought nine blue buckets.", "Where do I park the car?"
    after(library, model, *said, relevance=Relevance(installed()))
    assert "buckets" not in model.requests[0].messages[-1].text


@pytest.mark.parametrize(
    ("said", "is_asked"),
    [
        ("I am not sure how long adults sleep", True),
        ("Summarise what we know of sleep", True),
        ("I forgot how long adults sleep", True),
        ("Ich suche meine Notiz über Sleep", True),
        ("our need of seven hours", True),  # each word of which a note says
        ("I forgot my umbrella in the tent", False),
        ("my sleep is bad, how long do adults sleep", True),
        ("Moin, wie lange soll ich as an adult sleep", True),
        ("my sleep is bad. how long do i sleep best as adults", True),
        ("My tent is in the cellar.", False),
    ],
)
def test_a_request_of_ones_own_is_looked_for_in_the_notes_and_what_is_told_is_not(
    library: Library, said: str, *, is_asked: bool
) -> None:
    model = small("Seven.")
    events_of(talk_with(library, model).say(said))
    assert any("What the notes say:" in request.messages[-1].text for request in model.requests) is is_asked


def test_a_large_model_that_can_call_nothing_is_handed_what_the_notes_say(library: Library) -> None:
    model = Saying(*['{"name": "read_document", "arguments": {"relative_path": "Sle'] * 2, "Seven to nine hours.")
    events = events_of(talk_with(library, model).say("How many hours do adults need?"))
    assert answer_of(events).text == "Seven to nine hours."
    assert [bool(request.tools) for request in model.requests] == [True, True, False]
    asked = next(each.text for each in model.requests[2].messages if each.role == "user")
    assert "Adults need seven to nine hours." in asked


def test_most_words_and_all_numbers_of_an_answer_are_from_what_was_given() -> None:
    assert is_founded("Step ① takes 5 minutes.", "How long?", ["Step ① takes five minutes."])
    assert not is_founded("It has two rooms.", "How many?", ["It has three rooms."])
    assert not is_founded("It is due on 15th.", "When is it due?", ["It is due on 14th."])
    given = ["Ole carries a red lantern and a rope."]
    assert is_founded("Ole carries a lantern, a hammer and a chisel.", "What does Ole carry?", given)  # three of five
    assert not is_founded("Ole carries a red lantern, a hammer, a chisel and an anvil.", "What does Ole carry?", given)
    assert not is_founded("it repairs old clocks and breeds horses", "What does it do?", ["It teaches physics."])
    assert not is_founded("The tent of Mara is blue.", "What colour has the tent of Mara?", ["Mara's tent is green."])
    wheel = "Ich habe mein Rad gestern türkis lackiert, es sieht jetzt aus wie ein Schwimmbad."
    assert not is_founded("Your car is now black.", "Welche Farbe hat mein Fahrrad jetzt?", [wheel])
    assert is_founded("It looks like a swimming pool now.", "What does my bike look like?", [wheel])
    birthday = ["Mara: birthday on 14 September."]
    assert not is_founded("Mara is 14 years old.", "How old is Mara?", birthday)
    assert is_founded("Mara's birthday is on 14 September.", "On how many days is Mara's birthday?", birthday)
    assert is_founded("Mara is 14 years old.", "How old is Mara?", [*birthday, "Mara is 14 years old."])


def test_what_was_told_on_the_subject_stays_in_a_full_prompt() -> None:
    assert rank_of(prompt_item("recall", "1", "Said.", include="manual")) == 0
    assert rank_of(prompt_item("recall", "1", "Said.", include="agent")) > 0
