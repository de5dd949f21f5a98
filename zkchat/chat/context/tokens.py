"""Counting tokens, as we do and as a server will. Counting needs no network, and never raises on a note's text.

Where an encoding cannot be loaded, tokens are estimated from the number of characters, and `problem` says why.
"""

import math
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct, field

from zkchat.core import ChatMessage, ConfigError, Tokenizer, ZkchatError, lazy_pattern

if TYPE_CHECKING:
    import tiktoken


DIGESTS = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
FOLDER = Path(__file__).with_name("encodings")
FALLBACK_ENCODING = "o200k_base"
"""Counts for a model whose own encoding is unknown."""
_SLICE_CHARS = 200_000
"""Characters that are encoded at once: tiktoken ends in a stack overflow on a million spaces."""

_WORD_TAIL = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_PATTERNS = {
    "o200k_base": "|".join(
        [
            _WORD_TAIL + r"*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _CONTRACTION + "?",
            _WORD_TAIL + r"+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _CONTRACTION + "?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            _BLANKS,
        ]
    ),
    "cl100k_base": "|".join(
        [_CONTRACTION, r"[^\r\n\p{L}\p{N}]?\p{L}+", r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n]*", _BLANKS]
    ),
}


REMEDY = "Reinstall zkchat."


class Estimate:
    """Seven ASCII characters to two tokens, one token to every other character: rather high than low."""

    exact = False
    problem = ""

    def count(self, text: str) -> int:
        ascii_characters = len(text.encode("ascii", "ignore"))
        return math.ceil(ascii_characters / 3.5 + (len(text) - ascii_characters))


class Encoding:
    """A tiktoken encoding, loaded when the first text is counted: that costs half a second.

    Where it cannot be loaded, it estimates, and `problem` is a sentence that says why.
    """

    def __init__(self, name: str, *, exact: bool = True) -> None:
        if name not in DIGESTS:
            raise ConfigError(f"There is no tokenizer '{name}'.", hint=f"There are: {', '.join(DIGESTS)}.")
        self._name = name
        self._is_own = exact
        self.problem = ""

    @property
    def exact(self) -> bool:
        """Whether it counts, and is the model's own."""
        return self._is_own and not self.problem

    def count(self, text: str) -> int:
        encoding = self._loaded()
        if encoding is None:
            return Estimate().count(text)
        # A note may hold a lone surrogate, which has no UTF-8 form, and `<|endoftext|>`, which is no command here.
        plain = text.encode("utf-8", "replace").decode()
        slices = (plain[start : start + _SLICE_CHARS] for start in range(0, len(plain), _SLICE_CHARS))
        return sum(len(encoding.encode_ordinary(each)) for each in slices)

    def _loaded(self) -> "tiktoken.Encoding | None":
        if self.problem:
            return None
        try:
            return load_encoding(self._name)
        except Exception as error:  # noqa: BLE001  # whatever is wrong with an installation, the chat goes on
            self.problem = _sentence(error)
            return None


