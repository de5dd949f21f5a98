"""Vectors from a server: Ollama's `/api/embed`, or OpenAI's `/v1/embeddings` as llama.cpp, vLLM and others have it."""

import math
import threading
from base64 import b64decode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import count
from time import monotonic
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from zkchat.core import OpenText, ProviderError, SimilarityTraits, TextKeptHere, TextRefused
from zkchat.models.embedding_conventions import (
    DEFAULT_EMBEDDING_SETTINGS,
    SERVER_WEIGHT,
    EmbeddingSettings,
    convention_for,
)
from zkchat.models.errors import Endpoint
from zkchat.models.registry import display_address, is_forwarded, may_run_here, ollama_address
from zkchat.models.transport import DEFAULT_POLICY, JsonRequests, RequestFailed, replace_surrogates

_MAX_BATCH_CHARS: Final = 48_000
"""Some 16,000 tokens: what a model on two cores embeds within a minute."""
_CHARS_PER_TOKEN: Final = 4.0
"""Of prose in alphabets, at first; where a server refuses what was cut by it, fewer."""
_MIN_CHARS_PER_TOKEN: Final = 2.0
_MIN_CUT_CHARS: Final = 32
"""A text as short as this is not refused for its length."""
_MAX_REPLY_BYTES: Final = 64_000_000
_MAX_DIMENSIONS: Final = 16_384
_QUERY_SECONDS: Final = 3.0
"""That a question may wait for its vector; the model may have to be loaded, and then words and other vectors decide."""
_QUERY_CONNECT_SECONDS: Final = 1.0
_LOCATE_SECONDS: Final = 2.0
_LOCATE_PAUSE: Final = 1.5
_TOO_LONG: Final = ("context length", "context size", "context window", "too long", "too large", "maximum", "tokens")
_NOT_IMPLEMENTED: Final = 501
_PROBE: Final = "note"
_FIRST_IDEOGRAPH: Final = "\u2e80"
"""From here on, most characters are a token or more."""
_KEEP_ALIVE: Final = "10m"
"""For so long Ollama keeps the model loaded, so that the next question need not wait for it."""
_NO_VECTORS: Final = "sent a reply without vectors."
_OTHER_MODEL: Final = "Is it a model for embeddings?"

Rows = NDArray[np.float32]


