"""Wording of tool calls, warnings, checklists, progress and links, already sanitized."""

import json
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias, assert_never

from zkchat.core import (
    CHANGE_TOOLS,
    DEFAULT_PRIORITY,
    KEEP_PRIORITY,
    Ambiguous,
    ChatMessage,
    CompactionPart,
    EmbeddingProgress,
    External,
    Link,
    Missing,
    Resolution,
    Resolved,
    counted,
    events,
    line_place,
    shorten,
)
from zkchat.render.sanitize import sanitize_line, sanitize_text

FILLED_BY: Final = "What fills it: /context, or zkchat context stats."
NO_MODEL: Final = "No model is used: answers are quoted from your notes, so no context window is filled."
KEPT_FOR_A_MODEL: Final = "No model is used now; this takes effect once one is."
MAX_QUOTES: Final = 3
"""Sentences of one result that are listed; the JSON has all."""
_MAX_SENTENCE: Final = 160
_BOXES: Final[dict[events.StepState, str]] = {"open": "☐", "done": "☑", "blocked": "☒", "declined": "☒"}


def lines_of(event: events.GoalEvent, *, is_plain: bool = False) -> list[str]:
    """What an event of a goal run shows, sanitized. Plain: words in the place of boxes."""
    match event:
        case events.GoalPlanned():
            lines = ["Plan", *checklist_lines(event.goal, is_plain=is_plain)]
        case events.StepStarted():
            lines = [f"Step {event.number} of {event.total}: {event.text}"]
        case events.StepFinished():
            lines = [_step_line(event.number, event.text, event.state, event.reason, is_plain=is_plain)]
        case events.GoalEnded():
            lines = [*_end_lines(event, is_plain=is_plain)]
        case _:
            assert_never(event)
    return [*map(_sanitized, lines)]


def checklist_lines(goal: events.Goal, *, is_plain: bool = False) -> list[str]:
    return [
        _sanitized(_step_line(number, step.text, step.state, step.reason, is_plain=is_plain))
        for number, step in enumerate(goal.steps, start=1)
    ]


def _sanitized(line: str) -> str:
    text = line.lstrip(" ")
    return " " * (len(line) - len(text)) + sanitize_line(text)


def _step_line(number: int, text: str, state: events.StepState, reason: str, *, is_plain: bool) -> str:
    box = f"{state}:" if is_plain else _BOXES[state]
    return f"{box} {number}. {text}" + (f" — {shorten(reason, _MAX_SENTENCE)}" if reason else "")


def _end_lines(event: events.GoalEnded, *, is_plain: bool) -> Iterator[str]:
    goal = event.goal
    is_begun = any(step.state != "open" for step in goal.steps)
    if is_begun:
        yield "Check against your notes"
    supports = [*event.check.steps, *[events.AnswerSupport()] * len(goal.steps)]
    for number, (step, support) in enumerate(zip(goal.steps, supports, strict=False) if is_begun else (), start=1):
        yield _step_line(number, step.text, step.state, step.reason, is_plain=is_plain)
        if step.state == "done":
            yield from _support_lines(support)
        else:
            yield "   no result"
    if goal.result_id and event.result and len(goal.steps) > 1:
        yield "Result"
        yield from _support_lines(event.check.result)
    yield end_sentence(goal)
    if event.hint:
        yield event.hint


def _support_lines(support: events.AnswerSupport) -> Iterator[str]:
    total = len(support.supported) + len(support.unsupported)
    if not total:
        yield "   no statements to compare with your notes"
        return
    yield f"   {len(support.supported)} of {counted(total, 'sentence')} found in your notes"
    for each in support.supported[:MAX_QUOTES]:
        how = "word for word" if each.exact else "nearly"
        yield f"   “{shorten(each.text, _MAX_SENTENCE)}” {line_place(each.path, each.line)}, {how}"
    for sentence in support.unsupported[:MAX_QUOTES]:
        yield f"   not found: “{shorten(sentence, _MAX_SENTENCE)}”"


def end_sentence(goal: events.Goal) -> str:
    """How the run ended, what it took, and how to go on."""
    blocked = sum(step.state == "blocked" for step in goal.steps)
    took = f"{goal.settled} of {counted(len(goal.steps), 'step')}, {goal.tokens:,} tokens, {goal.seconds:,.0f} s"
    changes = changes_sentence(goal)
    if goal.is_finished:
        outcome = f"; {changes[0].lower()}{changes[1:-1]}" if changes else ""
        return "Finished" + f", {counted(blocked, 'step')} could not be done" * bool(blocked) + f"{outcome} ({took})."
    return f"Stopped: {' '.join(filter(None, [goal.reason, changes]))} ({took})"


