"""Import of sessions: our own JSON, exports of other programs, and lists of messages with a role and a content."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.core import (
    ChatMessage,
    EntryBody,
    HeadEntry,
    ImagePart,
    InvalidValue,
    Json,
    MessageEntry,
    SessionError,
    TitleEntry,
    explain,
    read_entry,
    shorten,
)
from zkchat.sessions.foreign_messages import ConversationReader, ForeignConversation, derived_id
from zkchat.sessions.foreign_parts import Tally, list_of, object_of, text_at
from zkchat.sessions.note_export import VERSION

_SUMMARY: Final = "[Previous conversation summary]: "
"""How zk-chat marks the message that stands for earlier ones."""


def chatgpt_conversation(value: Mapping[str, Json]) -> ForeignConversation:
    """A conversation of ChatGPT's export: a tree of nodes, one of them the current one."""
    nodes = {id_: node for id_, node in object_of(value.get("mapping")).items() if isinstance(node, dict)}
    return ForeignConversation(
        id=text_at(value, "conversation_id", "id"),
        title=text_at(value, "title"),
        model=text_at(value, "default_model_slug"),
        head=text_at(value, "current_node"),
        messages=[_chatgpt_message(id_, nodes) for id_ in _in_order(nodes)],
    )


def _in_order(nodes: Mapping[str, Mapping[str, Json]]) -> Iterator[str]:
    """The nodes of a tree, each after its parent; those that no root leads to follow at the end."""
    seen: set[str] = set()
    roots = [id_ for id_, node in nodes.items() if node.get("parent") not in nodes]
    for root in (*roots, *nodes):
        waiting = [root]
        while waiting:
            id_ = waiting.pop()
            if id_ in seen or id_ not in nodes:
                continue
            seen.add(id_)
            yield id_
            children = list_of(nodes[id_].get("children"))
            waiting.extend(child for child in reversed(children) if isinstance(child, str))


def _chatgpt_message(id_: str, nodes: Mapping[str, Mapping[str, Json]]) -> dict[str, Json]:
    node = nodes[id_]
    message = node.get("message")
    common: dict[str, Json] = {"id": id_, "parent": node.get("parent")}
    if not isinstance(message, dict):
        return {**common, "role": "system", "content": ""}
    author, content, metadata = (object_of(message.get(key)) for key in ("author", "content", "metadata"))
    recipient = text_at(message, "recipient")
    role = author.get("role")
    parts = _chatgpt_content(content)
    if role == "assistant" and recipient not in ("", "all"):
        said = "".join(part if isinstance(part, str) else text_at(object_of(part), "text") for part in parts)
        parts = [{"type": "tool_call", "id": id_, "name": recipient, "arguments": said}]
    # Images among the attachments stand among the parts too.
    attached, shown = list_of(metadata.get("attachments")), sum(isinstance(part, dict) for part in parts)
    images = [each for each in attached if text_at(object_of(each), "mime_type", "mimeType").startswith("image/")]
    return {
        **common,
        "role": role,
        "name": None if role == "tool" else author.get("name"),
        "tool_name": author.get("name"),
        "tool_call_id": _caller_of(id_, nodes) if role == "tool" else None,
        "content": parts,
        "files": [each for each in attached if each not in images[:shown]],
        "create_time": message.get("create_time"),
        "status": message.get("status"),
        "finish_details": metadata.get("finish_details"),
        "model": metadata.get("model_slug"),
    }


def _caller_of(id_: str, nodes: Mapping[str, Mapping[str, Json]]) -> Json:
    """The node of the call that a tool's message answers: the nearest before it that is not from a tool."""
    seen: set[str] = set()
    while id_ not in seen:
        seen.add(id_)
        match nodes.get(id_):
            case {"parent": str(parent), "message": {"author": {"role": "tool"}}}:
                id_ = parent
    return id_


def _chatgpt_content(content: Mapping[str, Json]) -> list[Json]:
    kind, parts = text_at(content, "content_type"), content.get("parts")
    if isinstance(parts, list):
        return [part for part in parts if part != ""]
    match kind:
        case "code" | "execution_output" | "tether_quote" | "sonic_webpage" | "system_error":
            return [{"type": "text", "text": text_at(content, "text")}]
        case "tether_browsing_display":
            return [{"type": "text", "text": text_at(content, "result", "summary")}]
        case "thoughts":
            return [{"type": "thoughts", "thoughts": content.get("thoughts")}]
        case _:
            return [{**content, "type": kind or "unknown"}]


