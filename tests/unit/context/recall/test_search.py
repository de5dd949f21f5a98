"""Finding what was said, and bringing it back: over a real store and a real index."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count as counting
from pathlib import Path

import pytest
from msgspec.structs import replace

from zkchat.chat.context.tokens import Estimate
from zkchat.chat.message_search import MAX_READ, ConversationSearch
from zkchat.chat.request_plan import MIN_SCORE, MIN_SHARE_OF_BEST, recall
from zkchat.core.choices import Role
from zkchat.core.errors import StorageDamaged
from zkchat.core.message import ChatMessage, CompactionPart, ContextType, Part, TextPart, ToolResultPart
from zkchat.core.note import Calendar
from zkchat.core.session import Entry, IndexedUpTo, MessageEntry
from zkchat.models.static_vectors import installed
from zkchat.sessions.store import SqliteMessageIndex, SqliteSessions

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
count = Estimate().count


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteSessions]:
    numbers, seconds = counting(1), counting(1)

    def now() -> datetime:
        return NOON + timedelta(seconds=next(seconds))

    with SqliteSessions(tmp_path / "sessions.db", now=now, new_id=lambda: f"s{next(numbers)}") as store:
        yield store


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteMessageIndex]:
    with closing(SqliteMessageIndex(tmp_path / "messages.db")) as index:
        yield index


@pytest.fixture
def search(index: SqliteMessageIndex) -> ConversationSearch:
    return ConversationSearch(index)


def message(
    id_: str,
    text: str,
    *,
    role: Role = "user",
    name: str = "",
    at: datetime = NOON,
    kind: ContextType = "primary",
    parts: tuple[Part, ...] = (),
) -> ChatMessage:
    return ChatMessage(
        id=id_,
        role=role,
        name=name,
        external_id=f"x-{id_}",
        parts=(*parts, TextPart(text=text)),
        created_at=at,
        context_type=kind,
    )


def say(store: SqliteSessions, session: str, *messages: ChatMessage) -> list[Entry]:
    return store.append(session, [MessageEntry(message=each) for each in messages])


@pytest.fixture
def talk(store: SqliteSessions, search: ConversationSearch) -> str:
    """A session on a heron, a boat and a roof, known to the search; returns its id."""
    session = store.create("Heron").id
    say(
        store,
        session,
        message("heron", "The heron in the garden is called Konrad."),
        message("fish", "He eats fish, mostly.", role="assistant"),
        message("boat", "My boat leaks at the stern."),
        message("tar", "Tar would help there.", role="assistant"),
        message("roof", "And the roof needs slates.", name="Anna", at=NOON + timedelta(days=40)),
        message("slate", "Slates are heavy; ask Benno.", role="assistant", at=NOON + timedelta(days=40)),
    )
    search.catch_up(store)
    return session


def ids(search: ConversationSearch, query: str, session: str | None = None, limit: int = 10) -> list[str]:
    return [hit.message for hit in search.search(query, session=session, limit=limit)]


def test_a_hit_says_who_said_what_and_when(search: ConversationSearch, talk: str) -> None:
    hit = search.search("Konrad", session=talk)[0]
    assert (hit.session, hit.message, hit.external_id, hit.role, hit.name) == (talk, "heron", "x-heron", "user", "")
    assert (hit.time, hit.snippet) == (NOON, "The heron in the garden is called Konrad.")
    assert 0.5 < hit.score < 1.5


@pytest.mark.parametrize("query", ["Anna", "April", "2026-04-10", "Friday"])
def test_speaker_and_date_lead_to_a_message(search: ConversationSearch, talk: str, query: str) -> None:
    assert "roof" in ids(search, query, talk, limit=2)
    assert ids(search, "Anna", talk) == ["roof"], "and say nothing of the messages around"
    assert search.search("xylophone") == search.search("") == search.search(query, session="no such session") == []


def test_of_two_that_are_equal_the_later_comes_first_and_no_other_session_is_near(
    store: SqliteSessions, search: ConversationSearch
) -> None:
    session = store.create().id
    say(store, session, *(message(f"m{number}", "badger" if number in {0, 5} else "nothing") for number in range(6)))
    say(store, store.create().id, message("other", "Something else entirely."))
    search.catch_up(store)
    assert ids(search, "badger", session, limit=2) == ["m5", "m0"]
    assert "other" not in ids(search, "badger")


def test_of_a_long_question_the_beginning_and_the_end_count(search: ConversationSearch, talk: str) -> None:
    pasted = " ".join(f"pasted{n}" for n in range(500))
    assert ids(search, f"Konrad {pasted}", talk)[0] == "heron"
    assert ids(search, f"{pasted} Konrad", talk)[0] == "heron"
    assert ids(search, f"{pasted} Konrad {pasted}", talk) == []
    before = [f"before{n}" for n in range(50)]
    assert ids(search, f"{' '.join(before[1:])} Konrad {pasted}", talk)[0] == "heron"
    assert ids(search, f"{' '.join(before)} Konrad {pasted}", talk) == []


def test_what_was_read_is_looked_for_only_where_that_is_wanted(
    store: SqliteSessions, search: ConversationSearch, talk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = ToolResultPart(call_id="1", name="read_note", text="Otters hold hands while they sleep.")
    failed = ToolResultPart(call_id="2", name="read_note", text="No otters hold hands.", failed=True)
    say(store, talk, message("failed", "It failed.", role="assistant", parts=(failed,)))
    for number in range(MAX_READ):
        weak = ToolResultPart(call_id="3", name="read_note", text=f"Otters eat {number} crabs.")
        say(store, talk, message(f"weak{number}", "Look.", role="assistant", parts=(weak,)))
    say(store, talk, message("read", "I have looked.", role="assistant", parts=(read,)))
    search.catch_up(store)
    calendar = Calendar(NOON)
    hits = [hit.message for hit in search.look_up(store, "otters hands", calendar)]
    assert hits == ["read", *(f"weak{number}" for number in range(MAX_READ - 1))]
    monkeypatch.setattr(store, "entries", None)  # no session is loaded
    assert search.look_up(store, "otters hands", calendar, with_read=False) == []
    assert search.look_up(store, "heron", calendar, with_read=False)[0].message == "heron"


def test_only_messages_among_those_wanted_are_found(search: ConversationSearch, talk: str) -> None:
    assert [each.message for each in search.ranked("heron", session=talk, limit=1, among={"fish", "roof"})] == ["fish"]
    assert search.ranked("heron", session=talk, among=set()) == []


def test_the_same_is_found_before_and_after_a_compaction(
    store: SqliteSessions, search: ConversationSearch, talk: str
) -> None:
    questions = ["heron", "boat roof", "slates in April", "who is Konrad?"]
    before = [search.search(question, session=talk, limit=25) for question in questions]
    archived = CompactionPart(number=1, summary="The heron Konrad, a boat, a roof.", archived=("heron", "fish"))
    say(
        store,
        talk,
        message("compaction", "Konrad, the heron.", role="system", parts=(archived,)),
        message("summary", "Konrad, the heron.", role="system", kind="summary"),
        message("memory", "Konrad, the heron.", role="system", kind="memory"),
        message("tool", " ", role="tool", parts=(ToolResultPart(call_id="1", name="read", text="Konrad"),)),
    )
    search.catch_up(store)
    assert [search.search(question, session=talk, limit=25) for question in questions] == before


def test_a_message_that_is_stored_again_is_found_by_its_last_text(
    store: SqliteSessions, search: ConversationSearch, talk: str
) -> None:
    assert ids(search, "stern", talk)[0] == "boat"
    say(store, talk, message("boat", "My canoe leaks at the bow."), message("later", "Good to know."))
    search.catch_up(store)
    assert ids(search, "stern", talk) == []
    assert ids(search, "canoe", talk)[0] == "boat"
    assert "later" not in ids(search, "canoe", talk), "it keeps its place"


def test_new_messages_are_learned_and_one_of_another_process_in_between_is_noticed(
    store: SqliteSessions, search: ConversationSearch, talk: str
) -> None:
    entries = store.entries(talk)
    entries += say(store, talk, message("new", "A badger."))
    assert search.learn(talk, entries)
    assert ids(search, "badger", talk)[0] == "new"
    assert search.learn(talk, entries), "nothing is new"
    say(store, talk, message("theirs", "A badger from elsewhere."))
    assert not search.learn(talk, say(store, talk, message("ours", "A badger from here.")))
    search.catch_up(store, talk)
    assert {*ids(search, "badger", talk)[:3]} == {"new", "ours", "theirs"}


def test_a_deleted_session_is_forgotten(
    store: SqliteSessions, search: ConversationSearch, index: SqliteMessageIndex, talk: str, tmp_path: Path
) -> None:
    store.delete(talk)
    search.catch_up(store)
    assert ids(search, "Konrad") == []
    assert ids(search, "Konrad", talk) == []
    index.close()
    assert b"Konrad" not in b"".join(file.read_bytes() for file in tmp_path.glob("messages.db*"))


def test_an_older_state_that_was_put_back_counts(
    store: SqliteSessions, index: SqliteMessageIndex, tmp_path: Path, talk: str
) -> None:
    with SqliteSessions(tmp_path / "copy.db", now=lambda: NOON - timedelta(days=1), new_id=lambda: talk) as older:
        say(older, older.create().id, message("old", "A badger."))
        search = ConversationSearch(index)
        search.catch_up(older)
    assert ids(search, "badger") == ["old"]
    assert ids(search, "Konrad") == []


class Damaged(SqliteMessageIndex):
    """An index that turns out to be damaged at its first use, until it is begun anew."""

    is_damaged = True

    def _check(self) -> None:
        if self.is_damaged:
            raise StorageDamaged("It is damaged.")

    def known(self) -> dict[str, IndexedUpTo]:
        self._check()
        return super().known()

    def forget(self, session: str) -> None:
        self._check()
        super().forget(session)

    def reset(self) -> None:
        self.is_damaged = False
        super().reset()


def test_a_damaged_index_is_made_again(store: SqliteSessions, talk: str, tmp_path: Path) -> None:
    with closing(Damaged(tmp_path / "damaged.db")) as index:
        search = ConversationSearch(index)
        search.catch_up(store)
        assert ids(search, "Konrad")[0] == "heron"


def test_an_index_with_features_of_another_size_is_rebuilt(
    store: SqliteSessions, search: ConversationSearch, index: SqliteMessageIndex, talk: str
) -> None:
    heron = replace(index.messages(talk, ["heron"])[0], changed=99, features=b"\1")
    index.add(talk, [heron], index.known()[talk])
    assert ids(search, "Konrad", talk)[0] == "heron"
    assert len(index.messages(talk, ["heron"])[0].features) > 1


def archive(store: SqliteSessions, session: str) -> dict[str, ChatMessage]:
    bodies = [entry.body for entry in store.entries(session)]
    return {body.message.id: body.message for body in bodies if isinstance(body, MessageEntry)}


def recalled(
    search: ConversationSearch, store: SqliteSessions, session: str, query: str, budget: int = 500, *, without: str = ""
) -> list[str]:
    archived = {id_: each for id_, each in archive(store, session).items() if id_ != without}
    found = recall(search, query, archived, session=session, budget=budget, count=count)
    return [each.message.id for each in found]


def test_what_the_question_is_about_is_recalled(store: SqliteSessions, search: ConversationSearch, talk: str) -> None:
    first, *near = recalled(search, store, talk, "what was the heron's name, Konrad?")
    assert (first, {*near}) == ("heron", {"fish", "boat"}), "and what was said around it"
    assert recalled(search, store, talk, "where does my boat leak?")[0] == "boat"
    assert recalled(search, store, talk, "explain quantum chromodynamics to my sceptical aunt") == []
    say(store, talk, *(message(f"b{n}", "The badger sleeps below the oak.") for n in range(20)))
    search.catch_up(store)
    again = recalled(search, store, talk, "badger oak", 1000)
    assert [id_ for id_ in again if id_.startswith("b")] == ["b17"], "what was said many times comes back once"


def test_a_long_message_comes_back_as_what_it_says_on_the_question(
    store: SqliteSessions, search: ConversationSearch, talk: str
) -> None:
    filler = [f"I decided that Captain Ko{n}ra buys {n} barrels of ti{n}ka from Port Vel{n}o." for n in range(100)]
    filler[60] = "The anchor weighs nine kilos."
    say(store, talk, message("long", " ".join(filler)))
    search.catch_up(store)
    archived = archive(store, talk)
    found = recall(search, "what does the anchor weigh?", archived, session=talk, budget=300, count=count)
    assert found[0].message == archived["long"]
    assert "nine kilos" in found[0].text
    assert count(found[0].quoted) <= 0.4 * 300, "others get their share too"
    assert sum(count(each.quoted) for each in found) <= 300


def test_recall_keeps_within_its_budget(store: SqliteSessions, search: ConversationSearch, talk: str) -> None:
    said = [f"The badger number {n} sleeps in the den below the oak." for n in range(40)]
    say(store, talk, *(message(f"b{n}", text, name="Ludwig van B.") for n, text in enumerate(said)))
    search.catch_up(store)
    for budget in (0, 10, 100, 200):
        found = recall(search, "badger den", archive(store, talk), session=talk, budget=budget, count=count)
        assert sum(count(each.quoted) for each in found) <= budget
        assert len(found) >= budget // 50


def test_of_many_that_share_a_word_with_the_question_the_one_that_tells_something_is_recalled(
    store: SqliteSessions, search: ConversationSearch
) -> None:
    session, question = store.create("Teeth").id, "when must I be at the dentist's?"
    said = [f"Number {n} was about {'the dentist' if n % 8 == 4 else 'tea'}. And so on." for n in range(400)]
    said[20] = "It rained all day. By the way, the dentist moved my appointment to the 14th of April. Then tea came."
    say(store, session, *(message(f"d{number}", text) for number, text in enumerate(said)))
    search.catch_up(store)
    ranked = search.ranked(question, session=session, limit=400)
    assert [each.message for each in ranked].index("d20") > 20
    assert "d20" in recalled(search, store, session, question, 200)


@pytest.fixture
def arrest(store: SqliteSessions) -> str:
    """A session with four messages on the heron, of which the first has to do with the police; returns its id."""
    session = store.create().id
    texts = {"arrest": "The heron and the officer who arrested him.", "frogs": "The heron ate a fish and two frogs."}
    said = [("arrest", texts["arrest"]), *((f"frogs{number}", texts["frogs"]) for number in range(3))]
    say(store, session, *(message(id_, text) for id_, text in said))
    return session


def test_of_messages_that_share_as_many_words_the_nearest_in_meaning_comes_first(
    store: SqliteSessions, index: SqliteMessageIndex, arrest: str
) -> None:
    search = ConversationSearch(index, installed())
    search.catch_up(store)
    found = search.ranked("heron police", session=arrest)
    by_words = ConversationSearch(index).ranked("heron police", session=arrest)
    assert (found[0].message, by_words[0].message) == ("arrest", "frogs1")
    assert {*found} == {*by_words}, "the scores are those of the words"


def test_messages_that_were_indexed_without_vectors_get_them_once_they_can_be_made(
    store: SqliteSessions, index: SqliteMessageIndex, arrest: str
) -> None:
    ConversationSearch(index).catch_up(store)
    search = ConversationSearch(index, installed())
    assert not search.learn(arrest, store.entries(arrest))
    search.catch_up(store, arrest)
    assert search.ranked("heron police", session=arrest)[0].message == "arrest"
    assert search.learn(arrest, store.entries(arrest))
    assert ConversationSearch(index).learn(arrest, store.entries(arrest)), "one that can make none keeps what is there"


def test_what_says_too_little_beside_the_highest_score_is_not_recalled_whichever_comes_first(
    store: SqliteSessions, search: ConversationSearch
) -> None:
    session = store.create().id
    say(
        store,
        session,
        message("asks", "Is the heron by the windmill called Konrad?"),
        message("answers", "No longer, the heron has been Karl since spring, and so are all of his many relatives."),
        *(message(f"tea{number}", "We had tea and cake.") for number in range(6)),
        message("weak", "The windmill, then tea and cake, and what else there was."),
    )
    search.catch_up(store)
    question = "What was the heron by the windmill called?"
    scores = {each.message: each.score for each in search.ranked(question, session=session)}
    assert [*scores][:2] == ["answers", "asks"]
    assert MIN_SHARE_OF_BEST * scores["answers"] < scores["weak"] < MIN_SHARE_OF_BEST * scores["asks"]
    assert scores["weak"] > MIN_SCORE
    assert recalled(search, store, session, question) == ["answers", "asks", "tea0"]
