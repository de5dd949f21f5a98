"""Tokenize and parse a sentence into what can be compared."""

import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from zkchat.core import lazy_pattern
from zkchat.index import UNSPACED_SCRIPTS, stem, words
from zkchat.language import by_code, languages, of_all

TokenKind = Literal["word", "number", "sign", "letter"]

_LINK: Final = lazy_pattern(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]\n]*)\]\]|!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_NO_TEXT: Final = lazy_pattern(r"\[\^[^\[\]\n]{1,100}\]|</?[a-zA-Z][^<>\n]{0,200}>|<!--.{0,1000}?-->")
_CONTRACTION: Final = lazy_pattern(r"\b([^\W\d_]+)n['’]t\b", re.IGNORECASE)
_CONTRACTED: Final = {"ca": "can", "wo": "will", "sha": "shall"}
_MARKS: Final = "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0900-\u0963\u0970-\u0dff"
"""Signs that are written over, under or after the letters of a word."""
_NUMERALS: Final = "〇零一二两三四五六七八九十百千万"
_DIGITS: Final = {letter: value for value, letter in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_POWERS: Final = {"十": 10, "百": 100, "千": 1_000}
MAX_DIGITS: Final = 15
"""A longer number is an id."""
_CLAUSE_END: Final = lazy_pattern(r"[;:,()–—。；：，、（）]|\s-\s")
_SPACED = f"(?:(?![{UNSPACED_SCRIPTS}])[^\\W\\d_]|[{_MARKS}])"
_TOKEN = lazy_pattern(
    rf"(?P<number>(?:(?<![\w.,-])[-−])?(?:\d{{1,3}}(?:[.,\u00a0\u202f]\d{{3}})+(?!\d)|\d+(?:[.,:]\d+)?))"
    rf"|(?P<numeral>[{_NUMERALS}]+)|(?P<sign>[%°$€£¥％℃])|(?P<letter>[{UNSPACED_SCRIPTS}])|(?P<word>{_SPACED}+)"
)


class Token(Struct, frozen=True):
    kind: TokenKind
    word: str
    """In lower case, without accents."""
    key: str
    """The term of a word; of anything else, what is written."""
    clause: int
    """The number of the clause that it stands in."""
    start: int
    """Where it begins in the plain text of the sentence."""
    values: frozenset[float] = frozenset()
    """Of a number: more than one where it depends on the country how it is read."""
    is_capitalised: bool = False
    """Whether a capital begins it that does not begin the sentence as well."""
    date: str = ""
    """Whether it names a `month` or a `weekday`."""


def tokenize(sentence: str) -> tuple[Token, ...]:
    """The tokens of a sentence in order, without Markdown."""
    return tokens_of(plain(sentence))


def tokens_of(text: str) -> tuple[Token, ...]:
    found: list[Token] = []
    clause, end = 0, 0
    for match in _TOKEN.finditer(text):
        if found and _CLAUSE_END.search(text, end, match.start()):
            clause += 1
        end = match.end()
        found.extend(_tokens(match, clause, is_first=not found))
    return tuple(found)


def plain(text: str) -> str:
    """A text without Markdown's links, footnotes and tags, contractions written out."""
    shown = _NO_TEXT.sub(" ", _LINK.sub(lambda match: match[1] or match[2] or "", text))
    return _CONTRACTION.sub(lambda match: f"{_CONTRACTED.get(match[1].lower(), match[1])} not", shown)


def with_number_words(tokens: tuple[Token, ...], numbers: Mapping[str, float]) -> tuple[Token, ...]:
    return tuple(
        Token("number", each.word, each.word, each.clause, each.start, frozenset({numbers[each.word]}))
        if each.kind == "word" and each.word in numbers
        else each
        for each in tokens
    )


def _tokens(match: re.Match[str], clause: int, *, is_first: bool) -> Iterator[Token]:
    text, start = match[0], match.start()
    match match.lastgroup:
        case "number":
            digits = text.replace("−", "-")
            values = number_values(digits.replace(":", ".")) if len(text) <= MAX_DIGITS else frozenset[float]()
            yield Token("number", digits, digits, clause, start, values)
        case "numeral":
            yield Token("number", text, text, clause, start, numeral_value(text))
        case "sign" | "letter" as kind:
            yield Token("sign" if kind == "sign" else "letter", text, text, clause, start)
        case _:
            for word in words(text):
                yield Token("word", word, stem(word), clause, start, is_capitalised=text[0].isupper() and not is_first)


def numeral_value(written: str) -> frozenset[float]:
    """The value of a Chinese numeral, also of one that is written digit by digit, as years are."""
    total, part, digit = 0, 0, -1
    for letter in written[:MAX_DIGITS]:
        if letter in _DIGITS:
            digit = 10 * max(digit, 0) + _DIGITS[letter]
        elif letter in _POWERS:
            part += (1 if digit < 0 else digit) * _POWERS[letter]
            digit = -1
        else:  # 万
            total, part, digit = (part + max(digit, 0)) * 10_000, 0, -1
    return frozenset({float(total + part + max(digit, 0))})


def number_values(written: str) -> frozenset[float]:
    """What a number may mean: 1.250 is 1250 in some countries and 1.25 in others."""
    plain = re.sub(r"[\u00a0\u202f ]", "", written)
    readings = {plain.replace(",", "."), re.sub(r"[.,]", "", plain)} if re.search(r"[.,]\d{3}$", plain) else set()
    return frozenset(float(reading) for reading in readings or {plain.replace(",", ".")} if reading.count(".") < 2)


@cache
def number_words(language: str) -> Mapping[str, float]:
    """Numbers in words with their values, of all languages where it is not known which."""
    listed = by_code("number_words").get(language, "") if language else of_all("number_words")
    pairs = (pair.split(":") for pair in listed.split())
    return {"".join(words(word)): float(value) for word, value in pairs}


@cache
def listed(key: str, language: str = "") -> frozenset[str]:
    """The words of a list, of one language or of all that have spaces."""
    return frozenset(words(by_code(key).get(language, "") if language else of_all(key, spaced=True)))


def stop_words(language: str) -> frozenset[str]:
    return listed("stop_words", language) | listed("other_stop_words", language) if language else frozenset()


NEGATION: Final = "not"
"""Stands for every negator."""
CONDITION: Final = "if"
"""Stands for every word that sets a condition."""


class Operator(NamedTuple):
    """A word that changes what is said of another: a negator, a condition, "only", "at least", "before"."""

    word: str
    place: int
    target: int
    """The place of the content token that it stands with; negative where there is none."""


class ParsedSentence(Struct, frozen=True):
    tokens: tuple[Token, ...]
    content: tuple[int, ...]
    """The places of the tokens that say what it is about: no stop words, no operators."""
    order: Mapping[int, int]
    """By place of a content token its number among them."""
    operators: tuple[Operator, ...]
    names: frozenset[int]
    """The places of content tokens that are names as far as their capitals tell."""
    marks_case: bool
    """Whether the language tells by the forms of words who does what to whom, whatever their order."""
    roles: Mapping[int, str]
    """By place of a content token the preposition or operator before it, articles left aside; empty for none."""
    single_units: frozenset[int]
    """The places of units of time after a word for one: that of "year" in "a year"."""
    connectives: tuple[int, ...]
    """The places of "and" and the like, if the language is known."""
    beginnings: frozenset[str]
    """The first letters of its content: what shares none of them is no form of its words."""


class _Lexicon(Struct, frozen=True):
    stop_words: frozenset[str]
    operators: Mapping[str, str]
    """The words that change what is said, each with what stands for it."""
    dates: Mapping[str, str]
    """The names of months and weekdays, as terms, each with which of the two it is."""
    ones: frozenset[str]
    """Articles that count one before a unit."""
    units_of_time: frozenset[str]
    has_capital_nouns: bool
    marks_case: bool
    unspaced_operators: tuple[tuple[re.Pattern[str], str], ...]
    no_negation: re.Pattern[str]
    """What looks like a negator and is none."""
    function_letters: frozenset[str]
    connectives: frozenset[str]
    prepositions: frozenset[str]
    """Empty where they are not known."""


def parse_sentence(text: str, language: str) -> ParsedSentence:
    """Parse a sentence of a language, which may be unknown (empty)."""
    lexicon = _lexicon(language)
    prose = plain(text)
    # "May" is known as a month by its capital, since "may" says something else.
    tokens = tuple(
        replace(each, date=lexicon.dates[each.key])
        if each.key in lexicon.dates and (each.is_capitalised or each.word not in lexicon.stop_words)
        else each
        for each in with_number_words(tokens_of(prose), number_words(language))
    )
    found = [*_operators(prose, tokens, lexicon)]
    taken = {place for _, places in found for place in places}
    content = tuple(
        place
        for place, token in enumerate(tokens)
        if place not in taken and _is_content(token, tokens[place - 1 : place], lexicon)
    )
    order = {place: number for number, place in enumerate(content)}
    operators = (Operator(word, places[0], _target(tokens, content, places[0])) for word, places in found)
    return ParsedSentence(
        tokens=tokens,
        content=content,
        order=order,
        operators=tuple(operators),
        names=frozenset(each for each in content if tokens[each].is_capitalised and not lexicon.has_capital_nouns),
        marks_case=lexicon.marks_case,
        roles={place: _role(tokens, order, place, lexicon) for place in content},
        single_units=frozenset(
            each
            for each in content
            if each and tokens[each - 1].word in lexicon.ones and tokens[each].word in lexicon.units_of_time
        ),
        connectives=tuple(place for place, token in enumerate(tokens) if token.word in lexicon.connectives),
        beginnings=frozenset(beginning(tokens[each]) for each in content),
    )


def beginning(token: Token) -> str:
    """What two tokens share that are the same, or forms of one word."""
    if token.kind != "word":
        return token.kind
    return (token.word if len(token.word) > 4 else token.key)[:4]


def _is_content(token: Token, before: tuple[Token, ...], lexicon: _Lexicon) -> bool:
    match token.kind:
        case "word":
            if token.date:
                return True
            if len(token.word) == 1:  # after a number it is a unit, such as that of grams
                is_unit = any(each.kind == "number" for each in before)
                return is_unit or (token.is_capitalised and token.word != "i")
            return token.word not in lexicon.stop_words and token.word not in lexicon.operators
        case "letter":
            return token.word not in lexicon.function_letters
        case "number" | "sign":
            return True


def _operators(prose: str, tokens: tuple[Token, ...], lexicon: _Lexicon) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Each with the places of its word or letters."""
    for place, token in enumerate(tokens):
        word = lexicon.operators.get(token.word) if token.kind == "word" else None
        before = tokens[place - 1].word if place else ""
        if word and (word != CONDITION or before not in listed("no_conditions")):
            yield word, (place,)
    starts = {token.start: place for place, token in enumerate(tokens)} if lexicon.unspaced_operators else {}
    for pattern, word in lexicon.unspaced_operators:
        said = lexicon.no_negation.sub(lambda match: " " * len(match[0]), prose) if word == NEGATION else prose
        for match in pattern.finditer(said):
            if places := tuple(starts[each] for each in range(*match.span()) if each in starts):
                yield word, places


def _target(tokens: tuple[Token, ...], content: tuple[int, ...], place: int) -> int:
    """The next content token of the clause, else the one before."""
    number = bisect(content, place)
    nearest = (*content[number : number + 1], *content[max(number - 1, 0) : number])
    return next((each for each in nearest if tokens[each].clause == tokens[place].clause), -1)


def _role(tokens: tuple[Token, ...], content: Mapping[int, int], place: int, lexicon: _Lexicon) -> str:
    before = place - 1
    while before >= 0 and lexicon.prepositions and tokens[before].word in listed("articles"):
        before -= 1
    if before < 0 or before in content:
        return ""
    word = tokens[before].word
    is_role = not lexicon.prepositions or word in lexicon.prepositions or word in lexicon.operators
    return word if is_role else ""


@cache
def _lexicon(language: str) -> _Lexicon:
    negators = _listed(language, "negators", "second_negators", "more_negators")
    conditions = _listed(language, "conditions")
    limits = _listed(language, "unclear", "relations") | listed("bounds") | listed("shares")
    operators = (
        {each: each for each in limits} | dict.fromkeys(conditions, CONDITION) | dict.fromkeys(negators, NEGATION)
    )
    ignored = stop_words(language) | _listed(language, "modals") | listed("approximations")
    known = languages().get(language, {})
    is_spaced = known.get("is_spaced", True)
    unspaced = {NEGATION: known.get("negators", known.get("more_negators")), CONDITION: known.get("conditions")}
    return _Lexicon(
        stop_words=frozenset(ignored - operators.keys()),
        operators=operators,
        dates={stem(each): "month" for each in listed("months", language)}
        | {stem(each): "weekday" for each in listed("weekdays", language)},
        ones=frozenset(words(known.get("ones", ""))),
        units_of_time=frozenset(words(known.get("units_of_time", ""))),
        has_capital_nouns=known.get("has_capital_nouns", False),
        marks_case=known.get("marks_case", False),
        unspaced_operators=tuple(
            (re.compile(pattern), word) for word, pattern in unspaced.items() if pattern and not is_spaced
        ),
        no_negation=re.compile(known.get("no_negation", r"(?!)")),
        prepositions=frozenset(_listed(language, "prepositions") if "prepositions" in known else ()),
        connectives=listed("connectives", language) if language else frozenset(),
        function_letters=frozenset(known.get("function_letters", "")),
    )


def _listed(language: str, *keys: str) -> frozenset[str]:
    """Of a language that is not known, the words of all of them: what may deny is not overlooked."""
    found = (by_code(key, spaced=True) for key in keys)
    texts = [text for by_language in found for code, text in by_language.items() if language in {"", code}]
    return frozenset(part for each in texts for part in words(each) if len(part) > 1 or not part.isascii())
