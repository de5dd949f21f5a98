"""Vectors from a server: what its models expect, the form of requests, and the requests."""

import math
import threading
from base64 import b64decode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import count
from time import monotonic
from typing import Any, Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from zkchat.core import OpenText, ProviderError, SimilarityTraits, TextKeptHere, TextRefused
from zkchat.models.embedding_wires import (
    DEFAULT_EMBEDDING_SETTINGS,
    Convention,
    EmbeddingSettings,
    OllamaWire,
    OpenAIWire,
    convention_for,
)
from zkchat.models.errors import Endpoint, Failure
from zkchat.models.registry import display_address, is_forwarded, may_run_here, ollama_address
from zkchat.models.transport import DEFAULT_POLICY, JsonRequests, RequestFailed, TransportPolicy, replace_surrogates

_MAX_BATCH_CHARS: Final = 48_000
"""Some 16,000 tokens: what a model on two cores embeds within a minute."""
_CHARS_PER_TOKEN: Final = 4.0
"""Of prose in alphabets, at first; where a server refuses what was cut by it, fewer."""
_MIN_CHARS_PER_TOKEN: Final = 2.0
_MIN_CUT_CHARS: Final = 16
"""A text of which so little is refused is not refused for its length."""
_MAX_REPLY_BYTES: Final = 64_000_000
_MAX_DIMENSIONS: Final = 16_384
_QUERY_SECONDS: Final = 3.0
"""That a question may wait for its vector; the model may have to be loaded, and then words and other vectors decide."""
_QUERY_CONNECT_SECONDS: Final = 1.0
_LOCATE_SECONDS: Final = 2.0
_LOCATE_PAUSE: Final = 1.5
_TOO_LONG: Final = ("context length", "context size", "context window", "too long", "too large", "maximum", "tokens")
_NOT_IMPLEMENTED: Final = 501
_WEIGHT: Final = 7 / 3
"""Chosen with MiniLM on one half of the questions of benchmarks/retrieval."""
_PROBE: Final = "note"
_FIRST_IDEOGRAPH: Final = "\u2e80"
"""From here on, most characters are a token or more."""


