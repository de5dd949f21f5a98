"""The typed parts of messages as other programs write them, and the report of what was left out."""

import base64
import binascii
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct, field

from zkchat.core import (
    CompactionPart,
    FilePart,
    ImagePart,
    Json,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    counted,
    lazy_pattern,
    shorten,
)

_DATA: Final = lazy_pattern(r"data:(image/[\w.+-]+);base64,(.*)", re.DOTALL)
_MAX_IMAGE_CHARACTERS: Final = 28_000_000
_TEXTS: Final = frozenset(
    {"text", "input_text", "output_text", "summary_text", "refusal", "paragraph", "markdown", "audio_transcription"}
)
_THOUGHTS: Final = frozenset({"think", "thinking", "reasoning", "thought", "thoughts"})
_CALLS: Final = frozenset(
    {"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call", "function_call", "custom_tool_call"}
)
_CALL_RESULTS: Final = frozenset({"tool-result", "function_call_output", "custom_tool_call_output"})
_ARGUMENTS: Final = ("input", "arguments", "args")
_CALL_IDS: Final = ("call_id", "tool_use_id", "tool_call_id", "toolCallId", "id")
_NO_TEXT: Final = lazy_pattern(r"```\nThis block is not supported on your current device yet\.\n```\n?")
"""What an export of Claude writes in place of a block that it leaves out."""

_MAX_NAMED: Final = 5
_MAX_KEPT: Final = 1000
_NOUNS: Final[Mapping[str, str]] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "image_generation_call": "image",
    "image_asset_pointer": "image",
    "audio": "audio recording",
    "audio_url": "audio recording",
    "input_audio": "audio recording",
    "audio_asset_pointer": "audio recording",
    "real_time_user_audio_video_asset_pointer": "audio recording",
    "video": "video",
    "video_url": "video",
    "video_container_asset_pointer": "video",
    "file": "file",
    "input_file": "file",
    "document": "file",
    "redacted_thinking": "hidden thought",
    "compaction": "unreadable summary",
    "user_editable_context": "custom instruction",
    "model_editable_context": "memory note",
    "reasoning_recap": "internal record",
}
"""What people call the types of parts that zkchat cannot take in."""


def is_result(kind: str) -> bool:
    return kind in _CALL_RESULTS or kind.endswith("tool_result")


def text_at(value: Mapping[str, Json], *keys: str) -> str:
    return next((found for key in keys if isinstance(found := value.get(key), str) and found), "")


