"""Notes that a request would hold twice, because the session or the agent brings them in and the message links them."""

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from zkchat.chat.references import ReferenceList, full_name
from zkchat.context.formatting import format_document
from zkchat.context.selection import Selection
from zkchat.model.message import ChatMessage
from zkchat.model.parts import FilePart
from zkchat.model.references import DocumentReference
from zkchat.model.request_context import LeftOut, RequestItem

IN_EVERY_REQUEST = "linked in the message, and in every request already"
WITH_THE_MESSAGE = "its text comes with the message, which links it"


def is_sent_anyway(reference: DocumentReference, lasting: Collection[str]) -> bool:
    """Whether what is linked is one of the notes that every request holds, or a place in one."""
    return reference.relative_path in lasting or _name(reference) in lasting


def with_those_sent_anyway(
    included: Iterable[DocumentReference], references: Iterable[DocumentReference], lasting: Collection[str]
) -> tuple[DocumentReference, ...]:
    """The references of a message: those whose text comes with it, and those whose text every request holds."""
    anyway = [replace(each, included=True) for each in references if is_sent_anyway(each, lasting)]
    return ReferenceList([*anyway, *included]).as_tuple() if anyway else tuple(included)


def without_repeated(selected: Selection, user: ChatMessage, lasting: Collection[str]) -> Selection:
    """The selection without notes that come whole with the message, and a record of each note that is sent once."""
    texts = [part.text for part in user.parts if isinstance(part, FilePart)]
    repeated = {
        each.item.name
        for each in selected.items
        if each.item.type == "reference"
        and each.item.this_turn_only
        and any(format_document(each.item.name, text) == each.text for text in texts)
    }
    kept = tuple(each for each in selected.items if each.item.type != "reference" or each.item.name not in repeated)
    return Selection(kept, (*selected.left_out, *_records(selected, repeated, user, lasting)))


def _records(
    selected: Selection, repeated: Collection[str], user: ChatMessage, lasting: Collection[str]
) -> Iterator[LeftOut]:
    for item in selected.records:
        if item.type == "reference" and item.name in repeated:
            yield LeftOut(item=replace(item, reason=WITH_THE_MESSAGE), why="repeated")
    for reference in user.references:
        if reference.reference_type == "direct" and is_sent_anyway(reference, lasting):
            item = RequestItem(type="reference", name=_name(reference), include="manual", reason=IN_EVERY_REQUEST)
            yield LeftOut(item=item, why="repeated")


def _name(reference: DocumentReference) -> str:
    return full_name(reference.relative_path or reference.wikilink, reference.anchor if reference.anchor_found else "")
