"""Small models: how they are recognised, and with which sampling parameters they are asked."""

import re

from msgspec import Struct
from msgspec.structs import replace

from zkchat.model.prompt import ModelInfo, ModelRequest
from zkchat.providers.descriptor import ModelSettings

SMALL_MODEL_SIZE = 1_000_000_000
"""Parameters, or bytes of a file, below which a model is asked only about evidence from the notes."""
MAX_ANSWER_TOKENS = 256
"""Limit for a small model, unless set otherwise: it does not know when to end."""

_LIMIT_OPTIONS = frozenset({"max_tokens", "max_completion_tokens", "num_predict", "n_predict"})
"""The options by which servers limit the length of an answer."""
_UNITS = {"K": 1_000, "M": 1_000_000, "B": 1_000_000_000, "T": 1_000_000_000_000}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMBT])", re.IGNORECASE)
_SIZE_IN_NAME = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d+)?)([mb])(?![^\W_])", re.IGNORECASE)
_MIN_SIZE_IN_NAME = 20_000_000
"""Parameters: less in a name is the length of a context, such as `1m`."""


class Sampling(Struct, frozen=True):
    """Sampling parameters of a request. None: the server's default."""

    temperature: float | None
    max_tokens: int | None


def adapt_to_size(info: ModelInfo, size: object, settings: ModelSettings) -> ModelInfo:
    """Mark a small model as one that needs evidence and gets no tools, unless the settings give it tools."""
    if not isinstance(size, int) or not is_small(size) or settings.calls_tools is True:
        return info
    return replace(info, needs_evidence=True, calls_tools=False)


def is_small(size: int | None) -> bool:
    """Whether a model of that many parameters, or bytes, is small; None is an unknown size."""
    return size is not None and 0 < size < SMALL_MODEL_SIZE


def parse_size(text: object) -> int | None:
    """Parse a number of parameters such as `494.03M` or `8B`."""
    found = _SIZE.fullmatch(text.strip()) if isinstance(text, str) else None
    return round(float(found[1]) * _UNITS[found[2].upper()]) if found else None


def size_in_name(name: str) -> int | None:
    """The number of parameters that a model's name tells: 600 million of `qwen3:0.6b`."""
    sizes = (round(float(found[1]) * _UNITS[found[2].upper()]) for found in _SIZE_IN_NAME.finditer(name))
    return max((size for size in sizes if size >= _MIN_SIZE_IN_NAME), default=None)


def sampling_for(request: ModelRequest, settings: ModelSettings, *, conservative: bool) -> Sampling:
    """The request's parameters, else the settings'. `conservative` defaults to temperature 0 and a limited length."""
    temperature = settings.temperature if request.temperature is None else request.temperature
    max_tokens = request.max_answer_tokens
    if conservative and temperature is None and "temperature" not in settings.options:
        temperature = 0.0
    if conservative and max_tokens is None and _LIMIT_OPTIONS.isdisjoint(settings.options):
        max_tokens = MAX_ANSWER_TOKENS
    return Sampling(temperature, max_tokens)