class ServerEmbedder:
    """Implements `ports.embeddings.Embedder`. Every thread may use it."""

    needs_server = True

    def __init__(
        self,
        wire: OllamaWire | OpenAIWire,
        endpoint: Endpoint,
        settings: EmbeddingSettings = DEFAULT_EMBEDDING_SETTINGS,
        policy: TransportPolicy = DEFAULT_POLICY,
    ) -> None:
        self._wire = wire
        self._endpoint = endpoint
        self._settings = settings
        self._policy = policy
        self._convention = _with_overrides(convention_for(wire.model), settings)
        self.traits = SimilarityTraits(weight=_WEIGHT, languages=self._convention.languages)
        self._server = wire.host if isinstance(wire, OllamaWire) else ollama_address(wire.base_url)
        self._may_run_here = may_run_here(self._server, wire.model, local=settings.local)
        self._runs_here: bool | None = None if self._may_run_here else False
        self._locate_again_at = 0.0
        self._requests = JsonRequests(endpoint, connect_timeout=policy.connect_timeout, max_bytes=_MAX_REPLY_BYTES)
        self._queries = JsonRequests(endpoint, connect_timeout=_QUERY_CONNECT_SECONDS, max_bytes=_MAX_REPLY_BYTES)
        self._closing = threading.Event()
        self._dimensions = 0
        self._chars_per_token = _CHARS_PER_TOKEN
        self._accepts_texts = False
        """Whether it has embedded anything, so that what it refuses is about the text."""
        provider = "ollama" if isinstance(wire, OllamaWire) else "openai"
        self.name = f"{provider}:{_without_default_tag(wire.model)}{_method_mark(self._convention, settings)}"
        self.batch_size = settings.batch_size

    @property
    def dimensions(self) -> int:
        """Known once the server has embedded something, for which it is asked if need be. Raises `ProviderError`."""
        if not self._dimensions:
            self._embed_batch([_PROBE])
        return self._dimensions

    @property
    def is_on_this_machine(self) -> bool:
        """Whether the model runs here. Its server is asked whether it forwards it; until it answers, it does not.

        One that did not answer is not asked again at once: this is looked at whenever progress is shown.
        """
        if self._runs_here is None and monotonic() >= self._locate_again_at:
            self._runs_here = self._located()
            self._locate_again_at = monotonic() + _LOCATE_PAUSE
        return self._runs_here is True

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text, of length 1, or 0 where there is none. Raises `ProviderError`."""
        self._require_open(texts)
        prefix = self._convention.document_prefix
        asked = [place for place, text in enumerate(texts) if text.strip()]  # servers refuse empty texts
        vectors: dict[int, NDArray[np.float32]] = {}
        for batch in self._batches([self._fitting(prefix + texts[place]) for place in asked]):
            start = len(vectors)
            rows = self._embed_batch(batch)
            vectors.update(zip(asked[start : start + len(batch)], rows, strict=True))
        result = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        for place, row in vectors.items():
            result[place] = row
        return result

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The row of a question, which waits no longer than a user does. Raises `ProviderError`."""
        self._require_open([text])
        text = self._fitting(self._convention.query_prefix + text)
        try:
            rows = self._ask(self._queries, [text], min(_QUERY_SECONDS, self._settings.timeout))
        except RequestFailed as failed:
            raise failed.failure.error from None
        row: NDArray[np.float32] = self._checked(rows, 1)[0]
        return row

    def _require_open(self, texts: Sequence[str]) -> None:
        if not (all(isinstance(text, OpenText) for text in texts) or self.is_on_this_machine):
            raise TextKeptHere(f"{self._endpoint.name} is not on this machine, and the text stays on it.")

    def close(self) -> None:
        """End what is waited for; nothing is asked any more."""
        self._closing.set()
        self._requests.cancel()
        self._queries.cancel()

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        chars = 0
        for text in texts:
            if batch and (len(batch) >= self._settings.batch_size or chars + len(text) > _MAX_BATCH_CHARS):
                yield batch
                batch, chars = [], 0
            batch.append(text)
            chars += len(text)
        if batch:
            yield batch

    def _fitting(self, text: str) -> str:
        """The text, or as much of its beginning as the model reads."""
        text = replace_surrogates(text)
        room = float(self._convention.max_tokens)
        if len(text) <= room:
            return text
        for place, letter in enumerate(text):
            room -= 1 if letter >= _FIRST_IDEOGRAPH else 1 / self._chars_per_token
            if room < 0:
                return text[:place]
        return text

    def _embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows for all of them; a batch that is refused is divided, and a text that is refused is cut."""
        try:
            return self._checked(self._asked_with_retries(texts), len(texts))
        except RequestFailed as failed:
            if not _is_refusal(failed):
                raise failed.failure.error from None
            self._require_usable(failed)
            if len(texts) == 1:
                return self._embed_cut(texts[0], failed)
        rows = [self._embed_or_skip(half) for half in (texts[: len(texts) // 2], texts[len(texts) // 2 :])]
        if all(part is None for part in rows):
            raise TextRefused(f"{self._endpoint.name} takes none of the texts.", hint="")
        empty = [len(texts) // 2, len(texts) - len(texts) // 2]
        return np.concatenate(
            [
                np.zeros((size, self._dimensions), dtype=np.float32) if part is None else part
                for part, size in zip(rows, empty, strict=True)
            ]
        )

    def _embed_or_skip(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        try:
            return self._embed_batch(texts)
        except TextRefused:
            return None

    def _embed_cut(self, text: str, refused: RequestFailed) -> NDArray[np.float32]:
        """The row of a text by as much of its beginning as the server takes."""
        if not _is_too_long(refused) or len(text) < 2 * _MIN_CUT_CHARS:
            raise TextRefused(refused.failure.text, hint=refused.failure.hint)
        self._chars_per_token = max(_MIN_CHARS_PER_TOKEN, self._chars_per_token - 0.5)
        return self._embed_batch([text[: len(text) // 2]])

    def _require_usable(self, refused: RequestFailed) -> None:
        """Raise `ProviderError` if the server refuses a plain word too: then it is not about the text."""
        if self._accepts_texts:
            return
        try:
            self._checked(self._asked_with_retries([_PROBE]), 1)
        except RequestFailed:
            raise refused.failure.error from None

    def _asked_with_retries(self, texts: Sequence[str]) -> list[Any]:
        for attempt in count():
            try:
                return self._ask(self._requests, texts, self._settings.timeout)
            except RequestFailed as failed:
                delay = None if _is_refusal(failed) else self._policy.retry_delay(attempt, failed.failure)
                if delay is None or self._closing.wait(delay):
                    raise
        raise AssertionError

    def _ask(self, requests: JsonRequests, texts: Sequence[str], seconds: float) -> list[Any]:
        reply = requests.ask(self._wire.url, self._wire.body(texts, self._settings), seconds)
        try:
            return self._wire.rows(reply)
        except (ValueError, TypeError, LookupError, AttributeError):
            name = self._endpoint.name
            raise _invalid(f"{name} sent something that holds no vectors.", "Is it a model for embeddings?") from None

    def _checked(self, rows: Sequence[Any], texts: int) -> NDArray[np.float32]:
        """The rows as a matrix of directions. Raises `ProviderError` for what are no vectors of this model."""
        name = self._endpoint.name
        if len(rows) != texts:
            raise _invalid(f"{name} sent {len(rows):,} vectors for {texts:,} texts.", "")
        try:
            matrix = np.array([_numbers_of(row) for row in rows], dtype=np.float32)
        except (ValueError, TypeError, OverflowError):
            raise _invalid(
                f"{name} sent vectors of different lengths, or with something else than numbers.", ""
            ) from None
        if matrix.ndim != 2 or not 1 < matrix.shape[1] <= _MAX_DIMENSIONS:
            raise _invalid(f"{name} sent something that holds no vectors.", "Is it a model for embeddings?")
        if not np.isfinite(matrix).all():
            raise _invalid(f"{name} sent vectors with numbers that are none (NaN or infinite).", "Restart the server.")
        matrix = self._of_right_size(matrix)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not lengths.any():
            raise _invalid(f"{name} sent vectors of zeros only.", "Restart the server, or choose another model.")
        matrix /= np.where(lengths > 0, lengths, 1)
        self._dimensions = matrix.shape[1]
        self._accepts_texts = True
        return matrix

    def _of_right_size(self, matrix: NDArray[np.float32]) -> NDArray[np.float32]:
        wanted, sent, name = self._settings.dimensions, matrix.shape[1], self._endpoint.name
        if wanted is not None and sent > wanted and self._convention.can_shorten:
            return matrix[:, :wanted].copy()  # by a server that does not know the option
        if wanted is not None and sent != wanted:
            hint = "Unset `embeddings.dimensions`: not every model can shorten its vectors."
            raise _invalid(
                f"{name} sent vectors of {sent:,} numbers where `embeddings.dimensions` is {wanted:,}.", hint
            )
        if self._dimensions and sent != self._dimensions:
            text = (
                f"{name} sent vectors of {sent:,} numbers, and of {self._dimensions:,} before: another model answers."
            )
            raise _invalid(text, "Start zkchat anew, and it embeds your notes with the model that is there now.")
        return matrix

    def _located(self) -> bool | None:
        """Whether the model runs on this machine; None where an answer that could say so does not come.

        Only an Ollama forwards models, and says so; any other server runs what it offers.
        """
        try:
            model = {"model": self._endpoint.model}
            return not is_forwarded(self._queries.ask(f"{self._server.rstrip('/')}/api/show", model, _LOCATE_SECONDS))
        except RequestFailed as failed:
            answers = failed.status and (failed.status < 500 or failed.status == _NOT_IMPLEMENTED)
            return True if answers else None


def ollama_embedder(
    model: str, *, host: str, api_key: str = "", settings: EmbeddingSettings = DEFAULT_EMBEDDING_SETTINGS
) -> ServerEmbedder:
    endpoint = Endpoint(
        server=f"Ollama at {display_address(host)}",
        model=model,
        if_unreachable="Start it with `ollama serve`, or set `ollama.host`; until then other vectors are used.",
        if_key_refused="Sign in with `ollama signin`, or put a valid key into the variable OLLAMA_API_KEY.",
        if_model_missing=f"Fetch it with `ollama pull {model}`; `ollama list` shows what is there.",
        key=api_key.strip(),
    )
    return ServerEmbedder(OllamaWire(model, host), endpoint, settings)


def openai_embedder(
    model: str,
    *,
    base_url: str,
    api_key: str = "",
    key_variable: str = "OPENAI_API_KEY",
    settings: EmbeddingSettings = DEFAULT_EMBEDDING_SETTINGS,
) -> ServerEmbedder:
    endpoint = Endpoint(
        server=display_address(base_url),
        model=model,
        if_unreachable="Check the network and the server's address; until then other vectors are used.",
        if_key_refused=f"Put a valid key into the variable {key_variable}.",
        if_model_missing="Check the model's name, and the address, which most often ends in /v1.",
        key=api_key.strip(),
    )
    return ServerEmbedder(OpenAIWire(model, base_url), endpoint, settings)


def _with_overrides(known: Convention, settings: EmbeddingSettings) -> Convention:
    return replace(
        known,
        query_prefix=known.query_prefix if settings.query_prefix is None else settings.query_prefix,
        document_prefix=known.document_prefix if settings.document_prefix is None else settings.document_prefix,
    )


def _method_mark(convention: Convention, settings: EmbeddingSettings) -> str:
    """What tells vectors that cannot be compared apart, though one model made them; empty for the plain way."""
    dimensions = settings.dimensions or ""
    if not (dimensions or convention.query_prefix or convention.document_prefix):
        return ""
    method = f"{dimensions}\n{convention.query_prefix}\n{convention.document_prefix}"
    return f"#{sha256(method.encode()).hexdigest()[:8]}"


def _without_default_tag(model: str) -> str:
    return model.removesuffix(":latest")


def _is_refusal(failed: RequestFailed) -> bool:
    """Whether the server did not like the texts, so that fewer or shorter ones may pass."""
    return failed.status in {400, 413, 422} or (failed.status == 500 and _is_too_long(failed))


def _is_too_long(failed: RequestFailed) -> bool:
    said = failed.said.casefold()
    return failed.status == 413 or any(words in said for words in _TOO_LONG)


def _invalid(text: str, hint: str) -> ProviderError:
    return Failure(text=text, hint=hint or "`zkchat doctor` asks it for one vector.").error


def _numbers_of(row: Any) -> NDArray[np.float32]:
    """The numbers of a row, which a server may send packed whatever it was asked for."""
    if isinstance(row, str):
        return np.frombuffer(b64decode(row, validate=True), dtype="<f4")
    return np.array([math.nan if number is None else number for number in row], dtype=np.float32)
