"""Models too small to be let loose: which they are, and how they are asked, whoever runs them."""

from dataclasses import dataclass

from zkchat.model.prompt import ModelInfo, ModelRequest
from zkchat.providers.declared import Declared

SMALL = 1_000_000_000
"""Parameters, or bytes of a file, below which a model knows too little to be asked anything but what notes say."""
LONGEST_ANSWER = 256
"""In tokens, for a small model, where nobody says otherwise: it does not know when to end."""

_LIMITS = frozenset({"max_tokens", "max_completion_tokens", "num_predict", "n_predict"})
"""The options by which servers let an answer's length be set."""


@dataclass(frozen=True, slots=True)
class Measure:
    """How freely a model may choose its words, and how many of them. None: as its server likes."""

    temperature: float | None
    most: int | None


def sized(info: ModelInfo, size: object, declared: Declared) -> ModelInfo:
    """The model once its size is known. A small one chooses no tools, unless the settings say that it does."""
    is_small = isinstance(size, int) and 0 < size < SMALL and declared.calls_tools is not True
    return info.model_copy(update={"needs_evidence": True, "calls_tools": False}) if is_small else info


def measure(request: ModelRequest, declared: Declared, *, sober: bool) -> Measure:
    """What the request asks for, else the settings. A sober model takes the likeliest words, and ends in time."""
    temperature = declared.temperature if request.temperature is None else request.temperature
    most = request.max_answer_tokens
    if sober and temperature is None and "temperature" not in declared.options:
        temperature = 0.0
    if sober and most is None and _LIMITS.isdisjoint(declared.options):
        most = LONGEST_ANSWER
    return Measure(temperature, most)
