"""How sessions, entries and request items become rows of packed JSON, and rows values."""

import json
import math
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Raw, Struct, field
from msgspec.structs import replace

from zkchat.core import (
    ChangesEntry,
    ChatMessage,
    ContentEntry,
    DraftEntry,
    Entry,
    EntryBody,
    HeadEntry,
    InvalidValue,
    ListingEntry,
    MessageEntry,
    PinEntry,
    PriorityEntry,
    RequestItem,
    Session,
    TitleEntry,
    UnknownEntry,
    from_json,
    from_plain,
    lazy_pattern,
    read_body,
    read_message,
    shorten,
    stored_body,
    to_json,
    to_plain,
    without_defaults,
)
from zkchat.storage import Row, UnreadableRow, execute_all, read_rows, timestamp

Packed = str | bytes
"""Text as it is, or deflated."""

_SHORTEST: Final = 512
"""Characters: shorter texts are stored as they are, for there is little to gain."""
_LONGEST: Final = 1 << 24
"""Characters: what unpacks to more bytes than such a text can have is damaged."""

# What is stored is read with this dictionary: it must never change. A better one would be a second one.
_DICTIONARY: Final = (
    b'"status":"unfinished","error":""thinking_tokens":"tool_tokens":"usage":{"prompt_tokens":,"completion_tokens":'
    b',"thinking_tokens":0,"cached_tokens":0},"context_type":"tool_output","priority":3,"local":true,"abstained":true'
    b'{"kind":"goal","goal":{"id":"{"kind":"changes","message_id":"","decision":"applied","title":"","paths":[""],'
    b'"edited":false,"record":,"reason":"","told":"","diff":"--- a/+++ b/@@ -1,'
    b'{"kind":"compaction","number":,"summary":"","made_by":"","strategy":"summarize","focus":"","archived":["'
    b'"],"condensed":[{"message_id":"","call_id":"","text":"","is_earlier":true,"lacks_documents":false}],'
    b'"references":[],"tokens_before":,"tokens_after":}'
    b'{"kind":"file","name":".md","media_type":"text/plain","text":"","extent":"","digest":"","server":""}'
    b'{"kind":"thinking","text":"{"kind":"tool_call","call_id":"call_","name":"search_notes","arguments":"{\\"query\\":'
    b' \\"\\"}"}{"kind":"tool_result","call_id":"call_","name":"read_note","text":"","failed":false}'
    b'"reference_type":"direct","status":"missing","via":"link","candidates":["","hits":2,"included":true,"extent":"",'
    b'"date":"20","outdated_by":"[[","outdates":["[["]","digest":"","cited":true,"unverified":true,"anchor_found":false'
    b'{"type":"system","name":"{"type":"tool","name":"{"type":"rule","name":"{"type":"memory","name":"'
    b'{"type":"summary","name":"summary {"type":"reference","name":".md","include":"always","part_of":"'
    b'{"kind":"content","bodies":[{"kind":"content","digest":"","text":"# </note>\\n<note path=\\".md\\">\\n'
    b'"},{"kind":"content","digest":"","text":"<message assistant 20[\xe2\x80\xa6] "},{"kind":"content","digest":"'
    b'","text":"<message user 20 [\xe2\x80\xa6]</message>"},{"kind":"content","digest":"'
    b'[{"type":"evidence","name":".md","digest":"","reason":"","part_of":""},{"type":"message","name":"","tokens":},'
    b'{"type":"recall","name":"","title":"","include":"agent","tokens":,"digest":"'
    b'","reason":"said earlier, and archived","passing":true},{"type":"recall","name":"'
    b'{"kind":"message","message":{"id":"","session_id":"","parent_id":"","role":"user","parts":[{"kind":"text","text":"'
    b'"},{"kind":"evidence","evidence":[{"text":"","relative_path":".md","title":"","wikilink":"[[]]","heading":"'
    b'","lines":{"first":,"last":},"score":0.,"linked":true,"date":null,"outdated_by":"","outdates":[]},{"text":"'
    b'","linked":false,"date":null,"outdated_by":"","outdates":[]}],"nearest":[],"is_doubtful":true,"excerpts":[],'
    b'"listing":null,"remark":""}],"evidence":[],"nearest":[{"text":""is_doubtful":false,"excerpts":[],"listing":null,'
    b'"remark":""}],"created_at":"20","token_count":,"augmented_token_count":}}"role":"assistant","parts":[{"kind":"text"'
    b',"text":""}],"references":[{"wikilink":"[[","relative_path":".md","reference_type":"search","via":"evidence","title"'
    b':"","anchor":"","lines":{"first":,"last":},"snippet":"","score":0.,"summary":"","included":true,"cited":true},'
    b'{"wikilink":"[["summary":""}],"created_at":"20","finished_at":"20","provider":"","model":"","token_count":'
    b',"request_context":{"agent":"default","can_read":true,"items":"0-12,","left_out":[["budget",""]],"left_out":[],'
    b'"usage":{"system":,"tools":,"messages":,"memory":,"references":0,"images":0,"window":8192,"reserve":,'
    b'"threshold":0.85,"estimated":true,"counted":,"traits":{"messages":,"greek and cyrillic":,"digits":,"foreign":'
    b',"latin":,"symbols":,"korean":,"east asia":},"budgets":{"system":{"used":,"limit":},"tools":{"used":,"limit":},'
    b'"messages":{"used":,"limit":},"memory":{"used":,"limit":}}}}}}'
)


