"""The client of a session, and its user asked about changes to notes and calls of MCP servers."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

from acp import schema
from acp.helpers import start_tool_call, text_block, tool_content, tool_diff_content, update_tool_call

from zkchat.acp.agent import SessionClient
from zkchat.acp.updates import NotePlaces
from zkchat.chat import CallAnswer, ServerCall
from zkchat.core import TRASH, ChangeSet, ChangesReviewed, FileWrite, direct_moves, patch_of
from zkchat.hosting import cleaned
from zkchat.render import sanitize_line, sanitize_text
from zkchat.writing import Verdict, folders_of

YES: Final = "apply"
ALWAYS: Final = "apply-always"
NO: Final = "reject"
MAX_DIFF_BYTES: Final = 400_000
"""Of a file that is sent whole, before and after; of a larger one, the lines that change are."""
_MAX_PATCH_CHARS: Final = 100_000
_MAX_FOLDERS: Final = 2

Content = schema.ContentToolCallContent | schema.FileEditToolCallContent | schema.TerminalToolCallContent


class ClientChangeReviewer:
    """Implements `writing.review.ChangeReviewer`."""

    def __init__(self, client: SessionClient, places: NotePlaces) -> None:
        self._client = client
        self._places = places
        self._numbers = count(1)
        self._open_call = ""
        """The call that shows changes of which it is not known yet what became of them."""

    def review(
        self, changes: ChangeSet, *, remarks: Sequence[str] = (), may_always: bool = False, is_asked: bool = True
    ) -> Verdict:
        call_id = self._open_call = self._next_id()
        content: list[Content] = [*(_sentence(remark) for remark in remarks), *_contents(changes, self._places)]
        title, kind = sanitize_line(changes.title), _kind(changes)
        locations = [schema.ToolCallLocation(path=self._places.absolute(write.path)) for write in changes.writes]
        self._client.update_now(
            start_tool_call(call_id, title, kind=kind, status="pending", content=content, locations=locations)
        )
        if not is_asked:
            return Verdict(answer="no", changes=changes)
        call = schema.ToolCallUpdate(
            tool_call_id=call_id, title=title, kind=kind, status="pending", content=content, locations=locations
        )
        always = f"Apply, and do not ask again in {_folders(changes)} in this session" if may_always else ""
        chosen = self._client.ask(call, permissions("Apply", "Do not apply", always))
        if chosen not in {YES, ALWAYS}:
            return Verdict(answer="no" if chosen == NO else "stop", changes=changes)
        return Verdict(answer="yes", changes=changes, always=chosen == ALWAYS and may_always)

    def settled(self, event: ChangesReviewed) -> schema.ToolCallStart | schema.ToolCallProgress:
        """The call that showed the changes, at its end; one of its own for changes that needed no question."""
        status: schema.ToolCallStatus = "completed" if event.decision == "applied" else "failed"
        call_id, self._open_call = self._open_call, ""
        if call_id:
            return update_tool_call(call_id, status=status)
        return start_tool_call(
            self._next_id(),
            sanitize_line(event.title),
            kind="edit",
            status=status,
            content=[_patch(event.diff)],
            locations=[schema.ToolCallLocation(path=self._places.absolute(path)) for path in event.paths],
        )

    def _next_id(self) -> str:
        return f"changes-{next(self._numbers)}"


class ClientCallReviewer:
    """Implements `tools.server_approval.CallReviewer`."""

    def __init__(self, client: SessionClient) -> None:
        self._client = client
        self._numbers = count(1)

    def review(self, call: ServerCall) -> CallAnswer:
        asked = schema.ToolCallUpdate(
            tool_call_id=f"server-call-{next(self._numbers)}",
            title=sanitize_line(call.title),
            kind="other",
            status="pending",
            content=[_sentence(call.warning)] if call.warning else None,
            raw_input=cleaned(dict(call.arguments)),
        )
        names = ("Allow in this session", "Always allow") if call.may_always else ("Allow once", "")
        chosen = self._client.ask(asked, permissions(names[0], "Do not allow", always=names[1]))
        if chosen == ALWAYS and call.may_always:
            return "always"
        return "yes" if chosen == YES else "no"


def permissions(yes: str, no: str, always: str = "") -> list[schema.PermissionOption]:
    """What a question of these answers offers."""
    offered: list[tuple[str, str, schema.PermissionOptionKind]] = [
        (YES, yes, "allow_once"),
        (ALWAYS, always, "allow_always"),
        (NO, no, "reject_once"),
    ]
    return [schema.PermissionOption(option_id=id_, name=name, kind=kind) for id_, name, kind in offered if name]


def _folders(changes: ChangeSet) -> str:
    names = [f"{sanitize_line(folder)}/" if folder else "the top folder" for folder in folders_of(changes)]
    shown = ", ".join(names[:_MAX_FOLDERS])
    return f"{shown} and {len(names) - _MAX_FOLDERS} more" if len(names) > _MAX_FOLDERS else shown


def _kind(changes: ChangeSet) -> schema.ToolKind:
    if any(move.target.startswith(f"{TRASH}/") for move in changes.moves):
        return "delete"
    return "move" if changes.moves and not changes.writes else "edit"


def _contents(changes: ChangeSet, places: NotePlaces) -> Iterator[Content]:
    for move in direct_moves(changes):
        yield _sentence(f"{move.source} → {move.target}")
    for write in changes.writes:
        yield _content(changes, write, places)


def _content(changes: ChangeSet, write: FileWrite, places: NotePlaces) -> Content:
    if len(write.before or b"") + len(write.after) > MAX_DIFF_BYTES:
        return _patch(patch_of(ChangeSet(title=changes.title, writes=(write,))))
    before = None if write.before is None else write.before.decode(errors="replace")
    return tool_diff_content(places.absolute(write.path), write.after.decode(errors="replace"), before)


def _sentence(text: str) -> schema.ContentToolCallContent:
    return tool_content(text_block(sanitize_line(text)))


def _patch(diff: str) -> schema.ContentToolCallContent:
    text = diff.encode(errors="replace").decode()
    more = "\n…" if len(text) > _MAX_PATCH_CHARS else ""
    return tool_content(text_block(f"````diff\n{sanitize_text(text[:_MAX_PATCH_CHARS])}{more}\n````"))