def changes_sentence(goal: events.Goal) -> str:
    """What of the proposed changes was not applied, as a sentence; empty where all of it was, or there was none."""
    found = goal.decisions
    if "kept" in found:
        return "Its changes were not applied."
    if "declined" not in found:
        return ""
    return "Some of its changes were declined." if "applied" in found else "Its changes were declined."


def named_folders(folders: Iterable[str]) -> str:
    """`Garden/, Daily/ and 2 more`."""
    names = [f"{sanitize_line(folder)}/" if folder else "the top folder" for folder in folders]
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def describe_link(link: Link, found: Resolution) -> str:
    """A link and where it leads, in one line."""
    return f"{' '.join(link.text.split())} → {describe_destination(found)}"


def is_doubtful(found: Resolution) -> bool:
    """Whether a link leads nowhere, to one of several notes, or to a place that the note does not have."""
    return isinstance(found, Missing | Ambiguous) or (isinstance(found, Resolved) and not found.anchor_found)


def describe_destination(found: Resolution) -> str:
    match found:
        case Resolved() | Ambiguous():
            remarks = [f"by its {found.via}"] if found.via in {"alias", "id", "title"} else []
            if isinstance(found, Ambiguous):
                remarks.append(f"could also be {', '.join(found.others)}")
            if not found.anchor_found:
                remarks.append("no such place in it")
            return found.path + (f" ({'; '.join(remarks)})" if remarks else "")
        case Missing():
            closest = ", ".join(f"[[{name}]]" for name in found.suggestions)
            return f"nothing (closest: {closest})" if closest else "nothing"
        case External():
            return "outside the vault"
    assert_never(found)


def method_label(method: str) -> str:
    """A method as users know it: the name of the model, without its server and the marks of how it is used."""
    model = method.partition("#")[0].partition(":")[2]
    return model or "the built-in model"


def vector_progress(progress: EmbeddingProgress | None) -> str:
    """For a bar: `ready for search: 1,240 of 5,300 passages (nomic-embed-text)`; empty when all is done."""
    if progress is None or progress.is_complete or ":" not in progress.method:  # of no server
        return ""
    away = ", waiting" if progress.problem else ""
    return f"ready for search: {progress.done:,} of {progress.total:,} passages ({method_label(progress.method)}{away})"


def vector_lines(progress: EmbeddingProgress | None) -> list[str]:
    """In sentences for a report: how many vectors of a server there are, and what they wait for; none without one."""
    if progress is None or ":" not in progress.method:
        return []
    lines = [f"ready for search: {progress.done:,} of {progress.total:,} passages ({method_label(progress.method)})"]
    if progress.active_method != progress.method:
        lines[0] += f"; until then zkchat uses {method_label(progress.active_method)}"
    return [*lines, progress.problem] if progress.problem else lines


_MAX_CALL_LENGTH: Final = 60
_CALLS: Final = {
    "find_excerpts": "search",
    "find_documents": "search notes",
    "read_document": "read",
    "read_attachment": "read attachment",
    "resolve_wikilink": "follow",
    "find_backlinks": "links to",
    "find_forward_links": "links of",
    "find_related": "notes near",
    "list_documents": "list notes",
    "get_current_datetime": "look at the clock",
    "recall": "recall",
    "remember": "remember",
    **{name: change.words for name, change in CHANGE_TOOLS.items()},
}
"""What each of our tools does, in words."""


def called(name: str) -> str:
    """What a tool is called where people read it: of ours what it does, of others their name."""
    return _CALLS.get(name) or sanitize_line(name)


def tool_call(name: str, arguments: str, length: int = _MAX_CALL_LENGTH, server: str = "") -> str:
    """`search "sleep" limit=4`, with so many characters of arguments at most; those that are not a JSON object
    are shown as written. Of a call whose arguments go to a server it says so: `to web: fetch "https://…"`."""
    shown = shorten(_arguments(arguments), length) if length else ""
    what = sanitize_line(f"to {server}: {name.removeprefix(f'{server}__')}") if server else called(name)
    return shorten(f"{what} {shown}".rstrip(), _MAX_CALL_LENGTH)


