"""What an import read and what it left out, counted and named."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from zkchat.model.text import counted, shorten

_MAX_NAMED: Final = 5
_MAX_KEPT: Final = 1000
_MAX_KIND_LENGTH: Final = 40
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
    "reasoning_recap": "thinking-time note",
}
"""What people call the types of parts that zkchat cannot take in."""


def noun_of(kind: str, media_type: str = "") -> str:
    """What to call a part of this type, or of this media type."""
    family = media_type.partition("/")[0].casefold()
    if family in ("image", "audio", "video"):
        return _NOUNS[family]
    return _NOUNS.get(kind) or f"'{shorten(' '.join(kind.split()), _MAX_KIND_LENGTH)}' part"


class Tally(Struct):
    """Counts what is left out while a file is read."""

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

    @property
    def is_empty(self) -> bool:
        return not (self.parts or self.message_count or self.conversation_count)

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
        """The same for scripts."""
        return {
            "parts": dict(self.parts),
            "messages": self.message_count,
            "conversations": self.conversation_count,
            "problems": [*self.conversations, *self.messages],
        }
