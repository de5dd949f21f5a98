"""Vectors of texts: what makes them, and where they are kept."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from zkchat.model.embeddings import (
    NOTHING_KNOWN,
    AddedVectors,
    PassageDigests,
    SimilarityTraits,
    StoredVectors,
    VectorPosition,
)
from zkchat.model.index import StoredSection

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TextEmbedder(Protocol):
    """Texts as directions, near each other where the texts are near in meaning. Every thread may use it."""

    @property
    def name(self) -> str:
        """Model and method: vectors of different names cannot be compared."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """A row of length 1 for each text; of length 0 for a text of which nothing is known.

        Raises `ProviderError`, `TextRefused` where the model takes no such text, whatever is tried again, and
        `TextKeptHere` where a text that is no `OpenText` would leave this machine.
        """


class Embedder(TextEmbedder, Protocol):
    """Passages and questions as directions, computed here or by a server."""

    @property
    def traits(self) -> SimilarityTraits: ...

    @property
    def is_on_this_machine(self) -> bool:
        """Whether texts stay on this machine: what is no `OpenText` goes nowhere else."""

    @property
    def needs_server(self) -> bool:
        """Whether `embed` and `embed_query` may have to wait for another process."""

    @property
    def batch_size(self) -> int:
        """Passages that are embedded at once; when the work is killed, no more than these are embedded again."""

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """The direction of a question, by the conventions that the model has for questions. Raises as `embed`."""


class VectorCache(Protocol):
    """Vectors of short texts, kept from one run to the next. Any of its methods may raise `StorageError`."""

    def vectors(self, method: str, digests: Sequence[str]) -> dict[str, bytes]:
        """Those that are there, made by this method, by the digest of their texts."""

    def keep_vectors(self, method: str, vectors: Mapping[str, bytes]) -> None: ...


class VectorIndex(Protocol):
    """Vectors of passages, by the digest of what was embedded and by method, beside the note index that they outlive.

    Several processes may use it at once.
    """

    def passages(self, after: int = 0) -> PassageDigests:
        """The digests of all sections whose notes begin after this number, in the order of their numbers."""

    def sections(self, numbers: Sequence[int]) -> list[StoredSection]:
        """Those that are still there."""

    def methods(self) -> list[str]:
        """Those that have vectors, the one written last first."""

    def active(self) -> str:
        """The method that searches go by; empty where none was chosen."""

    def activate(self, method: str) -> None: ...

    def stamp(self, method: str) -> object:
        """Another one, where there is something new to read; asked at every search."""

    def read(self, method: str, known: VectorPosition = NOTHING_KNOWN) -> StoredVectors | None:
        """What was added since, or all where what is known does not count any more; None where there is nothing."""

    def add(
        self,
        method: str,
        digests: Sequence[bytes],
        sketches: bytes,
        vectors: bytes,
        known: VectorPosition = NOTHING_KNOWN,
    ) -> AddedVectors:
        """Keep vectors, all or none, but not those that others have added since.

        Where they are of another size than those that are there, these are thrown away.
        """

    def retain(self, method: str, digests: Collection[bytes]) -> int:
        """Forget all others, and those that are damaged; returned is how many there are."""

    def is_intact(self, method: str) -> bool:
        """Whether every vector is as it was written. Reads all of them."""

    def remove(self, method: str) -> None: ...

    def claim(self, method: str) -> AbstractContextManager[bool]:
        """Whether nobody else embeds by this method meanwhile."""
