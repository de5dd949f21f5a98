"""The session store against a plain list in memory: whatever is done to both, they say the same."""

import tempfile
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from zkchat.core.choices import Role
from zkchat.core.message import ChatMessage, TextPart
from zkchat.core.session import (
    ContentEntry,
    DraftEntry,
    Entry,
    EntryBody,
    EntryFilter,
    HeadEntry,
    MessageEntry,
    PinEntry,
    PriorityEntry,
    TitleEntry,
)
from zkchat.core.session_history import History, messages_of, thread_of
from zkchat.sessions.store import SqliteSessions, open_sessions

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROLES: list[Role] = ["user", "assistant", "system", "tool"]

texts = st.text(max_size=30) | st.builds(lambda text: 60 * text, st.text(min_size=1, max_size=12))
"""The long ones are stored packed."""
message_ids = st.sampled_from([f"m{number}" for number in range(12)])
parents = st.none() | message_ids


@st.composite
def messages(draw: st.DrawFn) -> MessageEntry:
    return MessageEntry(
        message=ChatMessage(
            id=draw(message_ids),
            parent_id=draw(parents),
            role=draw(st.sampled_from(ROLES)),
            parts=(TextPart(text=draw(texts)),),
            created_at=NOON,
        )
    )


bodies: st.SearchStrategy[EntryBody] = st.one_of(
    messages(),
    messages(),
    st.builds(DraftEntry, message_id=message_ids, parent_id=parents, text=texts),
    st.builds(TitleEntry, title=texts),
    st.builds(HeadEntry, message_id=parents),
    st.builds(PinEntry, message_id=message_ids, pinned=st.booleans()),
    st.builds(PriorityEntry, message_id=message_ids, priority=st.integers(1, 10)),
    st.builds(ContentEntry, digest=message_ids, text=texts),
    st.builds(ContentEntry, digest=message_ids, text=texts),
)


class SessionsOfOneVault(RuleBasedStateMachine):
    sessions = Bundle("sessions")

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "sessions.db"
        self.minutes = 0
        self.expected: dict[str, list[EntryBody]] = {}
        self.notices: tuple[str, ...] = ()
        self.store = self.opened()

    def opened(self) -> SqliteSessions:
        opened = open_sessions(self.path, now=self.now, new_id=self.new_id)
        self.notices += opened.notices
        return opened.store

    def now(self) -> datetime:
        self.minutes += 1
        return NOON + timedelta(minutes=self.minutes)

    def new_id(self) -> str:
        return f"s{self.minutes:06}"

    @rule(target=sessions, title=texts)
    def create(self, title: str) -> str:
        session = self.store.create(title)
        self.expected[session.id] = [TitleEntry(title=title)] if title else []
        return session.id

    @rule(session=sessions, bodies=st.lists(bodies, max_size=5))
    def append(self, session: str, bodies: list[EntryBody]) -> None:
        self.store.append(session, bodies)
        self.expected[session] += bodies

    @rule(session=sessions)
    def recover(self, session: str) -> None:
        orphans = History(self.store.entries(session)).orphans
        self.append(session, [MessageEntry(message=orphan) for orphan in orphans])

    @rule(session=consumes(sessions))
    def delete(self, session: str) -> None:
        self.store.delete(session)
        del self.expected[session]

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.opened()

    @rule()
    def write_from_another_process(self) -> None:
        for session, known in self.expected.items():
            with self.opened() as other:
                other.append(session, [TitleEntry(title="From elsewhere")])
            known.append(TitleEntry(title="From elsewhere"))

    @rule(session=sessions, last=st.integers(1, 6), role=st.none() | st.sampled_from(ROLES))
    def show_some(self, session: str, last: int, role: Role | None) -> None:
        whole = self.store.entries(session)
        wanted = [entry for entry in whole if message_of(entry) and (role is None or role_of(entry) == role)]
        newest = list(dict.fromkeys(message_of(entry) for entry in wanted))[-last:]
        expected = [entry for entry in wanted if message_of(entry) in newest]
        assert self.store.entries(session, EntryFilter(last=last, role=role)) == expected

    @invariant()
    def everything_is_there_in_order(self) -> None:
        for session, expected in self.expected.items():
            entries = self.store.entries(session)
            assert [entry.body for entry in entries] == expected
            assert [entry.sequence for entry in entries] == list(range(1, len(expected) + 1))

    @invariant()
    def the_list_tells_what_the_entries_tell(self) -> None:
        listed = {session.id: session for session in self.store.sessions()}
        assert set(listed) == set(self.expected)
        for id_, expected in self.expected.items():
            titles = [body.title for body in expected if isinstance(body, TitleEntry)]
            stored = {body.message.id for body in expected if isinstance(body, MessageEntry)}
            assert (listed[id_].title, listed[id_].message_count) == ((titles or [""])[-1], len(stored))
            assert self.store.get(id_) == listed[id_]

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()
        assert self.notices == ()


def message_of(entry: Entry) -> str | None:
    body = entry.body
    if isinstance(body, MessageEntry):
        return body.message.id
    return body.message_id if isinstance(body, DraftEntry) else None


def role_of(entry: Entry) -> str:
    return entry.body.message.role if isinstance(entry.body, MessageEntry) else "assistant"


TestSessionsOfOneVault = SessionsOfOneVault.TestCase
TestSessionsOfOneVault.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)


@given(st.lists(bodies, max_size=25))
@settings(max_examples=200, deadline=None)
def test_the_views_of_a_session_agree_with_each_other(bodies: list[EntryBody]) -> None:
    entries = [Entry(session_id="s", sequence=n, at=NOON, body=body) for n, body in enumerate(bodies, start=1)]
    messages, thread, head = messages_of(entries), thread_of(entries), History(entries).head
    assert len({message.id for message in thread}) == len(thread)
    assert all(messages[message.id] == message for message in thread)
    assert thread == [] if head not in messages else thread[-1].id == head
    for earlier, later in pairwise(thread):
        assert later.parent_id == earlier.id or later.parent_id not in messages
    recovered = [MessageEntry(message=orphan) for orphan in History(entries).orphans]
    again = [
        *entries,
        *(Entry(session_id="s", sequence=n, at=NOON, body=body) for n, body in enumerate(recovered, len(entries) + 1)),
    ]
    assert History(again).orphans == []
    assert History(again).head == head
    assert messages_of(again) == messages
