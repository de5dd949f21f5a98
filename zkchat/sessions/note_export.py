"""Conversations and answers as Markdown notes that load nothing remote and run nothing."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import groupby
from typing import Any, Final, assert_never

import msgspec

from zkchat.core import (
    KEY,
    KEY_MARKS,
    NAMED_KEY,
    NAMED_KEY_MARKS,
    ChatMessage,
    CompactionPart,
    DocumentReference,
    DraftEntry,
    Entry,
    EntryBody,
    EvidencePart,
    FilePart,
    ImagePart,
    Json,
    MessageEntry,
    Part,
    Session,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    kinds_of,
    lazy_pattern,
    messages_of,
    plain_without,
    thread_of,
    to_plain,
    without_suffix,
)

REDACTED: Final = "[redacted]"
_MIN_KEY_LENGTH: Final = 8
_MIN_TEXT_LENGTH: Final = len("token=") + _MIN_KEY_LENGTH


def redact(text: str, keys: Iterable[str] = ()) -> str:
    """Replace what looks like a key, and the keys that are known.

    A known key as short as a word is ignored, since redacting it would remove words.
    """
    for key in keys:
        text = text.replace(key, REDACTED) if len(key) >= _MIN_KEY_LENGTH else text
    if len(text) < _MIN_TEXT_LENGTH:
        return text
    if _has_any(text, KEY_MARKS):
        text = KEY.sub(REDACTED, text)
    return NAMED_KEY.sub(rf"\1{REDACTED}", text) if _has_any(text.casefold(), NAMED_KEY_MARKS) else text


def _has_any(text: str, marks: Iterable[str]) -> bool:
    return any(mark in text for mark in marks)


def contains_secret(text: str, keys: Iterable[str] = ()) -> bool:
    return redact(text, keys) != text


FORMAT: Final = "zkchat session"
VERSION: Final = 1

Redactor = Callable[[str], str]


def as_json(session: Session, entries: Sequence[Entry], keys: Iterable[str] = ()) -> str:
    """The session with all its entries, and the current messages for readers that need only those.

    Keys are redacted. ASCII only, so that no text acts on a terminal; one entry per line.
    """
    known = tuple(keys)
    redact_text = cache(lambda text: redact(text, known))  # most texts of a session occur more than once
    written = {id_: _line(to_plain(message), redact_text) for id_, message in messages_of(entries).items()}
    # Each message with its text as one more field.
    messages = (
        f'{written[message.id][:-1]}, "content": {json.dumps(redact_text(message.text))}}}'
        for message in thread_of(entries)
    )
    parts = {
        "format": json.dumps(FORMAT),
        "version": json.dumps(VERSION),
        "session": _line(to_plain(session), redact_text),
        "entries": _lines(_entry_lines(entries, written, redact_text)),
        "messages": _lines(messages),
    }
    return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in parts.items()) + "\n}\n"


def export_schema() -> dict[str, Any]:
    """The JSON schema of what `as_json` writes. What a newer zkchat adds is of another kind, and fits it too."""
    written = (Session, Entry, ChatMessage)
    (session, entry, message), types = msgspec.json.schema_components(written, ref_template="#/$defs/{name}")
    for name, union in (("UnknownPart", Part), ("UnknownEntry", EntryBody)):
        known = sorted(kinds_of(union))
        types[name] = {"type": "object", "required": ["kind"], "properties": {"kind": {"not": {"enum": known}}}}
    types["Entry"]["required"].remove("session_id")
    properties: dict[str, Any] = {
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "session": session,
        "entries": {"type": "array", "items": entry},
        "messages": {"type": "array", "items": message},
    }
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "type": "object", "required": [*properties], "properties": properties, "$defs": types}


def _lines(lines: Iterable[str]) -> str:
    return "[\n" + ",\n".join(lines) + "\n]"


def _line(value: Json, redact_text: Redactor) -> str:
    return json.dumps(_clean(value, redact_text), allow_nan=False)


def _entry_lines(entries: Sequence[Entry], messages: Mapping[str, str], redact_text: Redactor) -> Iterator[str]:
    """Each message once, in its last version, where it first appeared; drafts are merged into it."""
    left = dict(messages)
    for entry in entries:
        body = entry.body
        if not isinstance(body, MessageEntry | DraftEntry):
            yield _line(plain_without(entry, "session_id"), redact_text)
        elif message := left.pop(body.message.id if isinstance(body, MessageEntry) else body.message_id, ""):
            place = json.dumps({"sequence": entry.sequence, "at": to_plain(entry.at)})
            yield f'{place[:-1]}, "body": {{"kind": "{MessageEntry.__struct_config__.tag}", "message": {message}}}}}'


def _clean(value: Json, redact_text: Redactor) -> Json:
    """Redact strings, and replace NaN and infinities, which JSON cannot express."""
    match value:
        case str():
            return redact_text(value)
        case dict():
            return {redact_text(name): _clean(item, redact_text) for name, item in value.items()}
        case list():
            return [_clean(item, redact_text) for item in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


MARK: Final = "zkchat-note"
"""The property that marks notes made by zkchat: `answer` or `conversation`. (`zkchat` is about privacy.)"""

_LOCAL: Final = {"zkchat": "local"}
"""The property that keeps a note on this machine."""
_INVALID_IN_NAME: Final = lazy_pattern(r'[\x00-\x1f\x7f-\x9f\ud800-\udfff\\/:*?"<>|#^\[\]%]+')
"""Characters that some file system forbids, or that mean something in a wikilink."""
_OWN_IMAGE: Final = r"!\[\[(?!/)[^\[\]\n:\\<`]+\]\]|!\[[^\[\]\n\\<`]*\]\((?!/)[^\s()<>:\\&`]+\)"
"""An image or embed from the vault itself."""
_HARMLESS_HTML: Final = (
    r"</?(?:b|br|code|dd|del|details|dl|dt|em|hr|i|ins|kbd|li|mark|ol|p|pre|s|small|strong|sub|summary|sup|u|ul)\s*/?>"
    r"|<(?:https?://|mailto:)[^\s<>!\[\]`]*>"
)
"""Tags without attributes, and autolinks."""
_ACTIVE: Final = lazy_pattern(
    rf"(?P<keep>\\.|{_OWN_IMAGE}|{_HARMLESS_HTML})|(?P<image>!(?=\[))|(?P<tag><(?=[a-zA-Z/!?%]))", re.DOTALL
)
_MAX_PASSES: Final = 4
_AMBIGUOUS_MARKS: Final = ("$$", "%%", "<!--")
"""Programs that show Markdown disagree about where code begins and ends around these."""


def as_markdown(
    session: Session, messages: Sequence[ChatMessage], keys: Iterable[str] = (), *, local: bool = False
) -> str:
    """The conversation as a note, without thinking, tool calls and keys.

    `local`: the note must stay on this machine.
    """
    title = _in_line(session.title) or "Conversation"
    properties = {
        **(_LOCAL if local else {}),
        MARK: "conversation",
        "session": session.id,
        "created": _local(session.created_at),
        "updated": _local(session.updated_at),
    }
    sections = (_section(message) for message in messages)
    return _note(properties, title, (section for section in sections if section), keys)


def answer_note(
    title: str, question: ChatMessage | None, answer: ChatMessage, keys: Iterable[str] = (), *, local: bool = False
) -> str:
    """One answer as a note, with its documents, and its question where the title is another."""
    properties = {
        **(_LOCAL if local else {}),
        MARK: "answer",
        "session": answer.session_id,
        "model": f"{answer.provider}:{answer.model}".strip(":"),
        "created": _local(answer.created_at),
    }
    is_title = question and "[[" not in question.text and _words(question.text) == _words(title)
    asked = [_quoted(question.text)] if question and not is_title else []
    sources = _sources(answer.references)
    listed = ["## Sources\n\n" + "\n".join(f"- {link}" for link in sources)] if sources else []
    return _note(properties, title, [*asked, answer.text.strip(), *listed], keys)


def file_name(title: str) -> str:
    """A file name, without `.md`, that is valid on every file system and in a wikilink."""
    words = " ".join(_INVALID_IN_NAME.sub(" ", title).split())[:80].strip(" .")
    return words or "Answer"


def _note(properties: dict[str, str], title: str, sections: Iterable[str], keys: Iterable[str]) -> str:
    import yaml

    written = yaml.safe_dump(
        {name: value for name, value in properties.items() if value}, allow_unicode=True, sort_keys=False, width=1000
    )
    body = neutralize("\n\n".join([f"# {title}", *sections]))
    text = f"---\n{written}---\n{body}\n"
    return redact(text, keys).encode("utf-8", "replace").decode()


def _section(message: ChatMessage) -> str:
    body = "\n\n".join(text for part in message.parts if (text := _part_text(part).strip()))
    if not body and not message.error:
        return ""
    if any(message.parts_of(CompactionPart)):
        return body
    sources = _sources(message.references) if message.role == "assistant" else []
    pieces = [
        f"## {_speaker(message)}, {_local(message.created_at)}",
        body,
        f"*({message.status}: {message.error or 'stopped'})*" if message.status != "complete" else "",
        f"Sources: {', '.join(sources)}" if sources else "",
    ]
    return "\n\n".join(piece for piece in pieces if piece)


def _speaker(message: ChatMessage) -> str:
    if message.name:
        return _in_line(message.name)
    match message.role:
        case "user":
            return "You"
        case "assistant":
            return _in_line(message.model) or "Answer"
        case "system":
            return "Instructions"
        case "tool":
            return "Tool"
        case _:
            assert_never(message.role)


def _part_text(part: Part) -> str:
    match part:
        case TextPart():
            return part.text
        case CompactionPart():
            marker = f"Context compacted #{part.number}: {part.effect}"
            return _quoted(f"{marker}\n\n{part.summary}".strip())
        case ImagePart():
            return f"(image: {_in_line(part.name)})"
        case ThinkingPart() | ToolCallPart() | ToolResultPart() | FilePart() | EvidencePart() | UnknownPart():
            return ""
        case _:
            assert_never(part)


def _sources(references: Iterable[DocumentReference]) -> list[str]:
    """Links to the documents that the model was given, deduplicated, cited ones first."""
    given = (one for one in references if one.relative_path and one.was_given)
    found = sorted(given, key=lambda reference: not reference.cited)
    return list(dict.fromkeys(_link(reference) for reference in found))


def _link(reference: DocumentReference) -> str:
    if reference.status == "resolved" and reference.wikilink.startswith(("[[", "![[")):
        return _in_line(reference.wikilink.removeprefix("!"))
    return f"[[{without_suffix(reference.relative_path or '')}]]"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _in_line(text: str) -> str:
    return " ".join(text.split())


def _local(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def neutralize(text: str) -> str:
    """Turn remote images into links and HTML into text. Code and images of the vault stay."""
    if "![" not in text and "<" not in text:
        return text
    text = re.sub(r"\r\n?", "\n", text)  # line endings as the parser counts them
    code = frozenset() if any(mark in text for mark in _AMBIGUOUS_MARKS) else _lines_of_code(text)
    for _ in range(_MAX_PASSES):
        result = _neutralize_outside(code, text)
        still = code & _lines_of_code(result)
        if still == code:
            return result
        code = still  # some lines were code only because of HTML before them
    return _neutralize_outside(frozenset(), text)


def _neutralize_outside(code: frozenset[int], text: str) -> str:
    pieces: list[str] = []
    for is_code, lines in groupby(enumerate(text.split("\n")), key=lambda line: line[0] in code):
        joined = "\n".join(line for _, line in lines)  # an image may span several lines
        pieces.append(joined if is_code else _ACTIVE.sub(_replaced, joined))
    return "\n".join(pieces)


def _replaced(found: re.Match[str]) -> str:
    if found["image"]:
        return r"\!"
    return "&lt;" if found["tag"] else found["keep"]


def _lines_of_code(text: str) -> frozenset[int]:
    from markdown_it import MarkdownIt  # heavy, and rarely needed

    blocks = (token for token in MarkdownIt("commonmark").parse(text) if token.type in {"fence", "code_block"})
    return frozenset(number for block in blocks if block.map for number in range(*block.map))