class CachedTokenizer:
    """Caches the counts of another tokenizer by the text's digest."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._counts: dict[bytes, int] = {}

    @property
    def exact(self) -> bool:
        return self._tokenizer.exact

    @property
    def problem(self) -> str:
        return self._tokenizer.problem

    def count(self, text: str) -> int:
        key = sha256(text.encode("utf-8", "surrogatepass")).digest()
        if key not in self._counts:
            self._counts[key] = self._tokenizer.count(text)
        return self._counts[key]


def tokenizer_for(encoding: str, *, otherwise: str = "") -> Tokenizer:
    """The tokenizer of an encoding; where none is given, `otherwise` as an approximation, or the estimate."""
    return Encoding(encoding) if encoding else Encoding(otherwise, exact=False) if otherwise else Estimate()


@lru_cache
def load_encoding(name: str) -> "tiktoken.Encoding":
    """Load an encoding from the package, once. Raises `ConfigError` where its file is damaged or missing."""
    import tiktoken

    pairs = (line.split() for line in _data(name).splitlines())
    ranks = {b64decode(token): int(rank) for token, rank in pairs}
    return tiktoken.Encoding(name, pat_str=_PATTERNS[name], mergeable_ranks=ranks, special_tokens={})


def _data(name: str) -> bytes:
    try:
        data = (FOLDER / f"{name}.tiktoken").read_bytes()
    except OSError as error:
        raise ConfigError(f"zkchat's file {name}.tiktoken cannot be read.", hint=REMEDY) from error
    if sha256(data).hexdigest() != DIGESTS[name]:
        raise ConfigError(f"zkchat's file {name}.tiktoken is damaged.", hint=REMEDY)
    return data


def check_encodings() -> None:
    """Check that tokens can be counted, without the time that loading takes. Raises `ConfigError`."""
    for name in DIGESTS:
        _data(name)
    try:
        import tiktoken  # noqa: F401
    except Exception as error:  # a broken installation may raise anything
        raise ConfigError(_sentence(error), hint=REMEDY) from error


def _sentence(error: Exception) -> str:
    if isinstance(error, ZkchatError):
        return error.message
    what = next(iter(str(error).splitlines()), "") or type(error).__name__
    return f"The token counter cannot be loaded ({what})."


TokenFeatures = Mapping[str, int]
"""How much there is of each feature; what there is nothing of is not named."""

MESSAGES: Final = "messages"
DIGITS: Final = "digits"
FOREIGN: Final = "foreign"
"""Characters of lines that are in another language than English, by their stop words."""
IMAGES: Final = "images"
"""Tokens of images, as we count them."""
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

_LETTERS = {name: lazy_pattern(f"[{letters}]+") for name, letters in _SCRIPTS.items()}

PLAUSIBLE_RATIO = (0.5, 4.0)
"""Reported tokens to counted ones. Beyond, the server cut the prompt, or reports only what its cache did not hold."""
NOISE_VARIANCE = 300.0
"""Tokens squared by which a report is off what its features explain."""


class Prior(NamedTuple):
    """What is known of a tokenizer before it has said anything: how many tokens, give or take."""

    mean: float
    deviation: float


_TOKENS = "tokens"
_OTHER_TOKENIZER: Mapping[str, Prior] = {
    MESSAGES: Prior(0.0, 3.0),
    DIGITS: Prior(0.2, 0.3),
    FOREIGN: Prior(0.07, 0.05),
    IMAGES: Prior(0.0, 0.5),
    **dict.fromkeys(_SCRIPTS, Prior(0.4, 0.2)),
}


class RequestSize(NamedTuple):
    """A request as we measure it."""

    tokens: int
    features: TokenFeatures


class Calibration(Struct, frozen=True, kw_only=True):
    """What a model's server counts for what we count, learned from the stored messages.

    What servers report gives their tokens for each of ours, and what each feature of a text adds to them: a small
    vocabulary is mostly English, so it spells out numbers digit by digit, foreign words in syllables, and other scripts
    almost in bytes. The next request is mostly the same text as the last, so the estimate starts from its report.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: {_TOKENS: 1.0})
    """Of our tokens, and of each feature."""
    last: RequestSize = RequestSize(0, {})
    reported: int = 0
    """The last request and what the server counted for it."""
    samples: int = 0
    ratio: float = 1.0
    """Tokens of the server for each of ours, all in all."""

    def expected(self, counted: RequestSize) -> int:
        """What the server will count, starting from the last request where it said so."""
        before, now = _measures(self.last), _measures(counted)
        more = sum(weight * (now.get(what, 0) - before.get(what, 0)) for what, weight in self.weights.items())
        lowest, highest = (bound * counted.tokens for bound in PLAUSIBLE_RATIO)
        return round(min(max(self.reported + more, lowest), highest))