def pack(text: str) -> Packed:
    """Text as it is stored. Raises `UnicodeEncodeError` for half of a surrogate pair."""
    if not _SHORTEST <= len(text) <= _LONGEST:
        return text
    deflating = zlib.compressobj(6, zdict=_DICTIONARY)
    return deflating.compress(text.encode()) + deflating.flush()


def unpack(stored: Packed) -> str:
    """The text again. Raises `ValueError` for what is damaged."""
    if isinstance(stored, str):
        return stored
    inflating = zlib.decompressobj(zdict=_DICTIONARY)
    try:
        whole = inflating.decompress(stored, 4 * _LONGEST)
    except zlib.error as error:
        raise ValueError(f"Invalid packed text: {error}") from error
    if not inflating.eof or inflating.unused_data:
        raise ValueError("Invalid packed text: it has no end, or goes on after it.")
    return whole.decode()


_RANGE: Final = lazy_pattern(
    r"(?P<first>[0-9]{1,18})(?:-(?P<last>[0-9]{1,18})|=(?P<score>-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?))?"
)
ItemsRow = tuple[str, int, Packed]
"""The session, the number of the last item, and the items."""
_MAX_IN_ROW: Final = 100
MAX_ITEMS: Final = 1_000_000
"""Of one record: numbers that name more are damaged. No session has as many."""


# Up to the row that holds the last of them, whose number may be higher.
_ROWS: Final = """
    SELECT number, item FROM request_items WHERE session_id = ? AND number >= ?
        AND number <= (SELECT MIN (number) FROM request_items WHERE session_id = ? AND number >= ?)"""


def create_items_table(connection: sqlite3.Connection) -> None:
    """A migration. Records that list their items themselves stay as they are."""
    execute_all(
        connection,
        """CREATE TABLE request_items (
            session_id TEXT NOT NULL, number INTEGER NOT NULL, item TEXT NOT NULL, UNIQUE (session_id, number))""",
        """CREATE TRIGGER request_items_stay_as_written BEFORE UPDATE ON request_items
            BEGIN SELECT RAISE (ABORT, 'items are append-only'); END""",
    )


def pack_rows(connection: sqlite3.Connection) -> None:
    """A migration: from here on rows may be packed, and hold several items or contents. Those that are there stay."""
    execute_all(
        connection,
        """CREATE TRIGGER request_items_stay BEFORE DELETE ON request_items
            WHEN NOT EXISTS (SELECT 1 FROM doomed WHERE session_id = OLD.session_id)
            BEGIN SELECT RAISE (ABORT, 'items are append-only'); END""",
    )


def insert_items(connection: sqlite3.Connection, rows: Iterable[ItemsRow]) -> None:
    connection.executemany("INSERT INTO request_items VALUES (?, ?, ?)", rows)