def list_of(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def object_of(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def first_of(value: Mapping[str, Json], keys: Iterable[str]) -> Json:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def as_text(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def noun_of(kind: str, media_type: str = "") -> str:
    """What to call a part of this type, or of this media type."""
    family = media_type.partition("/")[0].casefold()
    if family in ("image", "audio", "video"):
        return _NOUNS[family]
    return _NOUNS.get(kind) or f"'{shorten(' '.join(kind.split()), 40)}' part"


class Tally(Struct):
    parts: Counter[str] = field(default_factory=Counter)
    """Parts of messages, by what people call them."""
    messages: list[str] = field(default_factory=list)
    """A sentence for each message that could not be read."""
    message_count: int = 0
    conversations: list[str] = field(default_factory=list)
    """A sentence for each conversation that could not be read."""
    conversation_count: int = 0

    def leave_out_part(self, noun: str) -> None:
        self.parts[noun] += 1

    def leave_out_message(self, sentence: str) -> None:
        self.message_count += 1
        if len(self.messages) < _MAX_KEPT:
            self.messages.append(sentence)

    def leave_out_conversation(self, sentence: str) -> None:
        self.conversation_count += 1
        if len(self.conversations) < _MAX_KEPT:
            self.conversations.append(sentence)

    def include(self, other: "Tally", conversation: str = "") -> None:
        """Add what was left out of one conversation of the file, which is named if there are several."""
        self.parts += other.parts
        self.message_count += other.message_count
        named = (f"{conversation}: {sentence}" if conversation else sentence for sentence in other.messages)
        self.messages += [*named][: _MAX_KEPT - len(self.messages)]

    def phrases(self) -> list[str]:
        """`3 parts left out: 2 images, 1 audio recording`, and how many messages and conversations were left out."""
        parts = ", ".join(counted(number, noun) for noun, number in self.parts.most_common())
        return [
            *([f"{counted(self.parts.total(), 'part')} left out: {parts}"] if self.parts else []),
            *([f"{counted(self.message_count, 'message')} left out"] if self.message_count else []),
            *([f"{counted(self.conversation_count, 'conversation')} left out"] if self.conversation_count else []),
        ]

    def problems(self) -> list[str]:
        """A sentence for each of the first conversations and messages that were left out, and how many more."""
        shown = [*self.conversations[:_MAX_NAMED], *self.messages[:_MAX_NAMED]]
        more = self.conversation_count + self.message_count - len(shown)
        return [*shown, *([f"… and {more:,} more; --json names them."] if more else [])]

    def record(self) -> dict[str, object]:
        return {
            "parts": dict(self.parts),
            "messages": self.message_count,
            "conversations": self.conversation_count,
            "problems": [*self.conversations, *self.messages],
        }


class PartReader(Struct):
    """Reads the parts of one conversation's messages; what cannot be read is left out and counted."""

    tally: Tally
    _tools: dict[str, str] = field(default_factory=dict)
    _calls: int = 0

    def parts(self, content: Json) -> Iterator[Part]:
        match content:
            case None:
                return
            case str():
                yield from self._text(content)
            case list():
                for piece in content:
                    yield from self.parts(piece) if isinstance(piece, str | None) else self._part(piece)
            case _:
                yield from self._part(content)

    def _part(self, piece: Json) -> Iterator[Part]:
        if not isinstance(piece, dict):
            self.tally.leave_out_part(noun_of(type(piece).__name__))
            return
        kind = text_at(piece, "type", "content_type", "kind").casefold()
        if kind in _THOUGHTS or piece.get("thought") is True:
            yield from self._thought(piece)
        elif kind in _CALLS or (not kind and isinstance(piece.get("functionCall"), dict)):
            yield from self.call(piece)
        elif is_result(kind) or isinstance(piece.get("functionResponse"), dict):
            yield self.result(piece)
        elif kind == "compaction":
            yield from self._compaction(piece)
        elif kind in _TEXTS or (not kind and text_at(piece, "text")):
            self.count_citations(piece)
            yield from self._text(text_at(piece, "text", "refusal", "content"))
        else:
            yield from self._attachment(piece, kind)

    def count_citations(self, piece: Mapping[str, Json]) -> None:
        """Sources that a program names beside a text are of the web or of its own files: they lead nowhere here."""
        for _ in (*list_of(piece.get("citations")), *list_of(piece.get("annotations"))):
            self.tally.leave_out_part("citation")

    def _text(self, text: str) -> Iterator[Part]:
        said, removed = _NO_TEXT.subn("", text)
        for _ in range(removed):
            self.tally.leave_out_part("missing block")
        if said:
            yield TextPart(text=said)

    def _thought(self, piece: Mapping[str, Json]) -> Iterator[Part]:
        keys = ("think", "thinking", "reasoning", "text", "summary", "content", "thoughts")
        if text := _joined(next((piece[key] for key in keys if piece.get(key)), None)):
            yield ThinkingPart(text=text)
        else:
            self.tally.leave_out_part(noun_of("redacted_thinking"))

    def call(self, piece: Mapping[str, Json]) -> Iterator[Part]:
        """A tool call in any of the usual forms; one without a name is left out."""
        inner = next((value for key in ("function", "functionCall") if isinstance(value := piece.get(key), dict)), None)
        named = inner if inner is not None else piece
        name = text_at(named, "name", "toolName")
        if not name:
            self.tally.leave_out_part("internal record")
            return
        self._calls += 1
        call_id = text_at(piece, *_CALL_IDS) or f"call-{self._calls}"
        self._tools[call_id] = name
        written = first_of(named, _ARGUMENTS)
        yield ToolCallPart(call_id=call_id, name=name, arguments="{}" if written is None else as_text(written))

    def result(self, piece: Mapping[str, Json]) -> ToolResultPart:
        inner = piece.get("functionResponse")
        if isinstance(inner, dict):
            piece = {"name": inner.get("name"), "output": inner.get("response"), "call_id": inner.get("id")}
        call_id = text_at(piece, *_CALL_IDS)
        name = self._tools.get(call_id) or text_at(piece, "name", "tool_name", "toolName")
        said = first_of(piece, ("content", "output", "result", "text"))
        failed = piece.get("is_error") is True or piece.get("status") == "error" or bool(piece.get("exception"))
        return ToolResultPart(call_id=call_id, name=name, text=self._result_text(said), failed=failed)

    def _result_text(self, said: Json) -> str:
        if not isinstance(said, list):
            return as_text(said)
        texts: list[str] = []
        for piece in said:
            if isinstance(piece, str):
                texts.append(piece)
            elif isinstance(piece, dict) and (text := text_at(piece, "text")):
                texts.append(text)
            elif isinstance(piece, dict) and text_at(piece, "type") in ("image", "document", "image_url"):
                self.tally.leave_out_part(noun_of(text_at(piece, "type")))
            else:
                texts.append(as_text(piece))
        return "\n".join(texts)

    def _compaction(self, piece: Mapping[str, Json]) -> Iterator[Part]:
        if text := _joined(piece.get("content") or piece.get("summary") or piece.get("text")):
            yield CompactionPart(number=0, summary=text)
        else:
            self.tally.leave_out_part(noun_of("compaction"))

    def _attachment(self, piece: Mapping[str, Json], kind: str) -> Iterator[Part]:
        media_type, data = _data_of(piece)
        source = piece.get("source")
        if isinstance(source, dict) and source.get("type") == "text" and (text := text_at(source, "data")):
            yield FilePart(name=text_at(piece, "title", "name") or "document", text=text)
        elif media_type.startswith("image/") and _is_base64(data):
            yield ImagePart(name=text_at(piece, "name", "title") or "image", media_type=media_type, data=data)
        else:
            self.tally.leave_out_part(noun_of(kind or "unknown", media_type))

    def image(self, data: Json) -> Iterator[Part]:
        """An image of a list of images, in base 64 without more."""
        if isinstance(data, str) and _is_base64(data):
            beginnings = {"/9j/": "image/jpeg", "R0lG": "image/gif", "UklG": "image/webp"}
            yield ImagePart(name="image", media_type=beginnings.get(data[:4], "image/png"), data=data)
        else:
            self.tally.leave_out_part(noun_of("image"))

    def file(self, attached: Json) -> Iterator[Part]:
        """An attachment: its text, where the export holds that."""
        named = object_of(attached)
        name = text_at(named, "file_name", "name") or "attachment"
        if text := text_at(named, "extracted_content", "text"):
            yield FilePart(name=name, text=text)
        else:
            self.tally.leave_out_part(noun_of("file", text_at(named, "mime_type", "mimeType", "file_type", "type")))


def _joined(value: Json) -> str:
    match value:
        case str():
            return value
        case dict():
            return text_at(value, "text", "content", "thinking", "summary")
        case list():
            return "\n".join(text for item in value if (text := _joined(item)))
        case _:
            return ""


def _data_of(piece: Mapping[str, Json]) -> tuple[str, str]:
    """Media type and data, in base 64, of an image, audio recording or file; empty where there is none."""
    inner = (piece.get(key) for key in ("source", "inlineData", "inline_data", "image_url", "image"))
    for found in (piece, *inner):
        value = {"url": found} if isinstance(found, str) else found if isinstance(found, dict) else {}
        if embedded := _DATA.fullmatch(text_at(value, "url", "data", "image")):
            return embedded[1], embedded[2]
        media_type = text_at(value, "media_type", "mimeType", "mime_type")
        if media_type and (data := text_at(value, "data")):
            return media_type, data
    return "", ""


def _is_base64(data: str) -> bool:
    if not 0 < len(data) <= _MAX_IMAGE_CHARACTERS:
        return False
    try:
        return bool(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return False
