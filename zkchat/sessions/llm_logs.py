"""The log of `llm` (its `logs.db`), old tables and new, as conversations with a role and a content for each message.

The file is not trusted: it is opened for reading only, views and virtual tables in it are not asked, nothing that a
path in it names is opened, and what is read is bounded.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

from zkchat.core import SessionError, StorageError
from zkchat.storage import open_read_only, require_regular_files, storage_errors

SIGNATURE: Final = b"SQLite format 3\0"
_MAX_CHARACTERS: Final = 200_000_000
_MAX_STEPS: Final = 20_000
"""How often SQLite may report that it has worked through another hundred thousand instructions."""

Row = Mapping[str, Any]
"""A row by the names of its columns; those that a table does not have are None."""
Message = dict[str, Any]

_TABLES: Final[Mapping[str, Sequence[str]]] = {
    "threads": ("id", "name", "tip_message_hash"),
    "turns": (
        *("id", "thread_id", "tip_message_hash", "model", "resolved_model", "input_tokens", "output_tokens"),
        "datetime_utc",
    ),
    "messages": ("hash", "parent_hash", "role"),
    "parts": ("message_hash", "position", "type", "tool_name", "text", "payload"),
    "fragments": ("id", "content"),
    "attachments": ("id", "type"),
    "conversations": ("id", "name", "model"),
    "responses": (
        *("id", "model", "resolved_model", "prompt", "system", "response", "reasoning", "conversation_id"),
        *("datetime_utc", "input_tokens", "output_tokens"),
    ),
    "tool_calls": ("response_id", "name", "arguments", "tool_call_id"),
    "tool_results": ("response_id", "name", "output", "tool_call_id", "exception"),
    "prompt_attachments": ("response_id", "attachment_id"),
    "prompt_fragments": ("response_id", "fragment_id"),
    "system_fragments": ("response_id", "fragment_id"),
}


def read_llm_logs(path: Path) -> list[Any]:
    """The conversations of a log, each with `id`, `title`, `messages` and `head`. Raises `SessionError`."""
    try:
        with storage_errors(path):
            require_regular_files(path)
            with closing(open_read_only(path)) as connection:
                budget = _Budget()
                connection.text_factory = lambda data: data.decode("utf-8", "replace")
                # A value may be so long, and SQLite may work so long.
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 64_000_000)
                steps = count(1)
                connection.set_progress_handler(lambda: next(steps) > _MAX_STEPS, 100_000)
                log = _Log({name: list(_rows(connection, name, budget)) for name in _TABLES})
    except StorageError as error:
        raise SessionError(
            f"The database cannot be read: {error.message}", hint="Is it a copy of llm's logs.db?"
        ) from error
    found = [*log.threads(), *log.conversations()]
    if not found:
        raise SessionError("The database has no conversations of llm.", hint="`llm logs path` prints where they are.")
    return found


class _Budget:
    def __init__(self) -> None:
        self._characters = _MAX_CHARACTERS
        self._rows = 2_000_000

    def take(self, values: Sequence[object]) -> None:
        self._rows -= 1
        self._characters -= sum(len(value) for value in values if isinstance(value, str | bytes))
        if self._characters < 0 or self._rows < 0:
            raise SessionError(f"The database has more than {_MAX_CHARACTERS // 1_000_000} MB of text.")


def _rows(connection: sqlite3.Connection, table: str, budget: _Budget) -> Iterator[Row]:
    """The rows of an ordinary table, as they were stored; none where there is no such table."""
    made = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    if made is None or not str(made[0]).upper().startswith("CREATE TABLE"):
        return
    there = {row[1] for row in connection.execute("SELECT * FROM pragma_table_info(?)", (table,))}
    columns = [name for name in _TABLES[table] if name in there]
    if not columns:
        return
    wanted = ", ".join(f'"{name}"' for name in columns)
    absent = dict.fromkeys(_TABLES[table])
    for values in connection.execute(f'SELECT {wanted} FROM "{table}"'):  # noqa: S608 - names of ours
        budget.take(values)
        texts = (value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values)
        yield {**absent, **dict(zip(columns, texts, strict=True))}


@dataclass
class _Log:
    tables: Mapping[str, Sequence[Row]]
    _parts: dict[str, list[Row]] = field(init=False)

    def __post_init__(self) -> None:
        self._messages = {row["hash"]: row for row in self.tables["messages"]}
        self._parts = _grouped(self.tables["parts"], "message_hash")
        self._fragments = {row["id"]: str(row["content"] or "") for row in self.tables["fragments"]}
        self._media_types = {row["id"]: str(row["type"] or "") for row in self.tables["attachments"]}

    def threads(self) -> Iterator[Any]:
        """The conversations of newer versions: chains of messages that turns point at."""
        named = {row["id"]: row for row in self.tables["threads"]}
        turns = sorted(self.tables["turns"], key=lambda row: str(row["id"]))
        for id_, own in _grouped(turns, "thread_id", otherwise="id").items():
            messages: dict[str, Message] = {}
            for turn in own:
                self._add_turn(turn, messages)
            thread = named.get(id_, {})
            if messages:
                head = thread.get("tip_message_hash") or own[-1]["tip_message_hash"]
                yield {"id": id_, "title": thread.get("name"), "head": head, "messages": [*messages.values()]}

    def _add_turn(self, turn: Row, messages: dict[str, Message]) -> None:
        chain: list[Row] = []
        seen: set[str] = set()
        at = turn["tip_message_hash"]
        while at in self._messages and at not in messages and at not in seen:
            seen.add(at)
            chain.append(self._messages[at])
            at = self._messages[at]["parent_hash"]
        for row in reversed(chain):
            messages[row["hash"]] = {
                "id": row["hash"],
                "parent": row["parent_hash"],
                "role": row["role"],
                "content": [self._part(part) for part in self._in_order(row["hash"])],
                "timestamp": turn["datetime_utc"],
                **(_origin(turn) if row["role"] == "assistant" else {}),
            }

    def _in_order(self, message: str) -> list[Row]:
        return sorted(
            self._parts.get(message, []), key=lambda row: row["position"] if type(row["position"]) is int else 0
        )

    def _part(self, row: Row) -> dict[str, Any]:
        payload = _object(row["payload"])
        if isinstance(pieces := payload.get("text_ref"), list):
            payload["text"] = "".join(self._piece(piece) for piece in pieces if isinstance(piece, dict))
        if row["text"] is not None:
            payload["text"] = row["text"]
        if row["type"] == "attachment":
            named = payload.get("attachment")
            return self._attachment(named.get("id") if isinstance(named, dict) else None)
        return {**payload, "type": row["type"], "name": payload.get("name") or row["tool_name"]}

    def _piece(self, piece: Mapping[str, Any]) -> str:
        fragment = piece.get("fragment")
        return str(piece.get("literal") or self._fragments.get(fragment if isinstance(fragment, int) else None, ""))

    def _attachment(self, id_: object) -> dict[str, Any]:
        media_type = self._media_types.get(id_, "") if isinstance(id_, str) else ""
        family = media_type.partition("/")[0]
        return {"type": family if family in ("image", "audio", "video") else "file"}

    def conversations(self) -> Iterator[Any]:
        """The conversations of older versions: pairs of a prompt and a response."""
        newer = {row["thread_id"] for row in self.tables["turns"]} | {row["id"] for row in self.tables["turns"]}
        named = {row["id"]: row for row in self.tables["conversations"]}
        responses = sorted(self.tables["responses"], key=lambda row: str(row["id"]))
        details = {
            name: _grouped(self.tables[name], "response_id")
            for name in ("tool_calls", "tool_results", "prompt_attachments", "prompt_fragments", "system_fragments")
        }
        for id_, own in _grouped(responses, "conversation_id", otherwise="id").items():
            messages: list[Message] = []
            system = ""
            for row in own:
                if id_ in newer or row["id"] in newer:  # newer versions took these along
                    continue
                inner = {name: rows.get(row["id"], []) for name, rows in details.items()}
                instructions = self._joined(inner["system_fragments"], row["system"])
                if instructions != system:
                    messages.append({"role": "system", "content": instructions, "timestamp": row["datetime_utc"]})
                    system = instructions
                messages.extend(self._exchange(row, inner))
            if messages:
                name = named.get(id_, {})
                yield {"id": id_, "title": name.get("name"), "model": name.get("model"), "messages": messages}

    def _exchange(self, row: Row, inner: Mapping[str, Sequence[Row]]) -> Iterator[Message]:
        for result in inner["tool_results"]:
            yield {"role": "tool", **result, "content": result["output"] or "", "timestamp": row["datetime_utc"]}
        asked: list[Any] = [self._attachment(each["attachment_id"]) for each in inner["prompt_attachments"]]
        prompt = self._joined(inner["prompt_fragments"], row["prompt"])
        if prompt or asked:
            yield {"role": "user", "content": [prompt, *asked], "timestamp": row["datetime_utc"]}
        yield {
            "role": "assistant",
            "thinking": row["reasoning"],
            "content": row["response"] or "",
            "tool_calls": [{**call, "arguments": call["arguments"] or "{}"} for call in inner["tool_calls"]],
            "timestamp": row["datetime_utc"],
            **_origin(row),
        }

    def _joined(self, fragments: Sequence[Row], text: object) -> str:
        pieces = [*(self._fragments.get(each["fragment_id"], "") for each in fragments), str(text or "")]
        return "\n".join(piece for piece in pieces if piece)


def _origin(row: Row) -> dict[str, Any]:
    usage = {"input_tokens": row["input_tokens"], "output_tokens": row["output_tokens"]}
    return {"model": row["resolved_model"] or row["model"], "usage": usage}


def _grouped(rows: Sequence[Row], by: str, otherwise: str = "") -> dict[Any, list[Row]]:
    groups: defaultdict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[by] or (row[otherwise] if otherwise else "")].append(row)
    return groups


def _object(text: object) -> dict[str, Any]:
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
