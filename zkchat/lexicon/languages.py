"""How languages are recognized: by their stop words, or by a script that only they use. ISO 639-1 codes."""

from typing import Final

from zkchat.lexicon.words import by_code, languages

CODES: Final = {known["name"].lower(): code for code, known in languages().items()}
STOP_WORDS_BY_CODE: Final[dict[str, frozenset[str]]] = {
    code: frozenset(listed.split()) for code, listed in (by_code("stop_words") | by_code("other_stop_words")).items()
}
LANGUAGE_OF_SCRIPT: Final[dict[str, str]] = {
    script: code for code, scripts in by_code("scripts").items() for script in scripts
}
LANGUAGE_NAMES: Final[dict[str, str]] = by_code("name")
