"""Vectors made in this process by onnxruntime (extra `zkchat[meaning]`), from a folder with a model and a tokenizer."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from zkchat.core import ProviderError, SimilarityTraits, install_command
from zkchat.models.embedding_conventions import SERVER_WEIGHT, convention_for
from zkchat.models.gguf import EMBEDDER, models_folder
from zkchat.models.transport import replace_surrogates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL_FILE: Final = "model.onnx"
TOKENIZER_FILE: Final = "tokenizer.json"
_POOLING: Final = Path("1_Pooling", "config.json")
_MAX_BATCH_TOKENS: Final = 256
"""That are computed together: more take more memory, and no less time."""
_MAX_TOKENS: Final = 512
"""Attention takes the square of it, also where a model could read more."""


class _Loaded(NamedTuple):
    session: Any
    """An `onnxruntime.InferenceSession`, which comes without types."""
    inputs: tuple[str, ...]
    tokenizer: Any
    """A `tokenizers.Tokenizer`."""
    uses_first_token: bool
    """Whether the vector of a text is that of its first token, and not the mean of all."""


def is_installed() -> bool:
    return find_spec("onnxruntime") is not None and find_spec("tokenizers") is not None


def embedder_names(cache: Path) -> list[str]:
    """The models for embeddings in the cache folder, fetched or put there by the user; none where they cannot run."""
    if not is_installed():
        return []
    found = sorted(path.parent for path in models_folder(cache).glob(f"*/{MODEL_FILE}"))
    return [folder.name for folder in found if (folder / TOKENIZER_FILE).is_file()]


class OnnxEmbedder:
    """Implements `Embedder`. Every thread may use it. The model is loaded when it is first needed: a second."""

    needs_server = True
    is_on_this_machine = True
    is_in_process = True
    batch_size = 8

    def __init__(self, folder: Path) -> None:
        """Of a model as its authors publish it. Whether it can be used shows when it is."""
        self._folder = folder
        self._convention = convention_for(folder.name)
        self._lock = Lock()
        self._is_closed = False
        self.name = f"local:{folder.name}"
        self.traits = SimilarityTraits(weight=SERVER_WEIGHT, languages=self._convention.languages)

    @cached_property
    def dimensions(self) -> int:
        return len(self.embed_query("note"))

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """A row for each text, of length 1. Raises `ProviderError`."""
        return self._embedded([self._convention.document_prefix + text for text in texts])

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        row: NDArray[np.float32] = self._embedded([self._convention.query_prefix + text])[0]
        return row

    def close(self) -> None:
        """Wait for what is being computed, a fraction of a second: Python must not end meanwhile."""
        self._is_closed = True
        with self._lock:
            pass

    def _embedded(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        with self._turn():
            loaded = self._loaded
            encoded = [each.ids for each in loaded.tokenizer.encode_batch([*map(replace_surrogates, texts)])]
        rows: list[NDArray[np.float32]] = [np.zeros(0, dtype=np.float32)] * len(texts)
        for places in _batches([*map(len, encoded)]):
            with self._turn():  # a question comes between two batches of passages
                vectors = _vectors(loaded, [encoded[place] for place in places])
            for place, row in zip(places, vectors, strict=True):
                rows[place] = row / (np.linalg.norm(row) or 1)
        return np.array(rows, dtype=np.float32)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._lock:
            if self._is_closed:
                raise ProviderError(f"{self.name} is closed.")
            yield

    @cached_property
    def _loaded(self) -> _Loaded:
        if not is_installed():
            raise ProviderError(
                f"{self.name} needs the package onnxruntime, which is not installed.",
                hint=f"Install it: {install_command('meaning')}",
            )
        tokenizers, runtime = import_module("tokenizers"), import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        model, providers = str(self._folder / MODEL_FILE), ["CPUExecutionProvider"]
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(self._folder / TOKENIZER_FILE))
            session = runtime.InferenceSession(model, options, providers=providers)
        except Exception as error:
            raise ProviderError(
                f"The model in {self._folder} cannot be used: {error}", hint=f"Fetch it: zkchat models pull {EMBEDDER}"
            ) from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(min(_MAX_TOKENS, self._convention.max_tokens))
        uses_first_token = False
        with suppress(OSError, ValueError, AttributeError):
            uses_first_token = bool(json.loads((self._folder / _POOLING).read_bytes()).get("pooling_mode_cls_token"))
        return _Loaded(session, tuple(each.name for each in session.get_inputs()), tokenizer, uses_first_token)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The places of texts that are computed together, which are of about one length."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    while order:
        count = max(1, _MAX_BATCH_TOKENS // max(1, lengths[order[-1]]))
        yield order[-count:]
        del order[-count:]


def _vectors(loaded: _Loaded, batch: Sequence[Sequence[int]]) -> "NDArray[np.float32]":
    import numpy as np

    ids = np.zeros((len(batch), max(map(len, batch))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(batch):
        ids[row, : len(tokens)], mask[row, : len(tokens)] = tokens, 1
    feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    found: NDArray[np.float32] = loaded.session.run(None, {name: feed[name] for name in loaded.inputs})[0]
    if found.ndim == 2:
        return found
    if loaded.uses_first_token:
        return found[:, 0]
    means: NDArray[np.float32] = (found * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1)[:, None]
    return means
