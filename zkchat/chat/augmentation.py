"""What goes along with a question: documents, images, resources of servers, and what the vault says on it."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from zkchat.chat.answer_check import SecondLook
from zkchat.chat.core import ConversationCore
from zkchat.chat.evidence_lookup import look_up
from zkchat.chat.question import Question
from zkchat.chat.references import embedded, is_sent_anyway, with_those_sent_anyway
from zkchat.chat.request import RequestBuilder
from zkchat.chat.server_access import Resource
from zkchat.context.condensing import split_question
from zkchat.context.documents import TAG_TOKENS, DocumentRoom, excerpt_document, include_documents
from zkchat.context.formatting import augmented_text, images_of
from zkchat.context.selection import wants_evidence
from zkchat.context.unit_ranking import find_excerpts
from zkchat.errors import VaultError
from zkchat.model.choices import DEFAULT_PRIORITY, PASTE_PRIORITY
from zkchat.model.events import Warned
from zkchat.model.evidence import DEFAULT_LIMIT, Evidence, Findings, VaultListing
from zkchat.model.message import ChatMessage
from zkchat.model.note import is_image
from zkchat.model.parts import EvidencePart, FilePart, Part, TextPart
from zkchat.model.profile import Agent
from zkchat.model.references import DocumentReference
from zkchat.ports.tokenizer import Tokenizer
from zkchat.vault.catalog.query import MAX_ASKED, MAX_LISTED

PASTE_TOKENS: Final = 2_000
"""From here on a message that is mostly material counts as a paste."""
RoomBeside = Callable[[int], DocumentRoom]
"""The room for documents beside so many tokens of other things."""


class Augmentation:
    """Adds to a question what the model needs to answer it, as far as there is room."""

    def __init__(self, core: ConversationCore, requests: RequestBuilder, second_look: SecondLook) -> None:
        self._core = core
        self._requests = requests
        self._second_look = second_look
        self.further_passages: dict[str, int] = {}
        """How many passages would follow those that went with a question, by its id."""

    def augment(
        self,
        question: Question,
        asked: ChatMessage,
        agent: Agent,
        references: tuple[DocumentReference, ...],
        resources: Sequence[Resource] = (),
    ) -> tuple[ChatMessage, Sequence[Warned]]:
        """The message with all that goes along, and warnings about what does not."""
        planner = self._requests.planner
        can_read = planner.can_read(agent)
        lasting = planner.lasting_notes(agent) if references else ()
        room = partial(self._requests.documents_room, agent, asked, question.prose)
        found, self.further_passages[asked.id] = self._findings(question, asked, references, can_read=can_read)
        linked = [each for each in references if not is_sent_anyway(each, lasting)]
        named = self._core.images.take_named(linked, images_of(asked), lambda: room(0).tokens)
        taken = {each.relative_path: each for each in named.references}
        linked = [taken.get(each.relative_path, each) for each in linked]
        files, marked, evidence = self._documents(asked, linked, found.evidence, named.tokens, room)
        if resources:
            files += self._resource_parts(question, resources, named.tokens + self._tokens_of(files), room)
        beside = named.tokens + self._tokens_of(files)
        shown = self._core.images.take_embedded(files, named.parts, lambda: room(beside).tokens)
        parts: list[Part] = [TextPart(text=question.text), *files, *named.parts, *shown.parts]
        found = replace(found, evidence=evidence)
        if _says_something(found):
            parts.append(found)
        own = self._core.tokenizer.count(question.text)
        user = replace(
            asked,
            parts=tuple(parts),
            references=with_those_sent_anyway([*marked, *shown.references], references, lasting),
            token_count=own,
            priority=priority_of(question.text, own),
        )
        augmented = self._core.tokenizer.count(augmented_text(user, can_read=can_read)) + named.tokens + shown.tokens
        return replace(user, augmented_token_count=augmented), named.warnings

    def _findings(
        self, question: Question, asked: ChatMessage, references: Sequence[DocumentReference], *, can_read: bool
    ) -> tuple[EvidencePart, int]:
        """What the vault or the message itself says on a question, and how many passages of notes would follow."""
        listing = self._listing(question, references)
        is_looked_up = listing is None and (asked.brief is None or asked.brief.uses_notes)
        found = self._evidence(question, references, can_read=can_read) if is_looked_up else Findings()
        excerpts = find_excerpts(question.text) if self._core.info.needs_notes and not listing else ()
        if excerpts and (found.is_doubtful or not found.evidence):
            found = Findings()
        part = EvidencePart(
            evidence=found.evidence,
            nearest=found.nearest,
            is_doubtful=found.is_doubtful,
            excerpts=excerpts,
            listing=listing,
            remark=found.remark,
            searched_for=found.searched_for,
        )
        return part, found.more

    def _listing(self, question: Question, references: Sequence[DocumentReference]) -> VaultListing | None:
        """What the index says on a question about the vault itself, where no model could find out."""
        if not self._core.info.needs_notes:
            return None
        most = MAX_ASKED if self._core.settings.quoted_passages > DEFAULT_LIMIT else MAX_LISTED
        from zkchat.chat.vault_answers import answer_about_vault

        return answer_about_vault(self._core.library, question, references, most=most)

    def _evidence(self, question: Question, references: Sequence[DocumentReference], *, can_read: bool) -> Findings:
        """What the vault says on it, for a model that cannot look by itself, or hardly would."""
        info = self._core.info
        if not (self._core.settings.strict or wants_evidence(info, self._core.budget.window, can_read=can_read)):
            return Findings(tuple(self._second_look.expected(question, references)))
        limit = self._core.settings.quoted_passages if info.needs_notes else DEFAULT_LIMIT
        return look_up(self._core.library, question, references, limit=limit)

    def _documents(
        self,
        asked: ChatMessage,
        linked: Sequence[DocumentReference],
        found: tuple[Evidence, ...],
        taken: int,
        room_beside: RoomBeside,
    ) -> tuple[list[FilePart], list[DocumentReference], tuple[Evidence, ...]]:
        """The documents that go along, whole or in part, their references, and the passages to be sent beside them.

        `taken` are the tokens of images.
        Passages that stand in the documents are not sent twice, except to a model that reads little else.
        """
        info, evidence, tokenizer = self._core.info, found, self._requests.expected_tokens
        embeds = partial(embedded, self._core.library)
        files: list[FilePart] = []
        marked: list[DocumentReference] = []
        for _ in range(2):  # passages that need not be sent leave their room to the documents
            room = DocumentRoom(tokens=0)
            if any(reference.relative_path for reference in linked):
                beside = _tokens_beside(evidence, linked, tokenizer)
                beside += taken + (tokenizer.count(asked.brief.text) if asked.brief else 0)
                room = room_beside(beside)
            files, marked = include_documents(linked, self._text_of, tokenizer, room, embeds)
            if info.needs_notes or info.needs_evidence:
                break
            before, evidence = evidence, tuple(each for each in found if not _holds(files, each))
            if len(evidence) == len(before):
                break
        return files, marked, evidence

    def _resource_parts(
        self, question: Question, resources: Sequence[Resource], taken: int, room_beside: RoomBeside
    ) -> list[FilePart]:
        """What servers gave, in the room that is left beside the `taken` tokens, shared by all of them."""
        tokenizer = self._requests.expected_tokens
        room = room_beside(taken + TAG_TOKENS * len(resources))
        parts: list[FilePart] = []
        for left, each in zip(range(len(resources), 0, -1), resources, strict=True):
            spent = sum(tokenizer.count(part.text) for part in parts)
            found = excerpt_document(each.text, (room.tokens - spent) // left, tokenizer.count, question.prose)
            if found.text:
                parts.append(FilePart(name=each.uri, text=found.text, extent=found.extent, server=each.server))
        return parts

    def _tokens_of(self, files: Iterable[FilePart]) -> int:
        return sum(self._requests.expected_tokens.count(file.text) + TAG_TOKENS for file in files)

    def _text_of(self, reference: DocumentReference) -> str:
        assert reference.relative_path is not None
        if is_image(reference.relative_path):
            return ""
        try:
            return self._core.library.section(
                reference.relative_path, reference.anchor if reference.anchor_found else ""
            )
        except VaultError:
            return ""


def _says_something(found: EvidencePart) -> bool:
    said = found.evidence, found.nearest, found.remark, found.searched_for, found.excerpts, found.listing
    return any(said)


def _tokens_beside(evidence: Iterable[Evidence], linked: Iterable[DocumentReference], tokenizer: Tokenizer) -> int:
    """About what passages take, and the links and tags of documents, beside the text of these."""
    texts = [each.text for each in evidence]
    links = [f"{each.wikilink} {each.relative_path} {each.summary} {each.relative_path}" for each in linked]
    return sum(tokenizer.count(text) + TAG_TOKENS for text in (*texts, *links))


def _holds(files: Iterable[FilePart], passage: Evidence) -> bool:
    """Whether a document that goes along holds the passage anyway."""
    names = (passage.relative_path, f"{passage.relative_path}#{passage.heading}")
    return any(file.name in names and (not file.extent or passage.text in file.text) for file in files)


def priority_of(text: str, tokens: int) -> int:
    """How important a message of the user is by itself: less than others if most of it is pasted."""
    is_pasted = tokens > PASTE_TOKENS and 2 * len(split_question(text).material) > len(text)
    return PASTE_PRIORITY if is_pasted else DEFAULT_PRIORITY