class ItemWriter(Struct):
    """Numbers the items of one session. New ones have to be inserted in the transaction that writes the record."""

    session_id: str
    numbers: dict[str, int] = field(default_factory=dict)
    """By what is stored of an item."""
    following: int = 0
    """The number of the next new item."""
    new: list[str] = field(default_factory=list)
    """Items that are not stored yet, up to the number before the following."""

    def catch_up(self, connection: sqlite3.Connection) -> None:
        """Learn what is stored by now, by this process or others; forget what was not."""
        self.new.clear()
        (following,) = connection.execute(
            "SELECT COALESCE (MAX (number), -1) + 1 FROM request_items WHERE session_id = ?", (self.session_id,)
        ).fetchone()
        if following < self.following:
            self.numbers, self.following = {}, 0
        if following > self.following:
            rows = connection.execute(
                "SELECT number, item FROM request_items WHERE session_id = ? AND number >= ?",
                (self.session_id, self.following),
            )
            for last, stored in rows:
                self.numbers |= {text: number for number, text in _numbered(last, _texts_in(stored))}
        self.following = following

    def write(self, items: Sequence[RequestItem]) -> str:
        """The numbers of the items, and the scores that they had: `0-12,15=0.46`."""
        ranges: list[tuple[int, int, float | None]] = []
        for item in items:
            text, score = to_json(without_defaults(replace(item, score=None))), item.score
            if text not in self.numbers:
                self.numbers[text] = self.following
                self.new.append(text)
                self.following += 1
            number = self.numbers[text]
            if ranges and score is None and ranges[-1][1:] == (number - 1, None):
                ranges[-1] = (ranges[-1][0], number, None)
            else:
                ranges.append((number, number, score))
        return ",".join(_as_text(*each) for each in ranges)

    def new_rows(self) -> Iterator[ItemsRow]:
        """What has to be inserted of the new items."""
        first = self.following - len(self.new)
        for start in range(0, len(self.new), _MAX_IN_ROW):
            texts = self.new[start : start + _MAX_IN_ROW]
            text = f"[{','.join(texts)}]" if len(texts) > 1 else texts[0]
            yield self.session_id, first + start + len(texts) - 1, pack(text)


class ItemReader(Struct):
    connection: sqlite3.Connection
    session_id: str
    _items: dict[int, RequestItem | None] = field(default_factory=dict)
    """Those in the rows that were read; None for what is damaged or gone."""

    def read(self, numbers: str) -> tuple[RequestItem, ...]:
        """Without those that are damaged or gone."""
        found = ((self._loaded(first, last), score) for first, last, score in _ranges(numbers))
        # Items of earlier versions hold their scores themselves.
        return tuple(
            item if score is None else replace(item, score=score) for items, score in found for item in items if item
        )

    def _loaded(self, first: int, last: int) -> list[RequestItem | None]:
        wanted = range(first, last + 1)
        missing = [number for number in wanted if number not in self._items]
        if missing:
            self._items |= dict.fromkeys(missing)
            rows = self.connection.execute(_ROWS, (self.session_id, missing[0], self.session_id, missing[-1]))
            for number, stored in rows:
                self._items |= {at: _item_of(text) for at, text in _numbered(number, _texts_in(stored))}
        return [self._items[number] for number in wanted]


def _texts_in(stored: Packed) -> list[str]:
    """What each item of a row was stored as; of a damaged row nothing."""
    try:
        text = unpack(stored)
        return (
            [bytes(each).decode() for each in msgspec.json.decode(text, type=list[Raw])] if text[:1] == "[" else [text]
        )
    except ValueError:
        return []


def _numbered(last: int, texts: Sequence[str]) -> Iterable[tuple[int, str]]:
    return enumerate(texts, start=last - len(texts) + 1)


def _item_of(text: str) -> RequestItem | None:
    try:
        return from_plain(RequestItem, from_json(text))
    except ValueError:
        return None


def holds_items(stored: Packed) -> bool:
    """Whether this was stored of items, and all of them can be read."""
    texts = _texts_in(stored)
    return bool(texts) and all(map(_item_of, texts))


def _as_text(first: int, last: int, score: float | None) -> str:
    if score is not None and math.isfinite(score):
        return f"{first}={score}"
    return f"{first}-{last}" if last > first else str(first)


def _ranges(numbers: str) -> Iterator[tuple[int, int, float | None]]:
    """First and last of each range, and the score of a single one; of damaged numbers, those before the damage."""
    left = MAX_ITEMS
    for each in numbers.split(",") if numbers else ():
        found = _RANGE.fullmatch(each)
        if not found:
            return
        first, last = int(found["first"]), int(found["last"] or found["first"])
        left -= last - first + 1
        if left < 0 or last < first:
            return
        yield first, last, float(found["score"]) if found["score"] else None


_SEVERAL: Final = '{"kind":"content","bodies":['
"""How a row begins that holds several contents."""


class EntryRow(NamedTuple):
    """An entry as it lies in its table, or several contents: these have the place of the last of them."""

    session_id: str
    sequence: int
    kind: str
    role: str | None
    message_id: str | None
    parent_id: str | None
    title: str | None
    at: str
    body: Packed


