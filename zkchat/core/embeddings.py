"""How vectors of a method are compared, and how far the embedding of a vault's passages has come."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

from msgspec import Struct

DIGEST_BYTES: Final = 16


class OpenText(str):
    """A text that may go to a server elsewhere: a passage of an open note, or what somebody asked.

    Made only where it is known what the text comes from. What is cut from it or joined to it is a plain `str` again,
    which no server elsewhere is sent.
    """

    __slots__ = ()


def as_open_as(origin: str, text: str) -> str:
    """A text that is made of another one, and of nothing that a note says."""
    return OpenText(text) if isinstance(origin, OpenText) else text


def embedded_text(title: str, text: str) -> str:
    """What is embedded of a passage: its text, which begins with its heading, below the title of its note."""
    return f"{title}\n{text}"


def passage_digest(title: str, text: str) -> bytes:
    """Of what is embedded: passages of the same digest have the same vectors."""
    return blake2b(embedded_text(title, text).encode(errors="surrogatepass"), digest_size=DIGEST_BYTES).digest()


class SimilarityTraits(Struct, frozen=True, kw_only=True):
    """What has to be known of a method to compare its vectors. The defaults suit a model of which nothing is known."""

    min_cosine: float | None = None
    """The cosine from which a passage is shown for its meaning alone; None: learned from the passages of the vault."""
    has_common_direction: bool = True
    """Whether what all vectors of a vault have in common is taken out before they are compared."""
    weight: float = 1.0
    """How much similarities count in the ranking, beside 1 for those of static vectors, which count too."""
    languages: frozenset[str] = frozenset()
    """Codes of the languages that the model knows, where they are few: a question in another one is compared by static
    vectors alone. Empty: any."""


class EmbeddingProgress(Struct, frozen=True, kw_only=True):
    """How far the embedding of a vault's passages has come."""

    done: int
    """Passages that have a vector of `method`; passages with the same title and text count once."""
    total: int
    """Passages that are to have one; those that may not be sent to the method's server are not counted."""
    method: str
    """The method that is wanted."""
    active_method: str
    """The method by which searches compare: the former one, until all passages have a vector of the wanted one."""
    problem: str = ""
    """Why it does not go on at the moment, as a sentence; empty while it does."""

    @property
    def is_complete(self) -> bool:
        return self.done >= self.total


class PassageDigests(Struct, frozen=True, kw_only=True):
    """What the sections of an index hold, by their digests."""

    epoch: int
    """Another one, where the index was begun anew: sections then have other numbers."""
    notes: Sequence[tuple[int, bytes]]
    """The number of the first section of a note, and the digests of all of them, one after the other."""


class VectorBlock(Struct, frozen=True, kw_only=True):
    """Vectors that were stored together."""

    digests: bytes
    sketches: bytes
    start: int
    """Where the first vector begins in the data of the file; the others follow."""


class VectorPosition(NamedTuple):
    """Up to where the vectors of a method are known."""

    generation: tuple[int, ...] = ()
    """Another one, where the file was written anew."""
    end: int = 0
    """Where the next block begins."""


NOTHING_KNOWN: Final = VectorPosition()


class AddedVectors(NamedTuple):
    """What is known after vectors were added."""

    position: VectorPosition
    by_others: frozenset[bytes] = frozenset()
    """The digests of passages whose vectors others have added meanwhile."""


class StoredVectors(Struct, frozen=True, kw_only=True):
    """The vectors of one method, or those of them that were added since somebody last asked."""

    position: VectorPosition
    is_new: bool
    """Whether these are all there are, and nothing that was read before counts any more."""
    vector_bytes: int
    sketch_bytes: int
    blocks: Sequence[VectorBlock]
    data: memoryview
    """The whole file, mapped; empty where there are no blocks."""
