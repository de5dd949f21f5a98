"""What the model of a turn gets at: the notes, messages and facts that it may see, and changes that it may propose."""

from typing import TYPE_CHECKING

from msgspec import Struct

from zkchat.chat.given_notes import GivenNotes
from zkchat.chat.images import MessageImages
from zkchat.chat.long_messages import LongMessages
from zkchat.chat.privacy import ConversationPrivacy
from zkchat.compose.turn_parts import TurnParts
from zkchat.tools.readings import Readings

if TYPE_CHECKING:
    from zkchat.chat.archive_recall import ArchiveRecall
    from zkchat.memory.facts import Memory
    from zkchat.vault.library import GuardedLibrary
    from zkchat.writing.proposals import Proposals


class ModelView(Struct, frozen=True, kw_only=True):
    """What the model gets at, each part without what is kept from this model."""

    library: "GuardedLibrary"
    privacy: ConversationPrivacy
    long_messages: LongMessages
    images: MessageImages
    memory: "Memory | None"
    recall: "ArchiveRecall | None"
    proposals: "Proposals | None"
    readings: Readings | None
    """What it was given of the notes that it may change."""


def view_of_model(parts: TurnParts) -> ModelView:
    """What the model of these parts gets at."""
    shown = parts.library.overlaid(parts.staged) if parts.staged is not None else parts.library
    library = shown.guarded_for(parts.provider)
    privacy = ConversationPrivacy(journal=parts.journal, library=library, provider=parts.provider)
    readings = Readings(library, GivenNotes(journal=parts.journal, privacy=privacy)) if parts.proposals else None
    return ModelView(
        library=library,
        privacy=privacy,
        long_messages=LongMessages(journal=parts.journal, privacy=privacy),
        images=_message_images(parts, library),
        memory=parts.memory.within(privacy) if parts.memory and parts.settings.memory else None,
        recall=_archive_recall(parts, privacy),
        proposals=parts.proposals(library, readings) if parts.proposals and readings else None,
        readings=readings,
    )


def _message_images(parts: TurnParts, library: "GuardedLibrary") -> MessageImages:
    return MessageImages(
        library=library,
        provider=parts.provider,
        read_file=parts.read_file,
        most=parts.settings.max_images,
        detail=parts.settings.image_detail,
    )


def _archive_recall(parts: TurnParts, privacy: ConversationPrivacy) -> "ArchiveRecall | None":
    if parts.search is None:
        return None
    from zkchat.chat.archive_recall import ArchiveRecall

    return ArchiveRecall(
        journal=parts.journal,
        search=parts.search,
        tokenizer=parts.tokenizer,
        privacy=privacy,
        shares=parts.settings.shares,
    )