def insert_session(connection: sqlite3.Connection, values: Mapping[str, object]) -> None:
    """Add a session without messages; a trigger counts those that are added."""
    columns, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
    connection.execute(f"INSERT INTO sessions ({columns}, message_count) VALUES ({marks}, 0)", values)  # noqa: S608


def insert_entries(connection: sqlite3.Connection, rows: Iterable[EntryRow]) -> None:
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def mark_deleted(connection: sqlite3.Connection, times: Mapping[str, str]) -> None:
    connection.executemany("INSERT OR IGNORE INTO doomed VALUES (?, ?)", times.items())


def session_of(row: Sequence[object]) -> Session:
    try:
        return from_plain(Session, dict(zip(Session.__struct_fields__, row, strict=True)))
    except ValueError as error:
        raise UnreadableRow from error


def entries_of(row: EntryRow, items: ItemReader | None = None) -> list[Entry]:
    """The entries of a row; what a newer zkchat wrote in a way that we do not understand comes as unknown ones.

    Without `items` request records come without theirs.
    """
    try:
        at, bodies = datetime.fromisoformat(row.at), _bodies_of(unpack(row.body), items)
        first = row.sequence - len(bodies) + 1
        return [
            Entry(session_id=row.session_id, sequence=number, at=at, body=body)
            for number, body in enumerate(bodies, start=first)
        ]
    except (ValueError, TypeError) as error:
        raise UnreadableRow from error


def _bodies_of(text: str, items: ItemReader | None) -> list[EntryBody]:
    holds_several = text.startswith(_SEVERAL)
    if not holds_several:
        try:
            return [read_body(from_json(text), items.read if items else None)]
        except InvalidValue:
            pass
    plain = from_json(text)
    return [_body_of(each, items) for each in (plain["bodies"] if holds_several else [plain])]


def _body_of(plain: Any, items: ItemReader | None) -> EntryBody:
    try:
        return read_body(plain, items.read if items else None)
    except InvalidValue:
        return UnknownEntry(fields={"kind": "unreadable", "original": plain})


def storable(body: EntryBody, items: ItemWriter | None = None) -> tuple[EntryBody, str]:
    """What can be kept of a body, which is nearly always all of it, and the same as it is written."""
    try:
        return body, to_json(stored_body(body, items.write) if items else to_plain(body))
    except UnicodeEncodeError:
        # Half of a surrogate pair, which UTF-8 cannot hold: better one replaced character than a lost message.
        text = json.dumps(to_plain(body), ensure_ascii=False)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return read_body(from_json(text)), text


class Storable(NamedTuple):
    sequence: int
    at: datetime
    body: EntryBody
    text: str


def rows_of(session_id: str, entries: Iterable[Storable]) -> Iterator[EntryRow]:
    """Entries as rows, in their order. Contents that came with one request share a row."""
    for _, group in groupby(
        entries, key=lambda each: (each.at, 0 if isinstance(each.body, ContentEntry) else each.sequence)
    ):
        together = [*group]
        sequence, at, body, text = together[-1]
        if len(together) > 1:
            text = f"{_SEVERAL}{','.join(each.text for each in together)}]}}"
        yield EntryRow(session_id, sequence, body.kind, *_columns_of(body), timestamp(at), pack(text))


def _columns_of(body: EntryBody) -> tuple[str | None, str | None, str | None, str | None]:
    """Role, message id, parent id and title, where there are any: what SQL needs to know of a body."""
    match body:
        case MessageEntry(message=message):
            return message.role, message.id, message.parent_id, None
        case DraftEntry():
            return "assistant", body.message_id, body.parent_id, None
        case HeadEntry() | PinEntry() | PriorityEntry() | ChangesEntry():
            return None, body.message_id, None, None
        case TitleEntry():
            return None, None, None, body.title
        case _:
            return None, None, None, None


def add_listing_columns(connection: sqlite3.Connection) -> None:
    """A migration: the columns, filled from the messages that are there. Sessions that exist are listed."""
    execute_all(
        connection,
        "ALTER TABLE sessions ADD COLUMN listed INTEGER NOT NULL DEFAULT 1",
        "ALTER TABLE sessions ADD COLUMN first_words TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE sessions ADD COLUMN model TEXT NOT NULL DEFAULT ''",
    )
    for (session_id,) in connection.execute("SELECT id FROM sessions").fetchall():
        ends = (_message(connection, session_id, "user", "ASC"), _message(connection, session_id, "assistant", "DESC"))
        update_listing(connection, session_id, [MessageEntry(message=message) for message in ends if message])


