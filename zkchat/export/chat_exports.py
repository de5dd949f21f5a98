"""The exports of ChatGPT and Claude, and the sessions of zk-chat, in the common form of foreign conversations."""

from collections.abc import Iterator, Mapping
from typing import Final

from zkchat.export.foreign_messages import ForeignConversation
from zkchat.export.foreign_parts import list_of, object_of, text_at
from zkchat.export.session_json import Json

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
        parts = [{"type": "tool_call", "id": id_, "name": recipient, "arguments": _plain_text(parts)}]
    return {
        **common,
        "role": role,
        "name": None if role == "tool" else author.get("name"),
        "tool_name": author.get("name"),
        "tool_call_id": _caller_of(id_, nodes) if role == "tool" else None,
        "content": parts,
        "files": _unsent_files(list_of(metadata.get("attachments")), parts),
        "create_time": message.get("create_time"),
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


def _plain_text(parts: list[Json]) -> str:
    return "".join(part if isinstance(part, str) else text_at(object_of(part), "text") for part in parts)


def _unsent_files(attachments: list[Json], parts: list[Json]) -> list[Json]:
    """The attachments that are not among the parts: images stand there too."""
    shown = sum(isinstance(part, dict) for part in parts)
    images = [each for each in attachments if text_at(object_of(each), "mime_type", "mimeType").startswith("image/")]
    return [each for each in attachments if each not in images[:shown]]


def claude_conversation(value: Mapping[str, Json]) -> ForeignConversation:
    """A conversation of Claude's export."""
    return ForeignConversation(
        id=text_at(value, "uuid", "id"),
        title=text_at(value, "name", "title"),
        model=text_at(value, "model"),
        head=text_at(value, "current_leaf_message_uuid"),
        messages=[_claude_message(each) for each in list_of(value.get("chat_messages"))],
    )


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
    """A session of zk-chat's `chat_sessions.json`."""
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


def is_chatgpt(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


def is_claude(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


def is_session(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("messages"), list)


def is_zk_chat(value: Json) -> bool:
    """Whether this is a mapping of ids to sessions."""
    return isinstance(value, dict) and bool(value) and any(map(is_session, value.values()))
