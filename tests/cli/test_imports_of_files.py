"""`zkchat context import` of files as they come: archives, databases, files imported again."""

import io
import json
import os
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import Result, World

TALK = {"uuid": "c-1", "name": "Sleep", "chat_messages": [{"uuid": "m1", "sender": "human", "text": "How long?"}]}
ANSWER = {"uuid": "m2", "sender": "assistant", "text": "Seven hours."}
GROWN = {**TALK, "chat_messages": [*TALK["chat_messages"], ANSWER]}


def imported(world: World, content: Any, *options: str, name: str = "talk.json") -> Result:
    world.note(name, content if isinstance(content, bytes) else json.dumps(content))
    return world.run("context", "import", name, *options)


def archive(**files: Any) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    return data.getvalue()


def damaged_archive() -> bytes:
    """Packed by another method than most are, with bytes in the middle that cannot be unpacked."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_LZMA) as made:
        made.writestr("conversations.json", "[1, 2, 3]" * 100)
    content = bytearray(data.getvalue())
    content[70:75] = b"\xff" * 5
    return bytes(content)


def texts(world: World, session: str) -> list[str]:
    shown = world.run("context", "export", session).json["messages"]
    return ["".join(part.get("text", "") for part in message["parts"]) for message in shown]


def sessions(world: World) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.run("sessions", "list", "--all", "--json").json
    return found


def test_all_conversations_are_stored_with_their_own_times(world: World) -> None:
    other = {
        "uuid": "c-2",
        "name": "Light",
        "chat_messages": [{"sender": "human", "text": "Why?", "created_at": "2025-01-02"}],
    }
    result = imported(world, [GROWN, other, {"uuid": "c-3", "name": "Empty", "chat_messages": []}])
    assert result.code == 0
    assert [line.split("  ", 1)[1] for line in result.out.splitlines()] == ["1 message  Light", "2 messages  Sleep"]
    assert result.err == (
        "Claude export: 2 conversations, 3 messages; 1 conversation left out.\n  3 (“Empty”): It has no messages "
        "that can be read.\n"
    )
    light = next(each for each in sessions(world) if each["title"] == "Light")
    assert light["created_at"].startswith(light["updated_at"][:10])
    assert light["updated_at"].startswith("2025-01-02")


def test_an_export_is_read_inside_its_archive(world: World) -> None:
    data = archive(**{"folder/conversations.json": [TALK], "users.json": [{"name": "Ann"}], "../../evil.json": [GROWN]})
    result = imported(world, data, "--json", name="export.zip")
    assert (result.json["form"], result.json["messages"]) == ("Claude export", 1)
    assert not (world.vault.parent / "evil.json").exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (archive(**{"a.json": [], "b.json": []}), "export.zip: The .zip has no conversations.json."),
        (archive(**{"conversations.json": [GROWN]})[:80], "export.zip: The .zip cannot be read"),
        (damaged_archive(), "export.zip: The .zip cannot be read: Corrupt input data."),
        (b"SQLite format 3\0" + b"x" * 500, "export.zip: The database cannot be read"),
    ],
)
def test_an_archive_or_database_that_cannot_be_read_is_told(world: World, content: bytes, told: str) -> None:
    result = imported(world, content, name="export.zip")
    assert result.code == 5
    assert told in result.err
    assert sessions(world) == []


def test_more_than_is_read_at_once_is_refused_also_when_it_is_packed_small(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zkchat.app.imports.MAX_BYTES", 100_000)
    bomb = archive(**{"conversations.json": b"[" + b" " * 1_000_000 + b"]"})
    assert len(bomb) < 5_000
    for content, name in ((bomb, "bomb.zip"), (b" " * 100_001, "large.json")):
        result = imported(world, content, name=name)
        assert (result.code, "has more than" in result.err, "jq" in result.err) == (5, True, True)


def test_what_is_no_regular_file_is_not_waited_for(world: World) -> None:
    os.mkfifo(world.vault / "pipe.json")
    result = world.run("context", "import", "pipe.json")
    assert (result.code, "not a regular file" in result.err) == (2, True)


def test_a_dry_run_stores_nothing(world: World) -> None:
    result = imported(world, [GROWN], "--dry-run")
    assert result.out == "-  2 messages  Sleep\n"
    assert result.err == "Claude export: 1 conversation, 2 messages; nothing was stored, as this is a dry run.\n"
    assert sessions(world) == []
    assert imported(world, [GROWN], "--dry-run", "--json").json["conversations"][0]["state"] == "new"


def test_a_file_imported_again_is_stored_once_and_extended_by_what_is_new(world: World) -> None:
    session = imported(world, [TALK], "--json").json["session"]
    assert "1 conversation extended by 1 message." in imported(world, [GROWN]).err
    again = imported(world, [GROWN])
    assert again.err == "Claude export: 1 conversation, 2 messages; 1 conversation imported before.\n"
    assert [each["id"] for each in sessions(world)] == [session]
    assert texts(world, session) == ["How long?", "Seven hours."]


def test_what_names_a_private_note_stays_here_with_all_that_follows(world: World) -> None:
    world.note("Secret.md", "---\nzkchat: local\n---\nQuoll\n")
    answer = {"role": "assistant", "content": "Quoll.", "references": [{"wikilink": "", "relative_path": "Secret.md"}]}
    asked = [{"role": "user", "content": text} for text in ("Hi", "And?")]
    session = imported(world, [asked[0], answer, asked[1]], "--json").json["session"]
    shown = world.run("context", "export", session).json["messages"]
    assert [message.get("local", False) for message in shown] == [False, True, True]


def test_what_was_said_here_since_stays_where_it_is(world: World) -> None:
    session = imported(world, [TALK], "--json").json["session"]
    world.run("ask", "And children?", "--session", session, "--model", world.script([{"text": "Ten."}]))
    imported(world, [GROWN])
    assert texts(world, session) == ["How long?", "And children?", "Ten."]


def test_another_conversation_with_the_same_id_is_another_session(world: World) -> None:
    first = imported(world, {"id": "1", "messages": [{"role": "user", "content": "A"}]}, "--json").json["session"]
    second = imported(world, {"id": "1", "messages": [{"role": "user", "content": "B"}]}, "--json").json["session"]
    assert first != second
    assert (texts(world, first), texts(world, second)) == (["A"], ["B"])


# llm's log

NEW_TABLES = """
    CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT);
    CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT,
        model TEXT, resolved_model TEXT, input_tokens INTEGER, output_tokens INTEGER, datetime_utc TEXT);
    CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
    CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT,
        text TEXT, payload TEXT);
    CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT);
    CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
    INSERT INTO threads VALUES ('t1', 'Sleep', 'h4', NULL, '');
    INSERT INTO turns VALUES ('u1', 't1', NULL, 'h2', 'alias', 'gpt-5', 10, 5, '2026-02-01 10:00:00+00:00');
    INSERT INTO turns VALUES ('u2', 't1', 'h2', 'h4', 'alias', NULL, 20, 6, '2026-02-02 10:00:00+00:00');
    INSERT INTO messages VALUES ('h1', NULL, 'user', NULL), ('h2', 'h1', 'assistant', NULL), ('h3', 'h2', 'tool', NULL),
        ('h4', 'h3', 'assistant', NULL);
    INSERT INTO parts (message_hash, position, type, tool_name, text, payload) VALUES
        ('h1', 0, 'text', NULL, NULL, '{"text_ref": [{"fragment": 1}, {"literal": " How long?"}]}'),
        ('h1', 1, 'attachment', NULL, NULL, '{"attachment": {"id": "x"}}'),
        ('h2', 1, 'tool_call', 'find', NULL, '{"name": "find", "arguments": {"q": 1}, "tool_call_id": "c1"}'),
        ('h2', 0, 'reasoning', NULL, 'Hm.', NULL),
        ('h3', 0, 'tool_result', 'find', NULL, '{"name": "find", "output": "7 h", "tool_call_id": "c1"}'),
        ('h4', 0, 'text', NULL, 'Seven.', NULL);
    INSERT INTO fragments VALUES (1, 'f', 'A page.');
    INSERT INTO attachments VALUES ('x', 'image/png', '/etc/hostname', NULL, NULL);