def _arguments(written: str) -> str:
    try:
        values = json.loads(written or "{}")
    except (ValueError, RecursionError):
        return sanitize_line(written)
    if not isinstance(values, dict):
        return sanitize_line(written)
    words = [sanitize_line(f"{name}={json.dumps(value, ensure_ascii=False)}") for name, value in values.items()]
    # The first argument says what the call is about; its name only takes space.
    return " ".join([words[0].partition("=")[2], *words[1:]]) if words else ""


def tool_result(summary: str, *, failed: bool) -> str:
    return sanitize_line(summary) or ("failed" if failed else "done")


def warning(text: str, hint: str) -> str:
    return sanitize_text(f"warning: {text}" + (f"\n         {hint}" if hint else ""))


def remark(text: str) -> str:
    """A sentence about an answer, as Markdown that stands apart from it."""
    return f"\n*{sanitize_text(text)}*\n\n"


OfContext: TypeAlias = events.ContextFilling | events.Compacting | events.Compacted
Noticed: TypeAlias = events.ResourceRead | OfContext | events.ChangesReviewed


def notice(event: Noticed) -> str:
    """One line about something that happened besides the answer."""
    match event:
        case events.ResourceRead():
            size, uri = counted(event.characters, "character"), shorten(sanitize_line(event.uri), _MAX_CALL_LENGTH)
            return f"Read from {sanitize_line(event.server)} and sent with your message: {uri} ({size})"
        case events.ContextFilling():
            full = f"The context is {100 * event.total // event.window} % full"
            mark = round(100 * event.compacts_at / event.window)
            return f"{full}{f'; above {mark} % older messages leave it' if mark else ''}. {FILLED_BY}"
        case events.Compacting():
            doing = "Archiving" if event.strategy == "discard" else "Summarising"
            what = f"{doing} {counted(event.messages, 'older message')}" if event.messages else "Making room"
            return f"{what}{f' ({event.tokens:,} tokens in the context)' if event.tokens else ''} …"
        case events.Compacted():
            return f"{compacted(event.message)} /uncompact reverts it."
        case events.ChangesReviewed():
            return reviewed(event)
        case _:
            assert_never(event)


def reviewed(event: events.ChangesReviewed, *, undo: str = "zkchat undo") -> str:
    """What became of proposed changes: `Applied with your edits: Append to Inbox.md. zkchat undo reverts it.`"""
    title = sanitize_line(event.title)
    match event.decision:
        case "applied":
            how = "Applied with your edits" if event.edited else "Applied"
            return f"{how}: {title}. {undo} reverts it. {sanitize_line(event.reason)}".rstrip()
        case "declined":
            return f"Not applied: {title}."
        case "kept" | "dropped":
            return f"Not applied: {title}. {sanitize_line(event.reason)} The session keeps the diff."
        case _:
            assert_never(event.decision)


def model_line(name: str, window: int | None) -> str:
    """`Model ollama:qwen3:8b, context window 8,192 tokens`."""
    return f"Model {name}{f', context window {window:,} tokens' if window else ''}"


def compaction(message: ChatMessage) -> str:
    """The marker in the history where older messages were archived or shortened."""
    return " ".join(compaction_part(part) for part in message.parts_of(CompactionPart))


def compacted(message: ChatMessage) -> str:
    """`6 older messages are now a summary (1,100 → 400 tokens).`"""
    part = message.parts_of(CompactionPart)[0]
    done = f"{part.effect[:1].upper()}{part.effect[1:]}"
    if part.summary and part.archived:
        others = part.effect.partition(", ")[2]
        verb = "are" if len(part.archived) > 1 else "is"
        done = f"{counted(len(part.archived), 'older message')} {verb} now a summary{f', {others}' * bool(others)}"
    gain = f" ({part.tokens_before:,} → {part.tokens_after:,} tokens)" if part.tokens_before else ""
    return f"{done}{gain}."


def compaction_part(part: CompactionPart) -> str:
    """`Context compacted #1: 45 messages archived, ~12,300 tokens freed`."""
    freed = part.tokens_before - part.tokens_after
    return f"Context compacted #{part.number}: {part.effect}" + (f", ~{freed:,} tokens freed" if freed > 0 else "")


def priority_effect(priority: int) -> str:
    """What a priority means for a message when the context is compacted, to be read after it."""
    if priority >= KEEP_PRIORITY:
        return "it is kept word for word while it fits"
    if priority == DEFAULT_PRIORITY:
        return "it is of normal importance"
    return f"it leaves the context {'after' if priority > DEFAULT_PRIORITY else 'before'} others"
