"""Vectors made in this process: the real tokenizer, and a package in the place of onnxruntime."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from zkchat.core import ProviderError
from zkchat.models.gguf import EMBEDDER, models_folder
from zkchat.models.onnx import OnnxEmbedder, embedder_names

WORDS = ["[UNK]", "night", "bread", "sleep", "flour"]
RUNTIME = """
from pathlib import Path
import numpy as np
class SessionOptions: pass
class Input:
    def __init__(self, name): self.name = name
class InferenceSession:
    def __init__(self, path, options, providers):
        if Path(path).read_text() != "model": raise RuntimeError("it is no model")
    def get_inputs(self): return [Input("input_ids"), Input("attention_mask")]
    def run(self, names, feed):
        assert set(feed) == {"input_ids", "attention_mask"}
        return [np.eye(5, dtype=np.float32)[feed["input_ids"]]]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "onnxruntime.py").write_text(RUNTIME)
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    folder = models_folder(tmp_path) / EMBEDDER
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_text("model")
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder


def test_a_text_has_the_mean_of_its_tokens_as_a_direction_whatever_is_computed_beside_it(folder: Path) -> None:
    embedder = OnnxEmbedder(folder)
    alone = embedder.embed(["night sleep"])
    together = embedder.embed(["bread", "night sleep", "flour " * 300])
    assert np.allclose(alone[0], [0, 0.5**0.5, 0, 0.5**0.5, 0])
    assert np.allclose(together, [[0, 0, 1, 0, 0], alone[0], [0, 0, 0, 0, 1]])
    assert np.allclose(embedder.embed_query("night sleep"), alone[0])
    assert embedder.dimensions == 5
    assert embedder.traits.languages == {"en"}
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert np.allclose(OnnxEmbedder(folder).embed_query("night sleep"), [0, 1, 0, 0, 0]), "of the first token alone"
    embedder.close()
    with pytest.raises(ProviderError, match="closed"):
        embedder.embed(["night"])


def test_models_are_found_that_have_a_tokenizer(folder: Path, tmp_path: Path) -> None:
    (models_folder(tmp_path) / "half").mkdir()
    (models_folder(tmp_path) / "half" / "model.onnx").write_text("model")
    assert embedder_names(tmp_path) == [EMBEDDER]


def test_a_model_that_cannot_be_used_is_a_sentence(folder: Path) -> None:
    (folder / "model.onnx").write_text("something else")
    with pytest.raises(ProviderError, match="it is no model") as caught:
        OnnxEmbedder(folder).embed(["night"])
    assert "zkchat models pull" in caught.value.hint


def test_without_the_package_nothing_is_found_and_the_way_to_install_it_is_told(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "packages" / "onnxruntime.py").unlink()
    monkeypatch.setattr(sys, "path", [each for each in sys.path if "site-packages" not in each])
    sys.path_importer_cache.clear()
    assert embedder_names(tmp_path) == []
    with pytest.raises(ProviderError, match="onnxruntime, which is not installed") as caught:
        OnnxEmbedder(folder).embed(["night"])
    assert "zkchat[meaning]" in caught.value.hint


@pytest.mark.skipif("ZKCHAT_EMBEDDER" not in os.environ, reason="ZKCHAT_EMBEDDER names no folder with a real model")
def test_the_real_model_finds_what_is_said_in_other_words() -> None:
    embedder = OnnxEmbedder(Path(os.environ["ZKCHAT_EMBEDDER"]))
    said = ["Each of us has 900 euros a year for courses and books.", "The dough rests overnight.", "Oily rags burn."]
    asked = embedder.embed_query("How much can I spend on learning something new?")
    cosines = embedder.embed(said) @ asked
    assert cosines.argmax() == 0
    assert cosines[0] > 0.3 > cosines[1:].max()