"""

OLD_TABLES = """
    CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
    CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT,
        options_json TEXT, response TEXT, response_json TEXT, conversation_id TEXT,
        duration_ms INTEGER, datetime_utc TEXT);
    CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, arguments TEXT,
        tool_call_id TEXT);
    CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, output TEXT,
        tool_call_id TEXT);
    INSERT INTO conversations VALUES ('c1', 'Light', 'gpt-4o');
    INSERT INTO responses VALUES
        ('r1', 'gpt-4o', 'Why?', 'Be brief.', NULL, NULL, '', NULL, 'c1', 9, '2024-01-01T10:00:00'),
        ('r2', 'gpt-4o', '', 'Be brief.', NULL, NULL, 'So.', NULL, 'c1', 9, '2024-01-01T10:00:01'),
        ('u2', 'gpt-4o', 'Taken along?', '', NULL, NULL, 'Yes.', NULL, 'c9', 9, '2024-01-01T10:00:02'),
        ('r9', 'gpt-4o', 'Taken along?', '', NULL, NULL, 'Yes.', NULL, 't1', 9, '2024-01-01T10:00:03');
    INSERT INTO tool_calls VALUES (1, 'r1', 1, 'find', '{"q": 1}', 'c1');
    INSERT INTO tool_results VALUES (1, 'r2', 1, 'find', '3', 'c1');
