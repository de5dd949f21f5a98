"""A note that is to stay on this machine, and every way by which it could reach a model that is not on it.

A server on loopback records what it gets, on Ollama's interface and by OpenAI's protocol. It is asked for a model that
it runs, and for one that it only forwards: by its name a cloud model, or an alias of one. Each attempt is made with
both. Of what only the note says, the second must get nothing and the first something, or else the attempt proves
nothing.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.providers.loopback import serving
from tests.support.egress import (
    ELSEWHERE,
    FILE,
    ID,
    OPEN,
    OVER_OLLAMA,
    OVER_OPENAI,
    QUOTING,
    SECRET,
    Recorder,
    Scene,
    leaked,
    make_scene,
)
from zkchat.app import conversation, stores
from zkchat.app.conversation_core import ConversationOptions
from zkchat.chat.context.assembly import request_from
from zkchat.chat.conversation import Conversation
from zkchat.chat.privacy import WITHHELD
from zkchat.core.errors import ExitCode, StorageFull
from zkchat.core.events import Event
from zkchat.core.message import RequestItem, ToolCallPart
from zkchat.core.session import DraftEntry
from zkchat.core.session_history import History
from zkchat.index.indexing.background import IndexMaintenance
from zkchat.index.indexing.indexer import Refreshed
from zkchat.index.note_index import SqliteNoteIndex

UNMARKED = SECRET.replace("zkchat: local\n", "")
"""The note before it is to stay here."""

server = serving(Recorder)


@pytest.fixture(autouse=True)
def _fresh(server: Recorder) -> None:
    server.requests.clear()
    server.call, server.says = None, "Fine."


def call_of(tool: str, arguments: Mapping[str, object]) -> ToolCallPart:
    return ToolCallPart(call_id="c1", name=tool, arguments=json.dumps(arguments))


@dataclass
class Visitor:
    """One who begins anew for each attempt, in one conversation after the other."""

    conversation: Conversation
    server: Recorder

    def ask(self, text: str) -> str:
        if self.conversation.messages:
            self.conversation.branch(None)
        asyncio.run(heard(self.conversation.say(text)))
        return self.server.received()


async def heard(events: AsyncGenerator[Event, None]) -> list[Event]:
    return [event async for event in events]


@pytest.fixture(scope="module", params=[OVER_OLLAMA, OVER_OPENAI], ids=["ollama", "openai"])
def visitors(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, server: Recorder
) -> Iterator[tuple[Visitor, Visitor]]:
    """A model that is elsewhere, and one that is here."""
    world = make_scene(tmp_path_factory.mktemp("egress"), server).world

    def options(model: str) -> ConversationOptions:
        return ConversationOptions(vault=world.vault, model=model)

    with (
        conversation.open_conversation(world.environment(), options(request.param.elsewhere)) as elsewhere,
        conversation.open_conversation(world.environment(), options(request.param.here)) as here,
    ):
        yield Visitor(elsewhere.conversation, server), Visitor(here.conversation, server)


@pytest.fixture
def scene(tmp_path: Path, server: Recorder) -> Scene:
    """Over one of the two: what is sent is decided before it is written down as either protocol wants it."""
    return make_scene(tmp_path, server)


LINKS = {
    "by id": f"Tell me of [[{ID}]].",
    "by id, displayed": f"Tell me of [[{ID}|it]].",
    "by alias": "Tell me of [[Numbatalias]].",
    "by alias in small letters": "Tell me of [[numbatalias]].",
    "by title": "Tell me of [[Wombattitle]].",
    "by file name": f"Tell me of [[{ID} Quokkafile]].",
    "by path": f"Tell me of [[{FILE}]].",
    "by rooted path": f"Tell me of [[/{FILE}]].",
    "as a Markdown link": f"Tell me of [it](<{FILE}>).",
    "by heading": f"Tell me of [[{ID}#Dunnartheading]].",
    "by block": f"Tell me of [[{ID}#^bettongblock]].",
    "by a heading that is not there": f"Tell me of [[{ID}#Nothing]].",
    "as an embed": f"Tell me of ![[{ID}]].",
    "twice": f"Tell me of [[{ID}]] and [[Numbatalias]].",
    "beside an open note": f"Compare [[Lighthouse]] with [[{ID}]].",
    "embedded in an open note": "Tell me of [[Open garden]].",
    "spoken to an agent": f"@research what does [[{ID}]] say?",
}


@pytest.mark.parametrize("text", LINKS.values(), ids=LINKS.keys())
def test_a_link_brings_a_local_note_to_a_model_on_this_machine_only(
    visitors: tuple[Visitor, Visitor], text: str
) -> None:
    elsewhere, here = visitors
    assert leaked(elsewhere.ask(text), text) == set()
    assert leaked(here.ask(text), text)


NAMES = {
    "id": ID,
    "title": "Wombattitle",
    "alias": "Numbatalias",
    "file": f"{ID} Quokkafile",
    "path": FILE,
    "link": "[[Wombattitle]]",
    "heading": "[[Numbatalias#Dunnartheading]]",
    "misspelled": "Wombatitle",
}
QUERIES = {
    "words": "lighthouse password",
    "secret": "Quollsecret",
    "phrase": '"lighthouse password is"',
    "title": "Wombattitle",
    "alias": "Numbatalias",
    "heading": "Dunnartheading",
    "tag": "tag:bilbytag",
    "path": "path:Diaries",
    "date": "lighthouse after:2020-01-01",
    "without": "password -keeper",
}
CALLS: dict[str, tuple[str, dict[str, object]]] = {
    **{f"read_document {how}": ("read_document", {"path": name}) for how, name in NAMES.items()},
    **{
        f"{tool} {how}": (tool, {"link": name})
        for tool in ("find_forward_links", "resolve_wikilink")
        for how, name in NAMES.items()
        if how in {"id", "alias", "heading", "misspelled"}
    },
    **{f"find_excerpts {how}": ("find_excerpts", {"query": query}) for how, query in QUERIES.items()},
    **{f"find_documents {how}": ("find_documents", {"query": QUERIES[how]}) for how in ("words", "title", "path")},
    "read_document by pages": ("read_document", {"path": ID, "offset": 20}),
    "find_backlinks misspelled": ("find_backlinks", {"path": "Wombatitle"}),
    "find_backlinks of an open note": ("find_backlinks", {"path": "Open garden"}),
    "find_forward_links of an open note": ("find_forward_links", {"path": "Open garden"}),
    "find_related to an open note": ("find_related", {"path": "Open garden"}),
    "find_related to a note on the same": ("find_related", {"path": "Lighthouse"}),
    "find_related misspelled": ("find_related", {"path": "Wombatitle"}),
    "list_documents": ("list_documents", {}),
    "list_documents in a folder": ("list_documents", {"folder": "Diaries"}),
    "list_documents with a tag": ("list_documents", {"tag": "bilbytag"}),
    "list_documents since a day": ("list_documents", {"modified_after": "2020-01-01"}),
}


@pytest.mark.parametrize(("tool", "arguments"), CALLS.values(), ids=CALLS.keys())
def test_a_tool_gives_a_local_note_to_a_model_on_this_machine_only(
    visitors: tuple[Visitor, Visitor], server: Recorder, tool: str, arguments: dict[str, object]
) -> None:
    elsewhere, here = visitors
    written = json.dumps(arguments)
    server.call = ToolCallPart(call_id="c1", name=tool, arguments=written)
    assert leaked(elsewhere.ask("Go on."), written) == set()
    assert leaked(here.ask("Go on."), written)


def test_evidence_of_a_local_note_is_handed_to_a_model_on_this_machine_only(scene: Scene) -> None:
    question = "What is the lighthouse password?"
    assert leaked(scene.ask("ollama:plain-cloud", question)) == set()
    assert leaked(scene.ask("ollama:plain", question))


def test_a_note_with_its_notes_is_not_embedded_at_second_hand(scene: Scene) -> None:
    assert leaked(scene.ask(scene.elsewhere, "Tell me of [[Middle]].")) == set()


def test_the_user_is_told_what_is_withheld_and_the_record_says_so(scene: Scene) -> None:
    assert f"[[{ID}]]: withheld" in scene.ask(scene.elsewhere, f"Tell me of [[{ID}]].")
    assert scene.warnings == [f"not sent: [[{ID}]] is private and {scene.elsewhere} is not on this machine"]
    (answer,) = [message for message in scene.history().thread if message.request_context]
    assert answer.request_context
    assert [(left.item.name, left.why) for left in answer.request_context.left_out] == [(f"[[{ID}]]", "private")]


def test_a_note_that_is_never_to_be_read_reaches_no_model(tmp_path: Path, server: Recorder) -> None:
    scene = make_scene(tmp_path, server, {FILE: SECRET.replace("zkchat: local", "zkchat: never"), **OPEN})
    for model in (scene.here, scene.elsewhere):
        assert leaked(scene.ask(model, f"Tell me of [[{ID}]], [[Open garden]] and the lighthouse password.")) == set()
        assert scene.warnings.pop() == f"not sent: [[{ID}]] is never to be read"
        for tool, arguments in (
            ("read_document", {"path": ID}),
            ("list_documents", {}),
            ("find_excerpts", {"q": "lighthouse"}),
        ):
            server.call = call_of(tool, arguments)
            assert leaked(scene.ask(model, "Go on.")) == set()
        server.call = None


def test_the_notes_of_a_local_folder_stay_here(tmp_path: Path, server: Recorder) -> None:
    scene = make_scene(tmp_path, server, {FILE: UNMARKED, **OPEN})
    question = f"Tell me of [[{ID}]] and [[Open garden]]."
    assert leaked(scene.ask(scene.elsewhere, question))
    scene.world.variables["ZKCHAT_PRIVACY__LOCAL_ONLY"] = "Diaries"
    assert leaked(scene.ask(scene.elsewhere, question)) == set()
    assert leaked(scene.ask(scene.here, question))
    server.call = call_of("read_document", {"path": f"./Diaries/../{FILE}"})
    assert "lighthouse password" not in scene.ask(scene.elsewhere, "Go on.")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_document", {"path": ID}),
        ("find_excerpts", {"query": "lighthouse password"}),
        ("list_documents", {}),
        ("find_backlinks", {"path": "Open garden"}),
        ("find_related", {"path": "Open garden"}),
        ("resolve_wikilink", {"link": "Wombatitle"}),
    ],
)
def test_a_note_that_becomes_local_while_the_model_answers_stays_here(
    scene: Scene, tool: str, arguments: dict[str, str]
) -> None:
    scene.world.note(FILE, UNMARKED)
    scene.server.call = call_of(tool, arguments)

    async def change_it_on_the_way(conversation: Conversation) -> AsyncGenerator[Event, None]:
        async for event in conversation.say("Go on."):
            if event.kind == "prompt_ready":
                scene.world.note(FILE, SECRET)
            yield event

    assert leaked(scene.talk(scene.elsewhere, change_it_on_the_way)) == set()


def test_a_note_marked_local_before_the_index_has_noticed_stays_here(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.world.note(FILE, UNMARKED)
    scene.server.says = QUOTING
    question = f"What is the lighthouse password in [[{ID}]] and [[Open garden]]?"
    assert leaked(scene.ask(scene.elsewhere, question))
    scene.server.says = "Fine."
    monkeypatch.setattr(IndexMaintenance, "refresh", lambda *_: Refreshed())
    scene.world.note(FILE, SECRET)
    assert leaked(scene.ask(scene.elsewhere, "And the rest?", go_on=True)) == set()
    assert leaked(scene.ask(scene.elsewhere, question, go_on=True)) == set()


def test_a_vaults_own_page_and_what_it_imports_stay_here(tmp_path: Path, server: Recorder) -> None:
    local = "---\nzkchat: local\n---\nThe word is Quollsecret.\n"
    scene = make_scene(tmp_path, server, {"ZKCHAT.md": "Be brief. @Diaries/plain.md\n", "Diaries/plain.md": local})
    scene.world.run("trust", "--yes")
    assert leaked(scene.ask(scene.elsewhere, "Hello.")) == set()
    assert scene.warnings == [f"not sent: Diaries/plain.md is private and {scene.elsewhere} is not on this machine"]
    assert leaked(scene.ask(scene.here, "Hello.")) == {"quollsecret"}
    assert [message.local for message in scene.history().thread] == [True, True]
    assert leaked(scene.ask(scene.elsewhere, "And now?", go_on=True)) == set()
    scene.world.note("ZKCHAT.md", local)
    scene.world.run("trust", "--yes")
    assert leaked(scene.ask(scene.elsewhere, "Hello.")) == set()
    assert leaked(scene.ask(scene.here, "Hello.")) == {"quollsecret"}


def test_what_an_agent_has_at_hand_stays_here(scene: Scene) -> None:
    scene.world.note(".zkchat/agents/keeper.md", f'---\nreferences:\n  "[[{ID}]]": always\n---\nYou keep things.\n')
    scene.world.run("trust", "--yes")
    assert leaked(scene.ask(scene.elsewhere, "@keeper what do you keep?")) == set()
    assert leaked(scene.ask(scene.here, "@keeper what do you keep?"))
    assert leaked(scene.ask(scene.elsewhere, "And now?", go_on=True)) == set()


def test_what_the_user_added_stays_here(scene: Scene) -> None:
    async def add(conversation: Conversation) -> AsyncGenerator[Event, None]:
        conversation.add(RequestItem(type="reference", name=FILE, include="manual"))
        async for event in conversation.say("What do you know?"):
            yield event

    assert leaked(scene.talk(scene.elsewhere, add)) == set()
    assert scene.warnings == [f"not sent: {FILE} is private and {scene.elsewhere} is not on this machine"]
    assert leaked(scene.ask(scene.here, "And now?", go_on=True))
    assert leaked(scene.ask(scene.elsewhere, "And now?", go_on=True)) == set()


WAYS_IN = {
    "link": (f"Tell me of [[{ID}]].", None),
    "read": ("Go on.", ("read_document", {"path": ID})),
    "list": ("Go on.", ("list_documents", {})),
    "closest name": ("Go on.", ("read_document", {"path": "Wombatitle"})),
}


@pytest.mark.parametrize(("text", "call"), WAYS_IN.values(), ids=WAYS_IN.keys())
def test_a_conversation_with_local_notes_stays_here_when_the_model_is_changed(
    scene: Scene, text: str, call: tuple[str, dict[str, object]] | None
) -> None:
    scene.server.says = QUOTING
    scene.server.call = call_of(call[0], call[1]) if call else None
    scene.ask(scene.here, text)
    scene.server.call, scene.server.says = None, "Fine."
    scene.ask(scene.here, "Thank you.", go_on=True)
    received = scene.ask(scene.elsewhere, "And what else?", "Really?", go_on=True)
    assert leaked(received) == set()
    assert WITHHELD.lower() in received
    assert any("earlier messages that used private notes" in warning for warning in scene.warnings)
    assert leaked(scene.ask(scene.here, "And what else?", go_on=True))


def test_an_imported_conversation_about_a_local_note_stays_here(scene: Scene) -> None:
    reference = {"wikilink": f"[[{ID}]]", "relative_path": FILE, "reference_type": "search"}
    talk = [
        {"role": "user", "content": "Is it raining in Lisbon?"},
        {"role": "assistant", "content": "No."},
        {"role": "user", "content": "What of the other thing?"},
        {"role": "assistant", "content": QUOTING, "references": [reference]},
        {"role": "user", "content": "Say it again."},
        {"role": "assistant", "content": f"Again: {QUOTING}"},
    ]
    scene.world.note("talk.json", json.dumps({"s1": {"messages": talk}}))
    assert scene.world.run("context", "import", "talk.json").code == 0
    received = scene.ask(scene.elsewhere, "And what else?", go_on=True)
    assert "is it raining in lisbon?" in received
    assert leaked(received) == set()
    assert leaked(scene.ask(scene.here, "And what else?", go_on=True))


def test_what_was_said_before_the_local_notes_came_in_is_still_sent(scene: Scene) -> None:
    scene.ask(scene.here, "Is it raining in Lisbon?", f"Tell me of [[{ID}]].")
    assert "raining in lisbon" in scene.ask(scene.elsewhere, "And now?", go_on=True)


def test_the_request_without_what_is_withheld_can_be_built_again(scene: Scene) -> None:
    scene.ask(scene.here, f"Tell me of [[{ID}]].")
    sent = scene.ask(scene.elsewhere, "And now?", go_on=True)
    history = scene.history()
    answer = history.last
    assert answer
    assert answer.request_context
    rebuilt = request_from(answer.request_context, history.messages, history.contents)
    assert [message["content"] for message in json.loads(sent)[-1]["messages"]] == [
        message.text.lower() for message in rebuilt.messages
    ]


def test_a_question_with_local_notes_is_not_asked_again_elsewhere(scene: Scene) -> None:
    scene.ask(scene.here, f"Tell me of [[{ID}]].")
    assert leaked(scene.talk(scene.elsewhere, lambda conversation: conversation.retry(), go_on=True)) == set()
    assert scene.failures == [f"The last question used private notes, which {scene.elsewhere} may not see."]
    assert leaked(scene.talk(scene.here, lambda conversation: conversation.retry(), go_on=True))


def test_half_an_answer_that_a_crash_left_stays_here(scene: Scene) -> None:
    scene.ask(scene.here, f"Tell me of [[{ID}]].")
    with stores.open_sessions(scene.world.environment(), scene.world.vault) as store:
        session = store.sessions()[0]
        head = History(store.entries(session.id)).last
        assert head
        store.append(session.id, [DraftEntry(message_id="half", parent_id=head.id, text=QUOTING)])
    assert leaked(scene.ask(scene.elsewhere, "And now?", go_on=True)) == set()


def test_a_note_that_is_made_local_later_takes_its_turns_along(scene: Scene) -> None:
    scene.world.note(FILE, UNMARKED)
    scene.server.says = QUOTING
    assert leaked(scene.ask(scene.elsewhere, f"Tell me of [[{ID}]]."))
    scene.world.note(FILE, SECRET + "More.\n")
    scene.server.says = "Fine."
    assert leaked(scene.ask(scene.elsewhere, "And now?", go_on=True)) == set()


def compact(conversation: Conversation) -> AsyncGenerator[Event, None]:
    return conversation.compact(keep=2)


FILLERS = tuple(f"Filler number {number}?" for number in range(4))


def test_a_summary_of_local_turns_stays_here_and_so_do_they(scene: Scene) -> None:
    scene.server.says = QUOTING
    scene.ask(scene.here, f"What is the lighthouse password in [[{ID}]]?")
    scene.server.says = "Fine."
    scene.ask(scene.here, *FILLERS, go_on=True)
    scene.server.says = QUOTING
    assert leaked(scene.talk(scene.here, compact, go_on=True))
    scene.server.says = "Fine."
    assert leaked(scene.ask(scene.elsewhere, "What was the lighthouse password?", go_on=True)) == set()
    scene.server.call = ToolCallPart(
        call_id="c1", name="search_conversation", arguments='{"query": "lighthouse answer"}'
    )
    assert leaked(scene.ask(scene.elsewhere, "Look it up.", go_on=True)) == set()
    assert leaked(scene.talk(scene.elsewhere, compact, go_on=True)) == set()
    scene.server.call = None
    assert leaked(scene.ask(scene.elsewhere, "What was the lighthouse password?", go_on=True)) == set()


def test_archived_local_turns_are_recalled_here_only(scene: Scene) -> None:
    scene.server.says = QUOTING
    scene.ask(scene.here, f"What is the lighthouse password in [[{ID}]]?")
    scene.server.says = "Fine."
    scene.ask(scene.here, *FILLERS, go_on=True)
    assert leaked(scene.talk(scene.elsewhere, compact, go_on=True)) == set()
    assert leaked(scene.ask(scene.elsewhere, "What was the answer, the lighthouse password?", go_on=True)) == set()
    assert leaked(scene.ask(scene.here, "What was the answer, the lighthouse password?", go_on=True))


def test_a_fact_that_was_learnt_with_local_notes_is_recalled_here_only(scene: Scene) -> None:
    async def learn(conversation: Conversation) -> AsyncGenerator[Event, None]:
        async for event in conversation.say(f"Tell me of [[{ID}]]."):
            yield event
        conversation.remember("My lighthouse password is Quollsecret.")

    scene.talk(scene.here, learn)
    question = "What is my lighthouse password?"
    assert leaked(scene.ask(scene.elsewhere, question)) == set()
    for tool, arguments in (("recall", {"query": question}), ("remember", {"text": "My lighthouse password is 1234."})):
        scene.server.call = call_of(tool, arguments)
        assert leaked(scene.ask(scene.elsewhere, "Go on.")) == set()
    scene.server.call = None
    assert leaked(scene.ask(scene.here, question)) == {"quollsecret"}
    assert leaked(scene.ask(scene.elsewhere, "And now?", go_on=True)) == set()


def test_a_fact_that_a_model_keeps_after_reading_a_local_note_is_local(scene: Scene) -> None:
    scene.ask(scene.here, f"Tell me of [[{ID}]].")
    scene.server.call = call_of("remember", {"text": "The lighthouse password is Quollsecret."})
    scene.ask(scene.here, "Keep it.", go_on=True)
    scene.server.call = None
    assert leaked(scene.ask(scene.elsewhere, "What is the lighthouse password?")) == set()
    assert leaked(scene.ask(scene.here, "What is the lighthouse password?")) == {"quollsecret"}


@pytest.mark.parametrize("is_learnt_before", [True, False])
def test_a_fact_that_links_a_local_note_is_recalled_here_only(scene: Scene, is_learnt_before: bool) -> None:
    if is_learnt_before:
        scene.world.note(FILE, UNMARKED)
    scene.world.run("memory", "add", f"[[{ID}]] says that my lighthouse password is Quollsecret.")
    scene.world.note(FILE, SECRET)
    question = "What is my lighthouse password?"
    assert leaked(scene.ask(scene.elsewhere, question, f"{question} See [[{ID}]].")) == set()
    for tool, text in (("recall", question), ("recall", f"[[{ID}]]"), ("remember", f"[[{ID}]] is old.")):
        scene.server.call = ToolCallPart(call_id="c1", name=tool, arguments=json.dumps({"text": text}))
        assert leaked(scene.ask(scene.elsewhere, "Go on.")) == set()
    scene.server.call = None
    assert "quollsecret" in leaked(scene.ask(scene.here, question))
    assert leaked(scene.ask(scene.elsewhere, "And now?", go_on=True)) == set()
    scene.world.note(FILE, SECRET.replace("zkchat: local", "zkchat: never"))
    assert leaked(scene.ask(scene.here, question)) == set()


def test_that_a_local_note_has_changed_is_not_told_elsewhere(scene: Scene) -> None:
    scene.ask(scene.here, f"Tell me of [[{ID}]].")
    scene.world.note(FILE, SECRET + "More.\n")
    assert leaked(scene.ask(scene.elsewhere, "And now?", go_on=True)) == set()
    assert not any("has changed" in warning for warning in scene.warnings)
    scene.ask(scene.here, "And now?", go_on=True)
    assert any("has changed" in warning for warning in scene.warnings)


def test_without_an_index_the_conversation_goes_on_and_nothing_is_told(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.world.note(".zkchat/agents/keeper.md", "---\nreferences: [Lighthouse]\n---\nYou keep things.\n")
    scene.world.run("trust", "--yes")
    scene.ask(scene.here, f"Tell me of [[{ID}]].")

    def full(_: SqliteNoteIndex) -> int:
        raise StorageFull("No room for the index.")

    async def add(conversation: Conversation) -> AsyncGenerator[Event, None]:
        conversation.add(RequestItem(type="reference", name=FILE, include="manual"))
        async for event in conversation.say(f"@keeper what about [[{ID}]]?"):
            yield event

    monkeypatch.setattr(SqliteNoteIndex, "generation", full)
    assert leaked(scene.talk(scene.elsewhere, add, go_on=True)) == set()
    assert scene.failures == []


def test_without_private_notes_nothing_is_marked_and_nothing_withheld(tmp_path: Path, server: Recorder) -> None:
    scene = make_scene(tmp_path, server, {FILE: UNMARKED, **OPEN})
    scene.ask(scene.here, f"Tell me of [[{ID}]].")
    assert leaked(scene.ask(scene.elsewhere, "And now?", go_on=True))
    assert not any(message.local for message in scene.history().thread)
    assert scene.warnings == [
        f"{scene.elsewhere} is not on this machine; until now {scene.here} answered this session here."
    ]


def test_what_a_second_look_brings_up_stays_here_and_so_does_its_turn(scene: Scene) -> None:
    question = "What is the lighthouse password?"
    assert leaked(scene.ask(scene.elsewhere, question)) == set()
    scene.server.says = QUOTING
    assert "quollsecret" in leaked(scene.ask(scene.here, question))
    assert any("answered without reading your notes" in text for text in scene.warnings)
    assert leaked(scene.ask(scene.elsewhere, "Which one again?", go_on=True)) == set()


@pytest.mark.parametrize("model", ELSEWHERE)
def test_a_model_that_a_local_server_only_forwards_gets_nothing(tmp_path: Path, server: Recorder, model: str) -> None:
    scene = make_scene(tmp_path, server)
    question = f"What is the lighthouse password in [[{ID}]] and [[Open garden]]?"
    assert leaked(scene.ask(model, question)) == set()
    for tool, arguments in (("read_document", {"path": ID}), ("find_excerpts", {"query": "lighthouse"})):
        server.call = call_of(tool, arguments)
        assert leaked(scene.ask(model, "Go on.", go_on=True)) == set()


def as_link_to_its_folder(file: Path) -> None:
    file.parent.rename(file.parents[1] / "settings")
    file.parent.symlink_to("settings")


def as_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a link to its folder": as_link_to_its_folder,
    "a pipe": as_pipe,
    "too large": lambda file: file.write_bytes(file.read_bytes() + b"#" * 2_000_000),
    "broken": lambda file: file.write_bytes(file.read_bytes() + b"["),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_where_the_vaults_settings_cannot_be_read_no_model_elsewhere_is_asked(
    tmp_path: Path, server: Recorder, damage: Callable[[Path], object]
) -> None:
    scene = make_scene(tmp_path, server, {FILE: UNMARKED, **OPEN})
    settings = scene.world.note(".zkchat/config.toml", '[privacy]\nlocal_only = ["Diaries"]\n')
    question = f"Tell me of [[{ID}]]."
    assert leaked(scene.ask(scene.elsewhere, question)) == set()
    damage(settings)
    asked = scene.world.run("ask", question, "--model", scene.elsewhere)
    assert (asked.code, server.received()) == (ExitCode.CONFIG, "[]")
    assert "so nothing is sent to" in asked.err
    assert leaked(scene.ask(scene.here, question))
    quoted = scene.world.run("ask", "What is the lighthouse password?", "--model", "quote")
    assert (quoted.code, "Quollsecret" in quoted.out) == (ExitCode.OK, True)
    assert "Its settings are ignored." in quoted.err


def test_while_the_vaults_settings_cannot_be_read_every_note_counts_as_local(scene: Scene) -> None:
    scene.world.note("About.md", "- I grow tomatoes.\n")
    scene.world.note(".zkchat/config.toml", "[privacy]\nlocal_only = [")
    (fact,) = scene.world.run("memory", "import", "@About.md", "--json").json["facts"]
    assert fact["local"]


@pytest.mark.parametrize("text", ["local_only = 'Diaries'", "local_only = [5]", "local_onyl = ['Diaries']"])
def test_a_wrong_value_for_local_folders_stops_the_command(scene: Scene, text: str) -> None:
    scene.world.note(".zkchat/config.toml", f"[privacy]\n{text}\n")
    asked = scene.world.run("ask", "Hello.", "--model", scene.elsewhere)
    assert (asked.code, scene.server.received()) == (ExitCode.CONFIG, "[]")


def test_folders_are_local_by_any_name_and_one_that_is_not_there_is_told(tmp_path: Path, server: Recorder) -> None:
    scene = make_scene(tmp_path, server, {FILE: UNMARKED, **OPEN})
    question = f"Tell me of [[{ID}]] and [[Open garden]]."
    for folder in (f"{scene.world.vault}/Diaries", " Diaries/ ", "~/../vault/Diaries"):
        scene.world.variables["ZKCHAT_PRIVACY__LOCAL_ONLY"] = f"['{folder}']"
        assert leaked(scene.ask(scene.elsewhere, question)) == set()
        assert not any("privacy.local_only" in warning for warning in scene.warnings)
    scene.world.variables["ZKCHAT_PRIVACY__LOCAL_ONLY"] = "['Dairies']"
    scene.ask(scene.elsewhere, question)
    warning = "privacy.local_only: 'Dairies' matches no note, so it keeps no note private."
    assert f"{warning} Did you mean 'Diaries'?" in scene.warnings
    assert warning in scene.world.run("doctor").out


def test_facts_of_a_local_note_are_local_and_of_one_never_to_be_read_there_are_none(scene: Scene) -> None:
    fact = "- My lighthouse password is Quollsecret.\n"
    scene.world.note("About.md", f"---\nzkchat: local\n---\n{fact}")
    scene.world.note("Folder/About.md", fact)
    scene.world.note("Never.md", f"---\nzkchat: never\n{fact}")
    (scene.world.vault / "Other name.md").hardlink_to(scene.world.vault / "Folder" / "About.md")
    scene.world.variables["ZKCHAT_PRIVACY__LOCAL_ONLY"] = "Folder"
    question = "What is my lighthouse password?"
    for name in ("@Never.md", "Never.md", str(scene.world.vault / "Never.md")):
        refused = scene.world.run("memory", "import", name)
        assert (refused.code, "No model may read" in refused.err) == (ExitCode.USAGE, True)
    assert scene.world.run("memory", "list", "--json").json == []
    for name in ("@About.md", "About.md", "@Folder/About.md", "Folder/../Folder/About.md", "@Other name.md"):
        (known,) = scene.world.run("memory", "import", name, "--json").json["facts"]
        assert known["local"]
        assert leaked(scene.ask(scene.elsewhere, question)) == set()
        assert leaked(scene.ask(scene.here, question))
        scene.world.run("memory", "forget", known["id"], "--yes")


def saved(scene: Scene, model: str, *commands: str) -> None:
    """Type into a chat that goes on in the last session."""
    scene.world.variables["TERM"] = "dumb"
    typed = "".join(f"{command}\ny\n" for command in commands)
    scene.world.run("chat", "--continue", "--model", model, typed=typed, terminal=True)
    scene.server.received()


def test_notes_made_of_local_turns_are_local(scene: Scene) -> None:
    scene.server.says = QUOTING
    scene.ask(scene.here, f"Tell me of [[{ID}]].")
    scene.server.says = "Fine."
    saved(scene, scene.here, "/save [[Kept answer]]", "/export Kept talk.md")
    exported = str(scene.world.vault / "Exported.md")
    assert scene.world.run("context", "export", "--output", exported).code == ExitCode.OK
    for name in ("Kept answer", "Kept talk", "Exported"):
        assert "Quollsecret" in (scene.world.vault / f"{name}.md").read_text()
        assert "zkchat: local\n" in (scene.world.vault / f"{name}.md").read_text()
        assert leaked(scene.ask(scene.elsewhere, f"Tell me of [[{name}]].")) == set()
        assert leaked(scene.ask(scene.here, f"Tell me of [[{name}]]."))


def test_notes_made_of_turns_whose_note_became_local_later_are_local(scene: Scene) -> None:
    scene.world.note(FILE, UNMARKED)
    scene.server.says = QUOTING
    scene.ask(scene.elsewhere, f"Tell me of [[{ID}]].")
    scene.world.note(FILE, SECRET)
    saved(scene, scene.elsewhere, "/save [[Kept answer]]")
    scene.server.says = "Fine."
    assert leaked(scene.ask(scene.elsewhere, "Tell me of [[Kept answer]].")) == set()


def test_notes_made_of_open_turns_are_open(scene: Scene) -> None:
    scene.ask(scene.here, "Tell me of [[Lighthouse]].")
    saved(scene, scene.here, "/save [[Kept answer]]")
    assert "zkchat: local" not in (scene.world.vault / "Kept answer.md").read_text()
