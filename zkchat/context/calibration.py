"""From our own counts to what a model's server will count (SPEC 3.2). Pure: learned from the stored messages.

What a server reports teaches its tokens for each of ours, and what each trait of a text adds to them. The next request
is mostly the same text as the last, so it starts from what was reported of that one.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from zkchat.lexicon.languages import STOP_WORDS_BY_CODE
from zkchat.model.message import ChatMessage

Traits = Mapping[str, int]
"""How much there is of each trait; what there is nothing of is not named."""

MESSAGES: Final = "messages"
DIGITS: Final = "digits"
FOREIGN: Final = "foreign"
"""Characters of lines that are in another language than English, as far as their small words tell."""
_SCRIPTS = {
    "latin": "\u0080-\u024f",
    "greek and cyrillic": "\u0250-\u058f",
    "hebrew and arabic": "\u0590-\u08ff",
    "south asia": "\u0900-\u0dff",
    "south-east asia": "\u0e00-\u1fff",
    "symbols": "\u2000-\u2e7f",
    "east asia": "\u2e80-\uabff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff",
    "korean": "\uac00-\ud7ff",
    "emoji": "\U00010000-\U0001ffff",
}
SCRIPTS: Final = tuple(_SCRIPTS)
"""Bytes that letters of these take beyond one each."""

_LETTERS = {name: re.compile(f"[{letters}]+") for name, letters in _SCRIPTS.items()}
_DIGIT = re.compile("[0-9]")
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = STOP_WORDS_BY_CODE["en"]
_OF_OTHERS = frozenset().union(*STOP_WORDS_BY_CODE.values()) - _ENGLISH

_SAMPLES = 30
"""Reports that are looked at, the newest."""
_LOOK_BACK = 200
"""Messages in which they are looked for."""
_BELIEVABLE = (0.5, 4.0)
"""Reported tokens to counted ones. Beyond, the server cut the prompt, or reports only what its cache did not hold."""
_NOISE = 300.0
"""Tokens squared by which a report is off what its traits explain."""


class Weight(NamedTuple):
    """What is known of a tokenizer before it has said anything: how many tokens, give or take."""

    usual: float
    spread: float


_TOKENS = "tokens"
_OTHER_TOKENIZER: Mapping[str, Weight] = {
    MESSAGES: Weight(0.0, 3.0),
    DIGITS: Weight(0.2, 0.3),
    FOREIGN: Weight(0.07, 0.05),
    **dict.fromkeys(SCRIPTS, Weight(0.4, 0.2)),
}
_OUR_TOKENIZER: Mapping[str, Weight] = {trait: Weight(0.0, spread) for trait, (_, spread) in _OTHER_TOKENIZER.items()}
_PER_TOKEN_SPREAD = 0.3


class Counted(NamedTuple):
    """A request as we measure it."""

    tokens: int
    traits: Traits


_NOTHING = Counted(0, {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What a model's server counts for what we count."""

    weights: Mapping[str, float] = field(default_factory=lambda: {_TOKENS: 1.0})
    """Of our tokens, and of each trait."""
    last: Counted = _NOTHING
    reported: int = 0
    """The last request and what the server counted for it."""
    samples: int = 0
    ratio: float = 1.0
    """Tokens of the server for each of ours, all in all."""

    def expected(self, counted: Counted) -> int:
        """What the server will count, starting from the last request where it said so."""
        before, now = _measures(self.last), _measures(counted)
        more = sum(weight * (now.get(what, 0) - before.get(what, 0)) for what, weight in self.weights.items())
        lowest, highest = (bound * counted.tokens for bound in _BELIEVABLE)
        return round(min(max(self.reported + more, lowest), highest))


def calibrate(messages: Iterable[ChatMessage], model: str, prior: float = 1.0) -> Calibration:
    """What the reports of this model teach, from the newest message back.

    `prior` holds until there is one; above 1 it says that the model counts with a tokenizer that is not ours.
    """
    weights = {_TOKENS: Weight(prior, _PER_TOKEN_SPREAD), **(_OTHER_TOKENIZER if prior > 1 else _OUR_TOKENIZER)}
    samples = [*islice(_samples(islice(messages, _LOOK_BACK), model), _SAMPLES)]
    if not samples:
        return Calibration(weights={what: weight.usual for what, weight in weights.items()}, ratio=prior)
    last, reported = samples[0]
    return Calibration(
        weights=_fitted(samples, weights),
        last=last,
        reported=reported,
        samples=len(samples),
        ratio=sum(said for _, said in samples) / sum(counted.tokens for counted, _ in samples),
    )


def _samples(messages: Iterable[ChatMessage], model: str) -> Iterable[tuple[Counted, int]]:
    for message in messages:
        usage = message.request_context.usage if message.request_context else None
        if not (usage and usage.traits and message.usage and f"{message.provider}:{message.model}" == model):
            continue
        lowest, highest = (bound * usage.counted for bound in _BELIEVABLE)
        if lowest <= message.usage.prompt_tokens <= highest:
            yield Counted(usage.counted, usage.traits), message.usage.prompt_tokens


def _fitted(samples: Sequence[tuple[Counted, int]], weights: Mapping[str, Weight]) -> dict[str, float]:
    """The weights that explain the reports best, by least squares drawn towards what is usual."""
    import numpy as np

    usual, spread = np.array([*weights.values()]).T
    measures = [_measures(counted) for counted, _ in samples]
    known = np.array([[each.get(what, 0) for what in weights] for each in measures], dtype=float)
    off = np.array([said for _, said in samples]) - known @ usual
    found = np.linalg.solve(known.T @ known / _NOISE + np.diag(spread**-2), known.T @ off / _NOISE)
    return dict(zip(weights, (usual + found).tolist(), strict=True))


def _measures(counted: Counted) -> dict[str, int]:
    return {_TOKENS: counted.tokens, **counted.traits}


def traits_of(text: str) -> Traits:
    """The traits of one message."""
    found = Counter({MESSAGES: 1, DIGITS: len(_DIGIT.findall(text))})
    found[FOREIGN] = sum(len(line) for line in text.splitlines() if _is_foreign(line))
    if not text.isascii():
        for name, letters in _LETTERS.items():
            found[name] = sum(len(run.encode("utf-8", "replace")) - len(run) for run in letters.findall(text))
    return +found


def all_in_all(each: Iterable[Traits]) -> dict[str, int]:
    """The traits of several messages together."""
    total: dict[str, int] = {}
    for traits in each:
        for trait, much in traits.items():
            total[trait] = total.get(trait, 0) + much
    return total


def _is_foreign(line: str) -> bool:
    words = _WORD.findall(line.lower())
    return sum(word in _OF_OTHERS for word in words) > sum(word in _ENGLISH for word in words)