"""


def log(world: World, script: str) -> Path:
    file = world.vault / "logs.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(script)
    return file


def test_the_log_of_llm_is_read_in_both_of_its_forms(world: World) -> None:
    file = log(world, NEW_TABLES + OLD_TABLES)
    before = file.read_bytes()
    result = world.run("context", "import", "logs.db")
    assert [line.split("  ", 1)[1] for line in result.out.splitlines()] == ["5 messages  Light", "4 messages  Sleep"]
    assert result.err == "llm log: 2 conversations, 9 messages; 1 part left out: 1 image.\n"
    light, sleep = (line.split()[0] for line in result.out.splitlines())
    assert texts(world, light) == ["Be brief.", "Why?", "", "3", "So."]
    assert texts(world, sleep) == ["A page. How long?", "Hm.", "7 h", "Seven."]
    answer = world.run("sessions", "show", sleep, "--json").json["messages"][1]
    assert (answer["model"], answer["created_at"], answer["usage"]["prompt_tokens"]) == (
        "gpt-5",
        "2026-02-01T10:00:00Z",
        10,
    )
    assert file.read_bytes() == before
    assert sorted(each.name for each in world.vault.iterdir() if each.name.startswith("logs")) == ["logs.db"]


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE VIEW responses AS SELECT load_extension('x') AS id, 'p' AS prompt, 'r' AS response;",
        "CREATE VIRTUAL TABLE responses USING fts5 (id, prompt, response); INSERT INTO responses VALUES (1, 2, 3);",
        "CREATE TABLE notes (x)",
        "CREATE TABLE responses (other TEXT); INSERT INTO responses VALUES ('x')",
    ],
    ids=["view", "virtual-table", "other-tables", "other-columns"],
)
def test_views_and_foreign_tables_of_a_database_are_not_asked(world: World, schema: str) -> None:
    log(world, schema)
    result = world.run("context", "import", "logs.db")
    assert (result.code, "has no conversations of llm" in result.err) == (5, True)


def test_a_deleted_conversation_comes_back_when_it_is_imported_again(world: World) -> None:
    session = imported(world, [GROWN], "--json").json["session"]
    world.run("sessions", "delete", session, "--yes")
    again = imported(world, [GROWN], "--json").json["session"]
    assert again != session
    assert texts(world, again) == ["How long?", "Seven hours."]
    assert imported(world, [GROWN], "--json").json["conversations"][0]["state"] == "known"
