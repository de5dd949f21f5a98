"""Which conversations used which notes, and which notes are used most. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from msgspec import Struct, field

from zkchat.core import (
    DocumentReference,
    DocumentUse,
    Entry,
    Session,
    UsageConversation,
    UsageEdge,
    UsageGraph,
    UsedNote,
    messages_of,
)

MAX_NODES: Final = 2000


def note_uses(session: Session, entries: Iterable[Entry]) -> Iterator[DocumentUse]:
    """The notes that a conversation used, each once in a turn. What was found and not used does not count."""
    turn: dict[str, DocumentUse] = {}
    for message in messages_of(entries).values():
        if message.role == "user":
            yield from turn.values()
            turn = {}
        for reference in message.references:
            # An answer that links a note which it was never given does not rest on it.
            is_cited = reference.cited and not reference.unverified
            is_used = reference.reference_type == "direct" or reference.included or is_cited
            if reference.relative_path is None or not is_used:
                continue
            before = turn.get(reference.relative_path)
            # The answer knows more than the question, which the two share.
            turn[reference.relative_path] = DocumentUse(
                path=reference.relative_path,
                session_id=session.id,
                session_title=session.title,
                message_id=message.id,
                at=before.at if before else message.created_at,
                why=_why(reference),
                cited=reference.cited,
            )
    yield from turn.values()


def _why(reference: DocumentReference) -> str:
    known = {"evidence": "quoted as evidence", "context": "sent along", "": "found"}
    how = known.get(reference.via, f"found by {reference.via}")
    if reference.reference_type == "direct":
        how = "linked in the message"
    return f"{how}, cited in the answer" if reference.cited else how


class NoteUsage(Struct):
    """Counts the uses of notes, one conversation after the other; its size grows with notes and conversations only."""

    _turns: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    _last: dict[str, datetime] = field(default_factory=dict)
    _titles: dict[str, str] = field(default_factory=dict)
    _gone: set[str] = field(default_factory=set)

    def add(self, use: DocumentUse) -> None:
        self._turns[use.path, use.session_id] += 1
        self._titles[use.session_id] = use.session_title
        self._gone |= {use.path} if use.is_gone else set()
        for key in (f"note:{use.path}", f"talk:{use.session_id}"):
            self._last[key] = max(use.at, self._last.get(key, use.at))

    def top(self, most: int) -> list[UsedNote]:
        """The notes that most turns used."""
        turns: dict[str, list[int]] = defaultdict(list)
        for (path, _), count in self._turns.items():
            turns[path].append(count)
        notes = [
            UsedNote(
                path=path,
                turns=sum(counts),
                sessions=len(counts),
                last_used=self._last[f"note:{path}"],
                is_gone=path in self._gone,
            )
            for path, counts in turns.items()
        ]
        return sorted(notes, key=lambda note: (-note.turns, -note.sessions, note.path))[:most]

    def graph(self, most: int = MAX_NODES) -> UsageGraph:
        """The usage graph, with at most so many nodes: half of them notes, if there are so many."""
        notes = self.top(len(self._turns))
        used = Counter(session_id for _, session_id in self._turns)
        talks = [
            UsageConversation(session_id=id_, title=title, last_used=self._last[f"talk:{id_}"], notes=used[id_])
            for id_, title in self._titles.items()
        ]
        talks.sort(key=lambda talk: talk.last_used, reverse=True)
        room_for_notes = max(most // 2, most - len(talks))
        kept_notes, kept_talks = notes[:room_for_notes], talks[: most - min(room_for_notes, len(notes))]
        paths, ids = {note.path for note in kept_notes}, {talk.session_id for talk in kept_talks}
        lines = [
            UsageEdge(path=path, session_id=session_id, turns=count)
            for (path, session_id), count in self._turns.items()
            if path in paths and session_id in ids
        ]
        left_out = len(notes) + len(talks) - len(kept_notes) - len(kept_talks)
        return UsageGraph(notes=tuple(kept_notes), talks=tuple(kept_talks), lines=tuple(lines), left_out=left_out)
