"""From our own counts to what a model's server will count (SPEC 3.2). Pure: learned from the stored messages."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from zkchat.model.message import ChatMessage

_SAMPLES = 8
"""Reports that are looked at, the newest."""
_LOOK_BACK = 200
"""Messages in which they are looked for."""
_BELIEVABLE = (0.5, 3.0)
"""Reported tokens to counted ones. Beyond, the server cut the prompt, or reports only what its cache did not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What a model's server counts for what we count."""

    ratio: float = 1.0
    counted: int = 0
    reported: int = 0
    """Our count and the server's of the last request; the next one is mostly the same text."""
    samples: int = 0

    def expected(self, counted: int) -> int:
        """What the server will count, starting from the last request where it said so."""
        guess = self.reported + self.ratio * (counted - self.counted)
        lowest, highest = (bound * counted for bound in _BELIEVABLE)
        return round(min(max(guess, lowest), highest)) if self.samples else round(self.ratio * counted)


def calibrate(messages: Iterable[ChatMessage], model: str, prior: float = 1.0) -> Calibration:
    """What the reports of this model teach, from the newest message back. `prior` holds until there is one."""
    samples = [*islice(_samples(islice(messages, _LOOK_BACK), model), _SAMPLES)]
    if not samples:
        return Calibration(ratio=prior)
    counted, reported = samples[0]
    ratio = sum(said for _, said in samples) / sum(own for own, _ in samples)
    return Calibration(ratio=ratio, counted=counted, reported=reported, samples=len(samples))


def _samples(messages: Iterable[ChatMessage], model: str) -> Iterable[tuple[int, int]]:
    for message in messages:
        usage = message.request_context.usage if message.request_context else None
        if not (usage and usage.counted and message.usage and f"{message.provider}:{message.model}" == model):
            continue
        lowest, highest = (bound * usage.counted for bound in _BELIEVABLE)
        if lowest <= message.usage.prompt_tokens <= highest:
            yield usage.counted, message.usage.prompt_tokens