def _claude_message(value: Json) -> Json:
    """The typed content counts; the plain text beside it holds placeholders for what it leaves out."""
    if not isinstance(value, dict):
        return value
    known = {text_at(each, "file_name") for each in list_of(value.get("attachments")) if isinstance(each, dict)}
    files = list_of(value.get("files"))
    return {
        **value,
        "content": value.get("content") or value.get("text"),
        "files": [each for each in files if not (isinstance(each, dict) and text_at(each, "file_name") in known)],
    }


def zk_chat_conversation(id_: str, value: Mapping[str, Json]) -> ForeignConversation:
    return ForeignConversation(
        id=id_,
        title=text_at(value, "title", "name"),
        messages=[_zk_chat_message(each, value) for each in list_of(value.get("messages"))],
        has_local_times=True,
    )


def _zk_chat_message(value: Json, session: Mapping[str, Json]) -> Json:
    if not isinstance(value, dict):
        return value
    content = value.get("content")
    if value.get("role") == "system" and isinstance(content, str) and content.startswith(_SUMMARY):
        value = {**value, "content": [{"type": "compaction", "content": content.removeprefix(_SUMMARY)}]}
    has_time = value.get("timestamp") is not None
    return value if has_time else {**value, "timestamp": session.get("created_at")}


_TITLE_LENGTH: Final = 60
_MAX_TITLE_LENGTH: Final = 200
EXPECTED: Final = (
    "zkchat imports the JSON of `zkchat context export`, the exports of ChatGPT and Claude (also as they come, in a "
    ".zip), zk-chat's chat_sessions.json, llm's logs.db, and lists of messages: "
    '[{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]'
)


class Imported(Struct, frozen=True):
    """A conversation that was read and is not stored yet."""

    key: str
    """The same whenever this conversation is read: of its id where it came from, else of its content."""
    bodies: Sequence[EntryBody]

    @property
    def messages(self) -> dict[str, ChatMessage]:
        return {body.message.id: body.message for body in self.bodies if isinstance(body, MessageEntry)}

    @property
    def message_count(self) -> int:
        return len(self.messages)

    @property
    def title(self) -> str:
        return next((body.title for body in reversed(self.bodies) if isinstance(body, TitleEntry)), "")

    @property
    def last_time(self) -> datetime:
        return max(message.created_at for message in self.messages.values())

    def bodies_for(self, session_id: str) -> list[EntryBody]:
        return [
            MessageEntry(message=replace(body.message, session_id=session_id))
            if isinstance(body, MessageEntry)
            else body
            for body in self.bodies
        ]


class ImportedFile(Struct, frozen=True):
    form: str
    """What kind of file it is, to be named to the user."""
    conversations: Sequence[Imported]
    tally: Tally = field(default_factory=Tally)


class _Candidate(Struct, frozen=True):
    """One conversation of a file, as yet unread; `entries` are those of our own export."""

    form: str
    name: str
    foreign: ForeignConversation | None = None
    entries: Mapping[str, Json] | None = None


def read_conversations(text: str, *, now: datetime) -> ImportedFile:
    """All conversations in a text that is JSON, or JSON line by line. Raises `SessionError` if there is none."""
    return read_value(_parsed(text), now=now)


def read_value(value: Json, *, now: datetime, form: str = "") -> ImportedFile:
    """All conversations of parsed JSON; one that cannot be read does not stop the others."""
    candidates = _candidates(value)
    tally = Tally()
    read: dict[str, Imported] = {}
    for number, candidate in enumerate(candidates, start=1):
        inner = Tally()
        try:
            imported = _imported(candidate, now, inner)
        except SessionError as error:
            if len(candidates) == 1:
                raise
            tally.leave_out_conversation(f"{_name(number, candidate)}: {error.message}")
            continue
        except RecursionError:
            tally.leave_out_conversation(f"{_name(number, candidate)}: Its JSON is nested too deeply.")
            continue
        name = _name(number, candidate)
        tally.include(inner, name if len(candidates) > 1 else "")
        _add(read, imported, tally, name)
    if not read:
        reason = f"None of its conversations can be read. {tally.conversations[0]}" if tally.conversations else ""
        raise SessionError(reason or "It has no messages.", hint=EXPECTED)
    in_order = sorted(read.values(), key=lambda each: each.last_time)
    forms = dict.fromkeys(candidate.form for candidate in candidates if candidate.form)
    return ImportedFile(form or " and ".join(forms), in_order, tally)


