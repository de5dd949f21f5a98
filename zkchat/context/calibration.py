"""From our own counts to what a model's server will count (SPEC 3.2). Pure: learned from the stored messages.

A tokenizer that hardly knows a script takes several times what ours takes for it. So two things are learned from what a
server reports: its tokens for each of ours, and for each byte that letters take beyond ASCII.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from zkchat.model.message import ChatMessage

_SAMPLES = 30
"""Reports that are looked at, the newest."""
_LOOK_BACK = 200
"""Messages in which they are looked for."""
_BELIEVABLE = (0.5, 4.0)
"""Reported tokens to counted ones. Beyond, the server cut the prompt, or reports only what its cache did not hold."""
_TRUST_IN_PRIOR = 1e5
"""How much a first guess counts beside reports, in tokens squared: as much as a prompt of some 300 tokens."""
_WIDE_PRIOR = 0.3
"""Tokens for each byte beyond ASCII of a tokenizer that is not ours, until it has said so."""


class Counted(NamedTuple):
    """A request as we measure it."""

    tokens: int
    wide: int = 0
    """Bytes that its letters take beyond one each."""


_NOTHING = Counted(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What a model's server counts for what we count."""

    per_token: float = 1.0
    per_wide: float = 0.0
    last: Counted = _NOTHING
    reported: int = 0
    """The last request and what the server counted for it; the next one is mostly the same text."""
    samples: int = 0
    ratio: float = 1.0
    """Tokens of the server for each of ours, all in all."""

    def expected(self, counted: Counted) -> int:
        """What the server will count, starting from the last request where it said so."""
        more = self.per_token * (counted.tokens - self.last.tokens) + self.per_wide * (counted.wide - self.last.wide)
        lowest, highest = (bound * counted.tokens for bound in _BELIEVABLE)
        return round(min(max(self.reported + more, lowest), highest))


def calibrate(messages: Iterable[ChatMessage], model: str, prior: float = 1.0) -> Calibration:
    """What the reports of this model teach, from the newest message back.

    `prior` holds until there is one; above 1 it says that the model counts with a tokenizer that is not ours.
    """
    samples = [*islice(_samples(islice(messages, _LOOK_BACK), model), _SAMPLES)]
    wide_prior = _WIDE_PRIOR if prior > 1 else 0.0
    if not samples:
        return Calibration(per_token=prior, per_wide=wide_prior, ratio=prior)
    per_token, per_wide = _fitted(samples, prior, wide_prior)
    last, reported = samples[0]
    return Calibration(
        per_token=per_token,
        per_wide=per_wide,
        last=last,
        reported=reported,
        samples=len(samples),
        ratio=sum(said for _, said in samples) / sum(counted.tokens for counted, _ in samples),
    )


def _samples(messages: Iterable[ChatMessage], model: str) -> Iterable[tuple[Counted, int]]:
    for message in messages:
        usage = message.request_context.usage if message.request_context else None
        if not (usage and usage.counted and message.usage and f"{message.provider}:{message.model}" == model):
            continue
        lowest, highest = (bound * usage.counted for bound in _BELIEVABLE)
        if lowest <= message.usage.prompt_tokens <= highest:
            yield Counted(usage.counted, usage.wide), message.usage.prompt_tokens


def _fitted(samples: Iterable[tuple[Counted, int]], token_prior: float, wide_prior: float) -> tuple[float, float]:
    """The two weights that explain the reports best, by least squares drawn towards the priors."""
    tokens = wides = both = off_tokens = off_wides = 0.0
    for (token, wide), said in samples:
        off = said - token_prior * token - wide_prior * wide
        tokens += token * token
        wides += wide * wide
        both += token * wide
        off_tokens += token * off
        off_wides += wide * off
    tokens += _TRUST_IN_PRIOR
    wides += _TRUST_IN_PRIOR
    determinant = tokens * wides - both * both
    return (
        token_prior + (wides * off_tokens - both * off_wides) / determinant,
        wide_prior + (tokens * off_wides - both * off_tokens) / determinant,
    )
