"""Lists of models and of changes as lines."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from zkchat.core import (
    ChangeRecord,
    ChangeSet,
    FileConflict,
    FileWrite,
    ModelListing,
    ModelOverview,
    ModelRow,
    counted,
    file_changes,
    path_before,
)

_MAX_FILES: Final = 10
"""That are named when a change is undone."""


def headline(
    record: ChangeRecord, sessions: Mapping[str, str] | None = None, messages: Mapping[str, int] | None = None
) -> str:
    """`12  2026-03-14 09:30  Append to Inbox.md  (note append)`.

    `sessions` has their names by id, `messages` the numbers by which `/history` shows them.
    """
    origin = record.origin
    session = (sessions or {}).get(origin.session_id, "")
    made_by = " ".join(filter(None, [origin.command, f"in {session}" if session else ""]))
    number = (messages or {}).get(origin.message_id, 0)
    state = "undone" if record.state == "undone" else "" if record.has_contents else "too old to be undone"
    about = ", ".join(filter(None, [made_by, f"message {number}" if number else "", state]))
    return f"{record.id:>3}  {record.at.astimezone():%Y-%m-%d %H:%M}  {record.changes.title}  ({about})"


def undo_question(records: Sequence[ChangeRecord]) -> str:
    first, *others = records
    numbers = ", ".join(str(record.id) for record in records[:_MAX_FILES])
    more = f" and {len(records) - _MAX_FILES} more" if len(records) > _MAX_FILES else ""
    return f"Undo the last {len(records)} changes ({numbers}{more})?" if others else f"Undo change {first.id}?"


def undone_lines(records: Sequence[ChangeRecord]) -> Iterator[str]:
    """What became of each file of changes that were undone, and of how many more."""
    for record in records:
        files = file_changes(record.changes)
        for each in files[:_MAX_FILES]:
            match each.action:
                case "created" | "removed":
                    yield f"{each.path} is removed again."
                case "edited":
                    yield f"{path_before(record.changes, each.path)} is as it was."
                case "moved":
                    yield f"{each.moved_from} is back (it was {each.path})."
                case "trashed":
                    yield f"{each.moved_from} is back from the trash."
        if (more := len(files) - _MAX_FILES) > 0:
            yield f"… and {counted(more, 'more file')}."


def describe_conflict(conflict: FileConflict) -> Iterator[tuple[str, ChangeSet]]:
    """What zkchat did to a file that is to be undone, and what somebody else did: sentences and changes."""
    path = conflict.path
    if conflict.expected is not None:
        yield f"What zkchat changed in {path}:", _change(path, conflict.wanted, conflict.expected)
    if conflict.found is None:
        yield f"What changed since: {path} no longer exists.", ChangeSet(title="")
    else:
        yield f"What changed in {path} since:", _change(path, conflict.expected, conflict.found)


def _change(path: str, before: bytes | None, after: bytes) -> ChangeSet:
    return ChangeSet(title="", writes=(FileWrite(path=path, before=before, after=after),))


MAX_SHOWN: Final = 20
"""Models of one provider: some servers offer hundreds."""
_HEADINGS: Final = ("model", "window", "runs on", "")


def model_lines(rows: Sequence[ModelRow], width: int | None = None) -> list[str]:
    """A table with a mark before the model in use; two lines for each where the screen is too narrow for one."""
    cells = [_HEADINGS, *(_cells(row) for row in rows)]
    marks = [" ", *("*" if row.is_in_use else " " for row in rows)]
    name, window, place, _ = (max(len(line[column]) for line in cells) for column in range(len(_HEADINGS)))
    lines = [
        f"{mark} {line[0]:<{name}}  {line[1]:>{window}}  {line[2]:<{place}}  {line[3]}".rstrip()
        for mark, line in zip(marks, cells, strict=True)
    ]
    if width is None or max(map(len, lines)) <= width:
        return lines
    return [
        text
        for row in rows
        for text in (f"{'*' if row.is_in_use else ' '} {_name(row)}", f"    {', '.join(model_facts(row))}")
    ]


def model_facts(row: ModelRow) -> tuple[str, ...]:
    """What is known of a model in a few words each, the most important first."""
    window = f"{row.window:,} tokens" if row.window else ""
    return tuple(filter(None, (row.problem, window, row.place, _abilities(row))))


def fold(rows: Sequence[ModelRow]) -> tuple[list[ModelRow], int]:
    """The rows without those that a provider has beyond the first few, and how many were left out."""
    shown: list[ModelRow] = []
    counts: dict[str, int] = {}
    for row in rows:
        provider = row.name.partition(":")[0]
        counts[provider] = counts.get(provider, 0) + 1
        if counts[provider] <= MAX_SHOWN or row.is_in_use:
            shown.append(row)
    return shown, len(rows) - len(shown)


def embedding_line(overview: ModelOverview) -> str:
    """Which embedding model is set, or else which there are, with the command; empty where there are none."""
    if overview.embeddings:
        return f"The search by meaning uses {overview.embeddings}."
    if not (names := overview.embedding_models):
        return ""
    to_use = f"zkchat config set embeddings.model {names[0]}"
    return f"Models for the search by meaning: {', '.join(names)}. To use one: {to_use}"


def problem_lines(listings: Sequence[ModelListing]) -> list[str]:
    """A line for each server or folder that has nothing to offer now, with the way out."""
    lines = []
    for listing in listings:
        if (listing.problem or not listing.models) and not listing.is_untold:
            is_named = listing.host and listing.host in listing.problem
            source = "" if is_named else f"{listing.source}:"
            lines.append(" ".join(filter(None, (source, listing.problem or "none yet.", listing.hint))))
    return lines


def _cells(row: ModelRow) -> tuple[str, str, str, str]:
    window = f"{row.window:,}" if row.window else "?" if row.name != "quote" else ""
    return _name(row), window, row.place or "?", ", ".join(filter(None, (row.problem, _abilities(row))))


def _name(row: ModelRow) -> str:
    return f"{row.name} = {row.model}" if row.model else row.name


def _abilities(row: ModelRow) -> str:
    if row.name == "quote":
        return "no model: quotes your notes"
    sees = "sees images" if row.sees_images else ""
    if row.is_small:
        return ", ".join(filter(None, ("small", "" if row.calls_tools else "no tools", sees)))
    if row.calls_tools is None:
        return sees
    return ", ".join(filter(None, ("tools" if row.calls_tools else "no tools", sees)))
