"""Small models: how they are recognised, and with which sampling parameters they are asked."""

from dataclasses import dataclass

from zkchat.model.prompt import ModelInfo, ModelRequest
from zkchat.providers.descriptor import ModelSettings

SMALL_MODEL_SIZE = 1_000_000_000
"""Parameters, or bytes of a file, below which a model is asked only about evidence from the notes."""
MAX_ANSWER_TOKENS = 256
"""Limit for a small model, unless set otherwise: it does not know when to end."""

_LIMIT_OPTIONS = frozenset({"max_tokens", "max_completion_tokens", "num_predict", "n_predict"})
"""The options by which servers limit the length of an answer."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters of a request. None: the server's default."""

    temperature: float | None
    max_tokens: int | None


def adapt_to_size(info: ModelInfo, size: object, settings: ModelSettings) -> ModelInfo:
    """Mark a small model as one that needs evidence and gets no tools, unless the settings give it tools."""
    is_small = isinstance(size, int) and 0 < size < SMALL_MODEL_SIZE and settings.calls_tools is not True
    return info.model_copy(update={"needs_evidence": True, "calls_tools": False}) if is_small else info


def sampling_for(request: ModelRequest, settings: ModelSettings, *, conservative: bool) -> Sampling:
    """The request's parameters, else the settings'. `conservative` defaults to temperature 0 and a limited length."""
    temperature = settings.temperature if request.temperature is None else request.temperature
    max_tokens = request.max_answer_tokens
    if conservative and temperature is None and "temperature" not in settings.options:
        temperature = 0.0
    if conservative and max_tokens is None and _LIMIT_OPTIONS.isdisjoint(settings.options):
        max_tokens = MAX_ANSWER_TOKENS
    return Sampling(temperature, max_tokens)
