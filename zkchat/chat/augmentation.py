"""What goes along with a question: documents, images, resources of servers, and what the vault says on it."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from zkchat.chat.evidence_lookup import look_up
from zkchat.chat.images import MessageImages
from zkchat.chat.long_messages import priority_of
from zkchat.chat.question import Question
from zkchat.chat.references import embedded
from zkchat.chat.repeated_notes import is_sent_anyway, with_those_sent_anyway
from zkchat.chat.request import RequestBuilder
from zkchat.chat.second_look import SecondLook
from zkchat.chat.server_access import Resource
from zkchat.context.documents import TAG_TOKENS, DocumentRoom, excerpt_document, include_documents
from zkchat.context.formatting import augmented_text
from zkchat.context.images import images_of
from zkchat.context.message_excerpts import find_excerpts
from zkchat.context.selection import wants_evidence
from zkchat.errors import VaultError
from zkchat.model.events import Warned
from zkchat.model.evidence import DEFAULT_LIMIT, Evidence, Findings, VaultListing
from zkchat.model.message import ChatMessage
from zkchat.model.note import is_image
from zkchat.model.parts import EvidencePart, FilePart, Part, TextPart
from zkchat.model.profile import Agent
from zkchat.model.references import DocumentReference
from zkchat.ports.models import ModelProvider
from zkchat.ports.tokenizer import Tokenizer
from zkchat.vault.catalog.query import MAX_ASKED, MAX_LISTED
from zkchat.vault.library import Library

RoomBeside = Callable[[int], DocumentRoom]
"""The room for documents beside so many tokens of other things."""


class Augmentation(Struct, frozen=True, kw_only=True):
    """Adds to a question what the model needs to answer it, as far as there is room."""

    library: Library
    provider: ModelProvider
    requests: RequestBuilder
    second_look: SecondLook
    tokenizer: Tokenizer
    images: MessageImages
    strict: bool = False
    """Whether the model may answer only from what the notes say."""
    quoted_passages: int = DEFAULT_LIMIT
    """Passages that an answer without a model quotes at most."""
    further_passages: dict[str, int] = field(default_factory=dict)
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
        planner = self.requests.planner
        can_read = planner.can_read(agent)
        lasting = planner.lasting_notes(agent) if references else ()
        room = partial(self.requests.documents_room, agent, asked, question.prose)
        found, self.further_passages[asked.id] = self._findings(question, asked, references, can_read=can_read)
        linked = [each for each in references if not is_sent_anyway(each, lasting)]
        named = self.images.take_named(linked, images_of(asked), lambda: room(0).tokens)
        taken = {each.relative_path: each for each in named.references}
        linked = [taken.get(each.relative_path, each) for each in linked]
        files, marked, evidence = self._documents(asked, linked, found.evidence, named.tokens, room)
        if resources:
            files += self._resource_parts(question, resources, named.tokens + self._tokens_of(files), room)
        beside = named.tokens + self._tokens_of(files)
        shown = self.images.take_embedded(files, named.parts, lambda: room(beside).tokens)
        parts: list[Part] = [TextPart(text=question.text), *files, *named.parts, *shown.parts]
        found = replace(found, evidence=evidence)
        if _says_something(found):
            parts.append(found)
        own = self.tokenizer.count(question.text)
        user = replace(
            asked,
            parts=tuple(parts),
            references=with_those_sent_anyway([*marked, *shown.references], references, lasting),
            token_count=own,
            priority=priority_of(question.text, own),
        )
        augmented = self.tokenizer.count(augmented_text(user, can_read=can_read)) + named.tokens + shown.tokens
        return replace(user, augmented_token_count=augmented), named.warnings

    def _findings(
        self, question: Question, asked: ChatMessage, references: Sequence[DocumentReference], *, can_read: bool
    ) -> tuple[EvidencePart, int]:
        """What the vault or the message itself says on a question, and how many passages of notes would follow."""
        listing = self._listing(question, references)
        is_looked_up = listing is None and (asked.brief is None or asked.brief.uses_notes)
        found = self._evidence(question, references, can_read=can_read) if is_looked_up else Findings()
        excerpts = find_excerpts(question.text) if self.provider.info.needs_notes and not listing else ()
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
        if not self.provider.info.needs_notes:
            return None
        most = MAX_ASKED if self.quoted_passages > DEFAULT_LIMIT else MAX_LISTED
        from zkchat.chat.vault_answers import answer_about_vault

        return answer_about_vault(self.library, question, references, most=most)

    def _evidence(self, question: Question, references: Sequence[DocumentReference], *, can_read: bool) -> Findings:
        """What the vault says on it, for a model that cannot look by itself, or hardly would."""
        info = self.provider.info
        if not (self.strict or wants_evidence(info, self.requests.budget.window, can_read=can_read)):
            return Findings(tuple(self.second_look.expected(question, references)))
        limit = self.quoted_passages if info.needs_notes else DEFAULT_LIMIT
        return look_up(self.library, question, references, limit=limit)

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
        info, evidence, tokenizer = self.provider.info, found, self.requests.expected_tokens
        embeds = partial(embedded, self.library)
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
        tokenizer = self.requests.expected_tokens
        room = room_beside(taken + TAG_TOKENS * len(resources))
        parts: list[FilePart] = []
        for left, each in zip(range(len(resources), 0, -1), resources, strict=True):
            spent = sum(tokenizer.count(part.text) for part in parts)
            found = excerpt_document(each.text, (room.tokens - spent) // left, tokenizer.count, question.prose)
            if found.text:
                parts.append(FilePart(name=each.uri, text=found.text, extent=found.extent, server=each.server))
        return parts

    def _tokens_of(self, files: Iterable[FilePart]) -> int:
        return sum(self.requests.expected_tokens.count(file.text) + TAG_TOKENS for file in files)

    def _text_of(self, reference: DocumentReference) -> str:
        assert reference.relative_path is not None
        if is_image(reference.relative_path):
            return ""
        try:
            return self.library.section(reference.relative_path, reference.anchor if reference.anchor_found else "")
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