def _message(connection: sqlite3.Connection, session_id: str, role: str, order: str) -> ChatMessage | None:
    """The first or the last message of that role; None if there is none, or it cannot be read."""
    row = connection.execute(
        "SELECT body FROM entries WHERE session_id = ? AND kind = 'message' AND role = ? "  # noqa: S608
        f"ORDER BY sequence {order} LIMIT 1",
        (session_id, role),
    ).fetchone()
    with suppress(ValueError, KeyError, TypeError):
        return read_message(from_json(row[0])["message"])
    return None


def update_listing(connection: sqlite3.Connection, session_id: str, bodies: Iterable[EntryBody]) -> None:
    """Keep in the row of a session what these entries say; its first words are those of the first question."""
    first_words, model, listed = "", "", None
    for body in bodies:
        if isinstance(body, ListingEntry):
            listed = body.listed
        elif isinstance(body, MessageEntry) and body.message.role == "user":
            first_words = first_words or shorten(" ".join(body.message.text.split()), 200)
        elif isinstance(body, MessageEntry) and body.message.provider:
            model = f"{body.message.provider}:{body.message.model}".removesuffix(":")
    if first_words or model or listed is not None:
        connection.execute(
            """UPDATE sessions SET
                first_words = CASE first_words WHEN '' THEN ? ELSE first_words END,
                model = CASE ? WHEN '' THEN model ELSE ? END,
                listed = COALESCE (?, listed)
            WHERE id = ?""",
            (first_words, model, model, listed, session_id),
        )


class RecoveredRows(Struct):
    """The rows of all tables that could be read, the newest version of each."""

    sessions: dict[str, dict[str, object]] = field(default_factory=dict)
    entries: dict[tuple[str, int], EntryRow] = field(default_factory=dict)
    deleted: dict[str, str] = field(default_factory=dict)
    items: dict[tuple[str, int], Packed] = field(default_factory=dict)

    def read(self, database: Path) -> None:
        for row in read_rows(database):
            try:
                self._add(row)
            except ValueError:
                continue

    def _add(self, row: Row) -> None:
        """Keep a row that validates; its columns tell which table it is from. Older versions may have fewer."""
        match row:
            case (
                str(id_),
                int(sequence),
                str(kind),
                str() | None as role,
                str() | None as own,
                str() | None as parent,
                str() | None as title,
                str(at),
                str() | bytes() as body,
            ):
                entry = EntryRow(id_, sequence, kind, role, own, parent, title, at, body)
                entries_of(entry)
                self.entries.setdefault((entry.session_id, entry.sequence), entry)
            case (str(id_), str(), str(), str(), int(), *_):
                values: dict[str, object] = dict(zip(Session.__struct_fields__, row, strict=False))
                from_plain(Session, values)
                del values["message_count"]
                self.sessions.setdefault(id_, values)
            case (str(id_), int(number), str() | bytes() as item) if not item or holds_items(item):
                self.items.setdefault((id_, number), item)
            case (str(id_), str(at)):
                datetime.fromisoformat(at)
                self.deleted.setdefault(id_, at)

    def insert_into(self, connection: sqlite3.Connection) -> None:
        """Everything but the sessions that the user had deleted."""
        used = {entry.session_id: entry.at for _, entry in sorted(self.entries.items())}
        kept = [entry for entry in self.entries.values() if entry.session_id not in self.deleted]
        kept.sort(key=lambda entry: (used[entry.session_id], entry.session_id, entry.sequence))
        sessions = {id_: values for id_, values in self.sessions.items() if id_ not in self.deleted}
        for entry in kept:
            times = {"created_at": entry.at, "updated_at": entry.at}
            sessions.setdefault(entry.session_id, {"id": entry.session_id, "title": "", **times})
        for values in sessions.values():
            insert_session(connection, values)
        insert_entries(connection, kept)
        insert_items(connection, self._numbered_items(kept))
        mark_deleted(connection, self.deleted)

    def _numbered_items(self, kept: Sequence[EntryRow]) -> Iterator[ItemsRow]:
        """The items of the sessions. An empty row after them leaves room for all that may be lost, so that no new item
        gets a number that a record knows for another."""
        last = {entry.session_id: -1 for entry in kept}
        for (id_, number), items in sorted(self.items.items()):
            if id_ in last:
                yield id_, number, items
                last[id_] = number
        yield from ((id_, number + MAX_ITEMS, "") for id_, number in last.items())
