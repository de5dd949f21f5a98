"""The branches of a session: the conversations that its messages make up."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from zkchat.model.message import ChatMessage
from zkchat.model.session_history import History
from zkchat.model.text import shorten
from zkchat.model.thread import compaction_of
from zkchat.model.values import Value


class Branch(Value, frozen=True, kw_only=True):
    """One of the conversations that a session holds: all messages up to one that nothing follows."""

    number: int
    """From 1, in the order in which they were begun."""
    head: str
    """The id of its last message."""
    first_words: str
    """Of the first question that it does not share with another, else of whatever it does not share."""
    messages: int
    updated_at: datetime
    is_current: bool = False


def branches_of(history: History) -> list[Branch]:
    """The branches of a session. Where the conversation stands in the middle of one, none is the current one."""
    messages = history.messages
    children: dict[str | None, list[str]] = {}
    for message in messages.values():
        children.setdefault(message.parent_id if message.parent_id in messages else None, []).append(message.id)
    places = {id_: place for place, id_ in enumerate(messages)}
    paths = [_path_to(message, messages) for id_, message in messages.items() if id_ not in children]
    owns = [(path, _own_part(path, children)) for path in paths if path]
    owns.sort(key=lambda each: places[each[1][0].id])
    current = history.last.id if history.last else None
    return [
        Branch(
            number=number,
            head=path[-1].id,
            first_words=_first_words(own),
            messages=sum(compaction_of(message) is None for message in path),
            updated_at=path[-1].created_at,
            is_current=path[-1].id == current,
        )
        for number, (path, own) in enumerate(owns, start=1)
    ]


def _path_to(message: ChatMessage, messages: Mapping[str, ChatMessage]) -> list[ChatMessage]:
    """From the first message to this one, along their parents."""
    path = {message.id: message}
    while (parent := messages.get(message.parent_id or "")) and parent.id not in path:
        path[parent.id] = message = parent
    return [*reversed(path.values())]


def _own_part(path: Sequence[ChatMessage], children: Mapping[str | None, Sequence[str]]) -> Sequence[ChatMessage]:
    """The end of a path that no other branch shares."""
    parents = [None, *(message.id for message in path)]
    start = next((place for place in range(len(path) - 1, 0, -1) if len(children.get(parents[place], ())) > 1), 0)
    return path[start:]


def _first_words(own: Sequence[ChatMessage]) -> str:
    said = [message.text for message in own if message.role == "user" and message.text.strip()]
    said += [message.text for message in own if message.text.strip()]
    return shorten(" ".join(said[0].split()), 80) if said else ""
