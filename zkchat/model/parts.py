"""The parts of a message."""

from zkchat.model.evidence import Evidence, MessageExcerpt, VaultListing
from zkchat.model.references import DocumentReference
from zkchat.model.text import counted
from zkchat.model.values import Tagged, Unknown, Value


class TextPart(Tagged, frozen=True, kw_only=True, tag="text"):
    text: str


class ThinkingPart(Tagged, frozen=True, kw_only=True, tag="thinking"):
    text: str


class ToolCallPart(Tagged, frozen=True, kw_only=True, tag="tool_call"):
    call_id: str
    name: str
    arguments: str
    """JSON as the model wrote it, which may be malformed."""


class ToolResultPart(Tagged, frozen=True, kw_only=True, tag="tool_result"):
    call_id: str
    name: str
    text: str
    failed: bool = False


class FilePart(Tagged, frozen=True, kw_only=True, tag="file"):
    name: str
    media_type: str = "text/plain"
    text: str
    extent: str = ""
    """Which part of the file the text is, in words; empty for the whole."""
    digest: str = ""
    """Of the whole text, where this is a part of it."""
    server: str = ""
    """The MCP server that the text is from, which calls it by the URI `name`; empty for a file of the vault."""


class ImagePart(Tagged, frozen=True, kw_only=True, tag="image"):
    """An image of a message. One from a file is not stored: it is read again where it is sent, and must be the same."""

    name: str
    """Of an image of the vault its path there; else what people call it."""
    media_type: str
    data: str = ""
    """Base 64; empty where it stands in a file."""
    file: str = ""
    """The whole path of a file that the user named, wherever it is; empty for one of the vault."""
    digest: str = ""
    """Of the file."""
    size: int = 0
    """Bytes of the file."""
    width: int = 0
    height: int = 0
    """Pixels, as it is sent: a large image is made smaller, and a turned one is set upright."""
    alt: str = ""
    """What its link says of it."""
    embedded_in: str = ""
    """The note that brought it along; empty where the message names it."""
    unsent: str = ""
    """Why it is sent to no model: it is broken, or there was no room for it."""

    @property
    def is_of_vault(self) -> bool:
        return bool(self.digest) and not self.file


class Condensed(Value, frozen=True, kw_only=True):
    """A message, or one tool result of it, that stays in the prompt in a shorter form."""

    message_id: str
    call_id: str = ""
    text: str
    is_earlier: bool = False
    """Whether an earlier compaction shortened it already."""
    lacks_documents: bool = False
    """Whether its own words are whole, and only documents that came with it are left out."""


class CompactionPart(Tagged, frozen=True, kw_only=True, tag="compaction"):
    """The place where older messages left the prompt. They stay in the history."""

    number: int
    summary: str
    made_by: str = ""
    """The model that wrote the summary; empty for an extractive one."""
    strategy: str = "summarize"
    """A `CompactionStrategy`, `clear`, or one that a newer zkchat knows."""
    focus: str = ""
    archived: tuple[str, ...] = ()
    """Ids of the messages that this compaction took out of the prompt."""
    condensed: tuple[Condensed, ...] = ()
    references: tuple[DocumentReference, ...] = ()
    """The documents of the archived messages, carried over whatever the summary says of them."""
    tokens_before: int = 0
    tokens_after: int = 0

    @property
    def shortened(self) -> frozenset[str]:
        """The messages that it shortened, by id."""
        return frozenset(each.message_id for each in self.condensed if not (each.is_earlier or each.lacks_documents))

    @property
    def stripped(self) -> frozenset[str]:
        """The messages that it sends without their documents, by id."""
        return frozenset(each.message_id for each in self.condensed if each.lacks_documents and not each.is_earlier)

    @property
    def effect(self) -> str:
        """What it did to messages: "6 messages archived, 1 message shortened"."""
        done = (
            (len(self.archived), f"{counted(len(self.archived), 'message')} archived"),
            (len(self.shortened), f"{counted(len(self.shortened), 'message')} shortened"),
            (len(self.stripped), f"documents of {counted(len(self.stripped), 'message')} left out or shortened"),
        )
        return ", ".join(words for count, words in done if count) or "summary shortened"


class EvidencePart(Tagged, frozen=True, kw_only=True, tag="evidence"):
    """What the vault says on the question, handed over with it because the model cannot search by itself."""

    evidence: tuple[Evidence, ...]
    nearest: tuple[Evidence, ...] = ()
    """Where no passage answers: what comes nearest."""
    is_doubtful: bool = False
    """Whether it is uncertain that the evidence answers."""
    excerpts: tuple[MessageExcerpt, ...] = ()
    """What of the message itself answers its question, for a model that only quotes."""
    listing: VaultListing | None = None
    """Where the question is about the vault itself: its answer, for a model that only quotes."""
    remark: str = ""
    """Of which days the evidence is, where the question asks for a time; or why there may be none."""
    searched_for: tuple[str, ...] = ()
    """Where no passage answers: the words that were looked for."""


class UnknownPart(Unknown, frozen=True, kw_only=True, tag="unknown part"):
    """A part that a newer zkchat wrote."""


Part = (
    TextPart
    | ThinkingPart
    | ToolCallPart
    | ToolResultPart
    | FilePart
    | ImagePart
    | CompactionPart
    | EvidencePart
    | UnknownPart
)
