"""GGUF files without weights: as much as zkchat itself reads of one."""

import struct
from collections.abc import Mapping
from pathlib import Path

Fact = bool | int | float | str | list[str] | list[int]

SMALL: Mapping[str, Fact] = {
    "general.architecture": "llama",
    "llama.context_length": 2048,
    "llama.block_count": 30,
    "llama.embedding_length": 576,
    "llama.attention.head_count": 9,
    "llama.attention.head_count_kv": 3,
    "llama.rope.freq_base": 10000.0,
    "tokenizer.ggml.add_bos_token": False,
    "tokenizer.ggml.tokens": ["<|end|>", "hello", "<|start|>"],
    "tokenizer.ggml.token_type": [3, 1, 3],
    "tokenizer.chat_template": "{{ messages }}",
}


def write_gguf(path: Path, facts: Mapping[str, Fact] = SMALL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(facts))
    path.write_bytes(head + b"".join(_text(name) + _fact(value) for name, value in facts.items()))
    return path


def _fact(value: Fact) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", 7, value)
        case int():
            return struct.pack("<II", 4, value)
        case float():
            return struct.pack("<If", 6, value)
        case str():
            return struct.pack("<I", 8) + _text(value)
        case list():
            kind = 8 if value and isinstance(value[0], str) else 5
            items = [_text(item) if isinstance(item, str) else struct.pack("<i", item) for item in value]
            return struct.pack("<IIQ", 9, kind, len(value)) + b"".join(items)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data
