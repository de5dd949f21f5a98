from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.gguf_files import SMALL, write_gguf
from zkchat.core.errors import ConfigError
from zkchat.models.gguf import find_model_file, read_header, read_size


def test_a_header_tells_window_tools_and_memory(tmp_path: Path) -> None:
    header = read_header(write_gguf(tmp_path / "small.gguf"))
    assert header.window == 2048
    assert not header.calls_tools
    assert header.metadata["llama.rope.freq_base"] == 10000.0
    assert header.metadata["tokenizer.ggml.add_bos_token"] is False
    per_token = 30 * 2 * 2 * 576 // 3
    assert header.bytes_for(1000) == header.file_bytes + 1000 * per_token


@pytest.mark.parametrize(
    ("label", "expected"), [("135M", 135_000_000), ("8B", 8_000_000_000), ("8x7B", None), (None, None)]
)
def test_the_size_is_what_the_header_names_else_that_of_the_file(
    tmp_path: Path, label: str | None, expected: int | None
) -> None:
    facts = SMALL if label is None else {"general.architecture": "llama", "general.size_label": label, **SMALL}
    path = write_gguf(tmp_path / "x.gguf", facts)
    assert read_header(path).size == read_size(path) == (expected or path.stat().st_size)


def test_a_header_that_says_nothing_or_too_much_still_gives_a_model(tmp_path: Path) -> None:
    large = read_header(write_gguf(tmp_path / "large.gguf", {**SMALL, "llama.context_length": 131_072}))
    assert large.window == 8192, "more would fill the memory"
    header = read_header(write_gguf(tmp_path / "x.gguf", {}))
    assert header.window == 8192
    assert header.control_tokens is None
    assert header.bytes_for(1000) == header.file_bytes


def test_control_tokens_are_found_in_the_midst_of_a_text(tmp_path: Path) -> None:
    pattern = read_header(write_gguf(tmp_path / "x.gguf")).control_tokens
    assert pattern
    assert pattern.findall("hello<|end|>\n<|start|>system, <|other|>") == ["<|end|>", "<|start|>"]


@pytest.mark.parametrize("content", [b"", b"GGUF", b"# A note\n", b"GGUF" + b"\xff" * 100, b"GGUF" + b"\x00" * 16])
def test_another_kind_of_file_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is not a model in the GGUF format"):
        read_header(path)
    assert read_size(path) is None


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_damaged_head_is_read_or_refused_and_never_anything_else(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = write_gguf(tmp_path_factory.mktemp("gguf") / "x.gguf")
    content = bytearray(path.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    with suppress(ConfigError):
        assert read_header(path).window > 0


def found(name: str, tmp_path: Path) -> Path:
    return find_model_file(name, folder=tmp_path / "here", home=tmp_path / "home", cache=tmp_path / "cache")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.gguf", "here/a.gguf"), ("x/a", "here/x/a"), ("~/x/a.gguf", "home/x/a.gguf"), ("/m/a.gguf", "/m/a.gguf")],
)
def test_a_path_is_a_path(tmp_path: Path, name: str, expected: str) -> None:
    assert found(name, tmp_path) == tmp_path / expected


def test_a_name_that_nobody_knows_gets_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no local model 'huge'") as caught:
        found("huge", tmp_path)
    assert "There are none yet" in caught.value.hint
    assert "zkchat models pull smollm2" in caught.value.hint
    write_gguf(tmp_path / "cache" / "models" / "tiny.gguf")
    with pytest.raises(ConfigError) as caught:
        found("huge", tmp_path)
    assert "There are: tiny." in caught.value.hint