class ServerEmbedder:
    """Implements `Embedder`. Every thread may use it."""

    needs_server = True
    is_in_process = False

    def __init__(
        self, provider: Literal["ollama", "openai"], address: str, endpoint: Endpoint, settings: EmbeddingSettings
    ) -> None:
        self._is_ollama = provider == "ollama"
        self._address = address.rstrip("/")
        self._model = endpoint.model
        self._endpoint = endpoint
        self._settings = settings
        self._policy = DEFAULT_POLICY
        known = self._convention = convention_for(endpoint.model)
        self._query_prefix = known.query_prefix if settings.query_prefix is None else settings.query_prefix
        self._document_prefix = known.document_prefix if settings.document_prefix is None else settings.document_prefix
        self.traits = SimilarityTraits(weight=SERVER_WEIGHT, languages=known.languages)
        self._server = address.rstrip("/") if self._is_ollama else ollama_address(address)
        is_here = may_run_here(self._server, endpoint.model, local=settings.local)
        self._runs_here: bool | None = None if is_here else False
        self._locate_again_at = 0.0
        self._requests = JsonRequests(endpoint, max_bytes=_MAX_REPLY_BYTES)
        self._closing = threading.Event()
        self._dimensions = 0
        """Known once it has embedded anything; what it refuses from then on is about the text."""
        self._chars_per_token = _CHARS_PER_TOKEN
        # The mark tells vectors that cannot be compared apart, though one model made them.
        method = f"{settings.dimensions or ''}\n{self._query_prefix}\n{self._document_prefix}"
        mark = f"#{sha256(method.encode()).hexdigest()[:8]}" if method.strip("\n") else ""
        self.name = f"{provider}:{endpoint.model.removesuffix(':latest')}{mark}"
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

    def _located(self) -> bool | None:
        """Whether the model runs on this machine; None where an answer that could say so does not come.

        Only an Ollama forwards models, and says so; any other server runs what it offers.
        """
        url = f"{self._server}/api/show"
        try:
            shown = self._requests.ask(url, {"model": self._model}, _LOCATE_SECONDS, _QUERY_CONNECT_SECONDS)
        except RequestFailed as failed:
            answers = failed.status and (failed.status < 500 or failed.status == _NOT_IMPLEMENTED)
            return True if answers else None
        return not is_forwarded(shown)

    def embed(self, texts: Sequence[str]) -> Rows:
        """A row for each text, of length 1, or 0 where there is none. Raises `ProviderError`."""
        self._require_open(texts)
        asked = [place for place, text in enumerate(texts) if text.strip()]  # servers refuse empty texts
        fitting = [self._fitting(self._document_prefix + texts[place]) for place in asked]
        rows = [row for batch in self._batches(fitting) for row in self._embed_batch(batch)]
        result = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        for place, row in zip(asked, rows, strict=True):
            result[place] = row
        return result

    def embed_query(self, text: str) -> Rows:
        """The row of a question, which waits no longer than a user does. Raises `ProviderError`."""
        self._require_open([text])
        seconds = min(_QUERY_SECONDS, self._settings.timeout)
        try:
            row: Rows = self._ask([self._fitting(self._query_prefix + text)], seconds, _QUERY_CONNECT_SECONDS)[0]
        except RequestFailed as failed:
            raise failed.failure.error from None
        return row

    def _require_open(self, texts: Sequence[str]) -> None:
        if not (all(isinstance(text, OpenText) for text in texts) or self.is_on_this_machine):
            raise TextKeptHere(f"{self._endpoint.name} is not on this machine, so it gets no private text.")

    def close(self) -> None:
        """End what is waited for; nothing is asked any more."""
        self._closing.set()
        self._requests.cancel()

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        for text in texts:
            if batch and (
                len(batch) >= self._settings.batch_size or sum(map(len, batch)) + len(text) > _MAX_BATCH_CHARS
            ):
                yield batch
                batch = []
            batch.append(text)
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

    def _embed_batch(self, texts: Sequence[str]) -> Rows:
        """Rows for all of them; texts of a batch that is refused are sent one by one, and one that is too long is cut.

        Raises `TextRefused` where none of them is taken.
        """
        try:
            return self._ask_with_retries(texts)
        except RequestFailed as failed:
            refused = failed
        if not _is_refusal(refused):
            raise refused.failure.error from None
        if not self._dimensions:  # where a plain word is refused too, it is not about the text
            try:
                self._ask_with_retries([_PROBE])
            except RequestFailed:
                raise refused.failure.error from None
        if len(texts) > 1:
            return self._embed_one_by_one(texts)
        (text,) = texts
        if not _is_too_long(refused) or len(text) < _MIN_CUT_CHARS:
            raise TextRefused(refused.failure.text, hint=refused.failure.hint)
        self._chars_per_token = max(_MIN_CHARS_PER_TOKEN, self._chars_per_token - 0.5)
        return self._embed_batch([text[: len(text) // 2]])

    def _embed_one_by_one(self, texts: Sequence[str]) -> Rows:
        rows: list[Rows] = []
        refused = 0
        for text in texts:
            try:
                rows.append(self._embed_batch([text]))
            except TextRefused:
                refused += 1
                rows.append(np.zeros((1, self._dimensions), dtype=np.float32))
        if refused == len(texts):
            raise TextRefused(f"{self._endpoint.name} refused every text that it was sent.", hint="")
        return np.concatenate(rows)

    def _ask_with_retries(self, texts: Sequence[str]) -> Rows:
        for attempt in count():
            try:
                return self._ask(texts, self._settings.timeout, self._policy.connect_timeout)
            except RequestFailed as failed:
                delay = None if _is_refusal(failed) else self._policy.retry_delay(attempt, failed.failure)
                if delay is None or self._closing.wait(delay):
                    raise
        raise AssertionError

    def _ask(self, texts: Sequence[str], seconds: float, connect_timeout: float) -> Rows:
        wanted = self._settings
        body: dict[str, object] = {"model": self._model, "input": [*texts]}
        if self._is_ollama:
            options = {"keep_alive": _KEEP_ALIVE, **wanted.options}
            body |= {"truncate": True, "keep_alive": options.pop("keep_alive")}
            body |= {"options": options} if options else {}
        else:
            body = {**wanted.options, **body, "encoding_format": "float"}
        if wanted.dimensions is not None:
            body["dimensions"] = wanted.dimensions
        url = f"{self._address}/api/embed" if self._is_ollama else f"{self._address}/embeddings"
        reply = self._requests.ask(url, body, seconds, connect_timeout)
        try:
            if self._is_ollama:
                rows = [*reply["embeddings"]]
            else:
                entries = [*reply["data"]]
                named = {entry.get("index", place): entry["embedding"] for place, entry in enumerate(entries)}
                rows = [named[place] for place in range(len(entries))]
        except (ValueError, TypeError, LookupError, AttributeError):
            raise self._invalid(_NO_VECTORS, _OTHER_MODEL) from None
        return self._checked(rows, len(texts))

    def _checked(self, rows: Sequence[Any], texts: int) -> Rows:
        """The rows as a matrix of directions. Raises `ProviderError` for what are no vectors of this model."""
        if len(rows) != texts:
            raise self._invalid(f"sent {len(rows):,} results for {texts:,} texts.")
        try:
            unpacked = [  # a server may send them packed whatever it was asked for
                np.frombuffer(b64decode(row, validate=True), dtype="<f4")
                if isinstance(row, str)
                else np.array([math.nan if number is None else number for number in row], dtype=np.float32)
                for row in rows
            ]
            matrix = np.array(unpacked, dtype=np.float32)
        except (ValueError, TypeError, OverflowError):
            raise self._invalid("sent results of different lengths, or with something else than numbers.") from None
        if matrix.ndim != 2 or not 1 < matrix.shape[1] <= _MAX_DIMENSIONS:
            raise self._invalid(_NO_VECTORS, _OTHER_MODEL)
        if not np.isfinite(matrix).all():
            raise self._invalid("sent unusable numbers (NaN or infinite).", "Restart the server.")
        matrix = self._of_right_size(matrix)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not lengths.any():
            raise self._invalid("sent unusable results (only zeros).", "Restart the server, or choose another model.")
        matrix /= np.where(lengths > 0, lengths, 1)
        self._dimensions = matrix.shape[1]
        return matrix

    def _of_right_size(self, matrix: Rows) -> Rows:
        wanted, sent = self._settings.dimensions, matrix.shape[1]
        if wanted is not None and sent > wanted and self._convention.can_shorten:
            return matrix[:, :wanted].copy()  # by a server that does not know the option
        if wanted is not None and sent != wanted:
            raise self._invalid(
                f"sent vectors of {sent:,} numbers where `embeddings.dimensions` is {wanted:,}.",
                "Unset `embeddings.dimensions`: not every model can shorten its vectors.",
            )
        if self._dimensions and sent != self._dimensions:
            raise self._invalid(
                f"sent vectors of {sent:,} numbers, and of {self._dimensions:,} before: another model answers now.",
                "Restart zkchat, and it prepares your notes for that model.",
            )
        return matrix

    def _invalid(self, clause: str, hint: str = "`zkchat config doctor` tests it.") -> ProviderError:
        return ProviderError(f"{self._endpoint.name} {clause}", hint=hint)


def ollama_embedder(
    model: str, *, host: str, api_key: str = "", settings: EmbeddingSettings = DEFAULT_EMBEDDING_SETTINGS
) -> ServerEmbedder:
    endpoint = Endpoint(
        server=f"Ollama at {display_address(host)}",
        model=model,
        if_unreachable="Start it with `ollama serve`, or set `ollama.host`; until then a simpler search is used.",
        if_key_refused="Sign in with `ollama signin`, or put a valid key into the variable OLLAMA_API_KEY.",
        if_model_missing=f"Fetch it with `ollama pull {model}`; `ollama list` shows what is there.",
        key=api_key.strip(),
    )
    return ServerEmbedder("ollama", host, endpoint, settings)


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
        if_unreachable="Check the network and the server's address; until it answers, a simpler search is used.",
        if_key_refused=f"Put a valid key into the environment variable {key_variable}.",
        if_model_missing="Check the model's name, and the address, which most often ends in /v1.",
        key=api_key.strip(),
    )
    return ServerEmbedder("openai", base_url, endpoint, settings)


def _is_refusal(failed: RequestFailed) -> bool:
    """Whether the server did not like the texts, so that fewer or shorter ones may pass."""
    return failed.status in {400, 413, 422} or (failed.status == 500 and _is_too_long(failed))


def _is_too_long(failed: RequestFailed) -> bool:
    return failed.status == 413 or any(words in failed.said.casefold() for words in _TOO_LONG)
