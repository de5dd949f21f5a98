"""The words of the languages that zkchat knows: one file of `data` for each, all loaded once (20 ms).

`data/en.toml` says what each list is for. A list has words between spaces, or phrases between bars and line ends. The
words of languages without spaces (`is_spaced = false`) are found anywhere in a text. To add a language, add a file.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from zkchat.core import lazy_pattern


@cache
def languages() -> Mapping[str, Mapping[str, Any]]:
    """By ISO 639-1 code all that is known of a language; of several that may be meant the one of the lowest rank is."""
    files = Path(__file__).with_name("data").glob("*.toml")
    found = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in files}
    return dict(sorted(found.items(), key=lambda item: item[1]["rank"]))


@cache
def by_code(key: str, *, spaced: bool | None = None) -> dict[str, Any]:
    """By code what the languages have under a key; only of those with or without spaces, if that is said."""
    return {
        code: known[key]
        for code, known in languages().items()
        if key in known and spaced in {None, known.get("is_spaced", True)}
    }


def by_name(key: str) -> dict[str, str]:
    """The same by the names of the languages in lower case."""
    return {languages()[code]["name"].lower(): listed for code, listed in by_code(key).items()}


def of_all(key: str, *, spaced: bool | None = None) -> str:
    """The words that all languages have under a key."""
    return "\n".join(["", *by_code(key, spaced=spaced).values(), ""])


def any_of(key: str, *, spaced: bool | None = None) -> str:
    """A regular expression for one of the words of all languages."""
    return "|".join(phrases(of_all(key, spaced=spaced)))


def phrases(listed: str) -> list[str]:
    """What stands between bars and line ends."""
    return [phrase.strip() for phrase in listed.replace("\n", "|").split("|") if phrase.strip()]


FOR_A_NUMBER: Final = of_all("for_a_number", spaced=True)
DEGREES: Final = of_all("degrees")
FOR_A_TIME: Final = of_all("for_a_time", spaced=True)
FOR_A_LIST: Final = of_all("for_a_list", spaced=True)
HOW_TO: Final = of_all("how_to")
UNSPACED_FOR_A_NUMBER: Final = of_all("for_a_number", spaced=False)
UNSPACED_FOR_A_TIME: Final = of_all("for_a_time", spaced=False)
UNSPACED_FOR_A_LIST: Final = of_all("for_a_list", spaced=False)

FACT_STOP_WORDS: Final = of_all("fact_stop_words")
LINKING_VERB: Final = lazy_pattern(
    rf"\s(?:{any_of('linking_verbs', spaced=True)})\s|\s*(?:[:：]\s|=|{any_of('linking_verbs', spaced=False)})",
    re.IGNORECASE,
)
ONE_PLACE_VERB: Final = lazy_pattern(
    rf"\s(?:{any_of('one_place_verbs', spaced=True)})\s|{any_of('one_place_verbs', spaced=False)}", re.IGNORECASE
)
SINGLE_VALUED: Final = of_all("single_valued", spaced=True)
UNSPACED_SINGLE_VALUED: Final = tuple(of_all("single_valued", spaced=False).split())
ADDITIONS: Final = of_all("additions")
NEGATIONS: Final = of_all("fact_negations")

COMPANY: Final[dict[str, str]] = by_code("company")
COMPANY_ARTICLES: Final = of_all("company_articles")
CONJUNCTIONS: Final = of_all("company_conjunctions")
UNSPACED_COMPANY: Final = tuple(by_code("company_pattern").values())

FOR_A_FAILURE: Final = of_all("for_a_failure", spaced=True)
FOR_A_SUCCESS: Final = of_all("for_a_success")
UNSPACED_FOR_A_FAILURE: Final = of_all("for_a_failure", spaced=False)
SIGNS_OF_FAILURE: Final = tuple(phrases(of_all("signs_of_failure")))

CODES: Final = {known["name"].lower(): code for code, known in languages().items()}
STOP_WORDS_BY_CODE: Final[dict[str, frozenset[str]]] = {
    code: frozenset(listed.split()) for code, listed in (by_code("stop_words") | by_code("other_stop_words")).items()
}
LANGUAGE_OF_SCRIPT: Final[dict[str, str]] = {
    script: code for code, scripts in by_code("scripts").items() for script in scripts
}
LANGUAGE_NAMES: Final[dict[str, str]] = by_code("name")

NEGATORS: Final[dict[str, str]] = by_code("negators", spaced=True)
NUMBER_WORDS: Final[dict[str, str]] = by_code("number_words")

GREETINGS: Final = of_all("greetings", spaced=True)
UNSPACED_GREETINGS: Final = of_all("greetings", spaced=False)
ABOUT_THE_ANSWER: Final = of_all("about_the_answer")
PHRASES: Final = of_all("small_talk")

POINTS_BACK: Final = lazy_pattern(
    rf"(?<!\w)(?:{any_of('points_back', spaced=True)})(?!\w)|{any_of('points_back', spaced=False)}"
)
"""In small letters: \"Sie\" is polite."""
MAY_POINT_BACK: Final = lazy_pattern(rf"(?<!\w)(?:{any_of('may_point_back')})(?!\w)")
GOES_ON: Final = lazy_pattern(
    rf"\W*(?:(?:{any_of('goes_on', spaced=True)})\b|{any_of('goes_on', spaced=False)})", re.IGNORECASE
)
CHANGES: Final = of_all("changes", spaced=True)
UNSPACED_CHANGES: Final = tuple(of_all("changes", spaced=False).split())
DECISIONS: Final = of_all("decisions")
FIRST_PERSON: Final = of_all("first_person")
SUBJECTS: Final = of_all("first_person_subjects")
"""Those of the first person with which anybody asks how something is done: "How do I …?"."""
UNSPACED_STATEMENTS: Final = tuple(of_all("statements").split())
PREFERENCES: Final = of_all("preferences")
TELLING: Final = lazy_pattern(rf"\A\W*(?:{any_of('telling_phrases')})\b", re.IGNORECASE)
"""How a message begins that tells something."""
CORRECTS: Final = lazy_pattern(any_of("correcting_phrases"), re.IGNORECASE)
"""What a message says that takes the place of one before."""
HEADINGS: Final = lazy_pattern(any_of("headings"), re.IGNORECASE)
NOTE_PARTS: Final = lazy_pattern(f"{any_of('headings')}|{any_of('metadata')}", re.IGNORECASE)
REQUEST: Final = lazy_pattern(rf"[?？]|\b(?:{any_of('request_phrases')})\b", re.IGNORECASE)

STOP_WORDS: Final = by_name("stop_words")
SYNONYMS: Final = by_name("synonyms")

ENDS_AS_QUESTION: Final = lazy_pattern(r"(?:[?？؟]|[\u0370-\u03ff];|か[。．]?|吗[。．]?|嗎[。．]?|ไหม|มั้ย)\W*\Z")
"""At the end of a text. Greek asks with a semicolon."""
TIME_WORDS: Final = of_all("time_words", spaced=True)
UNSPACED_TIME_WORDS: Final = tuple(of_all("time_words", spaced=False).split())
ASKING_FOR_TIME: Final = of_all("asking_for_time", spaced=True)
UNSPACED_ASKING_FOR_TIME: Final = tuple(phrases(of_all("asking_for_time", spaced=False)))

INTERROGATIVES: Final = by_name("interrogatives")
REQUESTS: Final = by_name("requests")
CONNECTIVES: Final = of_all("connectives", spaced=True)
UNSPACED_CONNECTIVES: Final = "".join(of_all("connectives", spaced=False).split())
UNSPACED: Final = of_all("asking_phrases")