def _add(found: dict[str, Imported], imported: Imported, tally: Tally, name: str) -> None:
    """Add a conversation to those of the file, by key; one that is there already word for word is left out."""
    other = found.get(imported.key)
    if other is None:
        found[imported.key] = imported
    elif [*other.messages] == [*imported.messages]:
        tally.leave_out_conversation(f"{name}: It is in the file twice.")
    else:  # two conversations with one id
        _add(found, replace(imported, key=derived_id(imported.key, [*imported.messages])), tally, name)


def _parsed(text: str) -> Json:
    text = text.removeprefix("\ufeff")
    try:
        try:
            value: Json = json.loads(text)
        except json.JSONDecodeError as error:
            if (lines := _json_lines(text)) is not None:
                return lines
            place = f"line {error.lineno}, column {error.colno}"
            raise SessionError(f"The file is not JSON: {error.msg} at {place}.", hint=EXPECTED) from error
    except (ValueError, RecursionError) as error:
        raise SessionError("The file is nested too deeply, or has a number too long to read.") from error
    return value


def _json_lines(text: str) -> list[Json] | None:
    """The values of a file with one of them on each line; None if it is no such file."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not lines[0].startswith("{"):
        return None
    try:
        return [json.loads(line) for line in lines]
    except json.JSONDecodeError:
        return None


def _candidates(value: Json) -> list[_Candidate]:
    if isinstance(value, list):
        return _candidates_in_list(value)
    if isinstance(value, dict):
        inner = value.get("conversations")
        if isinstance(inner, list) and any(map(_candidate, inner)):
            return _candidates_in_list(inner)
        if candidate := _candidate(value):
            return [candidate]
        sessions = inner if isinstance(inner := value.get("sessions"), dict) else value
        if any(_holds_list(each, "messages") for each in sessions.values()):
            named = {id_: each for id_, each in sessions.items() if isinstance(each, dict)}
            return [_Candidate("zk-chat sessions", id_, zk_chat_conversation(id_, each)) for id_, each in named.items()]
    raise SessionError("The file is JSON, but has no conversation.", hint=EXPECTED)


def _candidates_in_list(values: list[Json]) -> list[_Candidate]:
    found = [_candidate(each) for each in values]
    if any(found):
        return [each or _Candidate("", _title_of(object_of(value))) for each, value in zip(found, values, strict=True)]
    is_nested = bool(values) and all(isinstance(each, list) for each in values)
    listed = map(list_of, values) if is_nested else [values]
    return [_Candidate("list of messages", "", ForeignConversation(messages=each)) for each in listed]


def _holds_list(value: Json, key: str) -> bool:
    return isinstance(value, dict) and isinstance(value.get(key), list)


def _candidate(value: Json) -> _Candidate | None:
    """None for what is no conversation."""
    if not isinstance(value, dict):
        return None
    title = _title_of(value)
    if _holds_list(value, "entries"):
        return _Candidate("zkchat export", title, entries=value)
    if isinstance(value.get("mapping"), dict):
        return _Candidate("ChatGPT export", title, chatgpt_conversation(value))
    if _holds_list(value, "chat_messages"):
        conversation = ForeignConversation(
            id=text_at(value, "uuid", "id"),
            title=text_at(value, "name", "title"),
            model=text_at(value, "model"),
            head=text_at(value, "current_leaf_message_uuid"),
            messages=[_claude_message(each) for each in list_of(value.get("chat_messages"))],
        )
        return _Candidate("Claude export", text_at(value, "name"), conversation)
    messages = _messages_of(value)
    if messages is None:
        return None
    told: Json = text_at(value, "system", "instructions")
    return _Candidate(
        "list of messages",
        title,
        ForeignConversation(
            messages=[{"role": "system", "content": told}, *messages] if told else messages,
            id=text_at(value, "id", "uuid", "conversation_id", "session_id")
            or text_at(object_of(value.get("session")), "id"),
            title=title,
            model=text_at(value, "model"),
            head=text_at(value, "head"),
        ),
    )


def _messages_of(value: dict[str, Json]) -> list[Json] | None:
    """The messages of an object that holds some, under one of the usual names."""
    if _holds_list(value, "messages"):
        return [*list_of(value.get("messages"))]
    if isinstance(value.get("input"), list) or isinstance(value.get("output"), list):
        return [*list_of(value.get("input")), *list_of(value.get("output"))]
    return next((found for key in ("contents", "conversations", "history") if (found := list_of(value.get(key)))), None)


def _imported(candidate: _Candidate, now: datetime, tally: Tally) -> Imported:
    if candidate.entries is not None:
        entries = list_of(candidate.entries.get("entries"))
        imported = Imported(derived_id("zkchat", entries), _own_bodies(candidate.entries, entries, now))
    elif candidate.foreign is not None:
        imported = _foreign(candidate.foreign, now, tally)
    else:
        raise SessionError("It is not a conversation.")
    if not imported.message_count:
        nothing = "; ".join(["It has no messages that can be read", *tally.phrases()]) + "."
        raise SessionError(tally.messages[0] if tally.messages else nothing, hint=EXPECTED)
    return imported


def _foreign(conversation: ForeignConversation, now: datetime, tally: Tally) -> Imported:
    key = derived_id("foreign", conversation.id or [conversation.title, *conversation.messages])
    reader = ConversationReader(conversation, now, tally, key)
    messages, head = reader.read(), reader.head
    title = shorten(" ".join(conversation.title.split()), _MAX_TITLE_LENGTH)
    # Else one is made of the first message of the user.
    said = next((message.text for message in messages if message.role == "user" and message.text.strip()), "")
    return Imported(
        key,
        [
            TitleEntry(title=title or shorten(" ".join(said.split()), _TITLE_LENGTH)),
            *(MessageEntry(message=message) for message in messages),
            *([HeadEntry(message_id=head)] if head and messages and head != messages[-1].id else []),
        ],
    )


def _own_bodies(value: Mapping[str, Json], entries: Sequence[Json], now: datetime) -> list[EntryBody]:
    version = value.get("version", VERSION)
    if not isinstance(version, int) or version > VERSION:
        raise SessionError("A newer zkchat wrote this file.", hint="Update zkchat and import it again.")
    bodies: list[EntryBody] = []
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise SessionError(
                f"Entry {number} of the file is no conversation.", hint="Is it the file that you exported?"
            )
        try:
            read = read_entry({"sequence": number, "at": now, **entry, "session_id": ""})
        except InvalidValue as error:
            raise SessionError(f"Entry {number} of the file cannot be used: {explain(error)}.") from error
        bodies.append(_without_files(read.body))
    return bodies


def _without_files(body: EntryBody) -> EntryBody:
    """The entry without the places of images outside a vault: they are another machine's, or a stranger's guess."""
    if not isinstance(body, MessageEntry):
        return body
    named = {"file": "", "digest": ""}
    parts = tuple(
        replace(part, **named) if isinstance(part, ImagePart) and part.file else part for part in body.message.parts
    )
    return body if parts == body.message.parts else MessageEntry(message=replace(body.message, parts=parts))


def _title_of(value: Mapping[str, Json]) -> str:
    titles = (text_at(object_of(value.get("session")), "title"), text_at(value, "title"))
    return next((title for title in titles if title.strip()), "")


def _name(number: int, candidate: _Candidate) -> str:
    title = shorten(" ".join(candidate.name.split()), _TITLE_LENGTH)
    return f"{number} (“{title}”)" if title else str(number)


def merged(files: Iterator[ImportedFile]) -> ImportedFile:
    """The conversations of several files as of one."""
    tally, forms, found = Tally(), dict[str, None](), dict[str, Imported]()
    for file in files:
        forms[file.form] = None
        tally.include(file.tally)
        for each in file.conversations:
            _add(found, each, tally, f"“{each.title}”")
        for sentence in file.tally.conversations:
            tally.leave_out_conversation(sentence)
    return ImportedFile(" and ".join(forms), sorted(found.values(), key=lambda each: each.last_time), tally)