class ExpectedTokenizer:
    """Counts what a model's server is expected to count for a text that is added to a request."""

    exact = False

    def __init__(self, tokenizer: Tokenizer, calibration: Calibration) -> None:
        self._tokenizer = tokenizer
        self._weights = calibration.weights

    @property
    def problem(self) -> str:
        return self._tokenizer.problem

    def count(self, text: str) -> int:
        counted = self._tokenizer.count(text)
        measures = _measures(RequestSize(counted, {**features_of(text), MESSAGES: 0}))
        expected = sum(self._weights.get(what, 0.0) * much for what, much in measures.items())
        lowest, highest = (bound * counted for bound in PLAUSIBLE_RATIO)
        return math.ceil(min(max(expected, lowest), highest))


def calibrate(messages: Iterable[ChatMessage], model: str, prior: float = 1.0) -> Calibration:
    """What the reports of this model teach, from the newest message back.

    `prior` holds until there is one; above 1 it says that the model counts with a tokenizer that is not ours.
    """
    known = {each: Prior(mean if prior > 1 else 0.0, deviation) for each, (mean, deviation) in _OTHER_TOKENIZER.items()}
    weights = {_TOKENS: Prior(prior, 0.3), **known}
    samples = [*islice(_samples(islice(messages, 200), model), 30)]  # of more, the newest
    if not samples:
        return Calibration(weights={what: weight.mean for what, weight in weights.items()}, ratio=prior)
    last, reported = samples[0]
    return Calibration(
        weights=_fitted(samples, weights),
        last=last,
        reported=reported,
        samples=len(samples),
        ratio=sum(said for _, said in samples) / sum(counted.tokens for counted, _ in samples),
    )


def _samples(messages: Iterable[ChatMessage], model: str) -> Iterable[tuple[RequestSize, int]]:
    for message in messages:
        usage = message.request_context.usage if message.request_context else None
        if not (usage and usage.token_features and message.usage and f"{message.provider}:{message.model}" == model):
            continue
        lowest, highest = (bound * usage.counted for bound in PLAUSIBLE_RATIO)
        if lowest <= message.usage.prompt_tokens <= highest:
            yield RequestSize(usage.counted, usage.token_features), message.usage.prompt_tokens


def _fitted(samples: Sequence[tuple[RequestSize, int]], weights: Mapping[str, Prior]) -> dict[str, float]:
    """The weights that explain the reports best, by ridge regression towards the priors."""
    import numpy as np

    mean, deviation = np.array([*weights.values()]).T
    measures = [_measures(counted) for counted, _ in samples]
    known = np.array([[each.get(what, 0) for what in weights] for each in measures], dtype=float)
    off = np.array([said for _, said in samples]) - known @ mean
    found = np.linalg.solve(known.T @ known / NOISE_VARIANCE + np.diag(deviation**-2), known.T @ off / NOISE_VARIANCE)
    return dict(zip(weights, (mean + found).tolist(), strict=True))


def _measures(counted: RequestSize) -> dict[str, int]:
    return {_TOKENS: counted.tokens, **counted.features}


def features_of(text: str) -> TokenFeatures:
    found = Counter({MESSAGES: 1, DIGITS: len(re.findall("[0-9]", text))})
    found[FOREIGN] = sum(len(line) for line in text.splitlines() if _is_foreign(line))
    if not text.isascii():
        others = "".join(re.findall(r"[^\x00-\x7f]+", text))  # those of ASCII take one byte each
        for name, letters in _LETTERS.items():
            found[name] = sum(len(run.encode("utf-8", "replace")) - len(run) for run in letters.findall(others))
    return +found


def sum_features(each: Iterable[TokenFeatures]) -> dict[str, int]:
    total = Counter[str]()
    for features in each:
        total.update(features)
    return dict(total)


def _is_foreign(line: str) -> bool:
    words = re.findall(r"[^\W\d_]+", line.lower())
    english, others = _stop_words()
    return sum(map(others.__contains__, words)) > sum(map(english.__contains__, words))


@cache
def _stop_words() -> tuple[frozenset[str], frozenset[str]]:
    """Of English, and of all other languages alone."""
    from zkchat.language import STOP_WORDS_BY_CODE

    english = frozenset(STOP_WORDS_BY_CODE["en"])
    return english, frozenset().union(*STOP_WORDS_BY_CODE.values()) - english
