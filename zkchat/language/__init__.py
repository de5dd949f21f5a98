"""The words of languages, as data."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.language.question_words import (
        ABOUT_THE_ANSWER,
        ADDITIONS,
        ASKING_FOR_TIME,
        CHANGES,
        CODES,
        COMPANY,
        COMPANY_ARTICLES,
        CONJUNCTIONS,
        CONNECTIVES,
        DECISIONS,
        DEGREES,
        ENDS_AS_QUESTION,
        FACT_STOP_WORDS,
        FIRST_PERSON,
        FOR_A_FAILURE,
        FOR_A_LIST,
        FOR_A_NUMBER,
        FOR_A_SUCCESS,
        FOR_A_TIME,
        GOES_ON,
        GREETINGS,
        HOW_TO,
        INTERROGATIVES,
        LANGUAGE_NAMES,
        LANGUAGE_OF_SCRIPT,
        LINKING_VERB,
        MAY_POINT_BACK,
        NEGATIONS,
        NEGATORS,
        NUMBER_WORDS,
        ONE_PLACE_VERB,
        PHRASES,
        POINTS_BACK,
        PREFERENCES,
        REQUEST,
        REQUESTS,
        SIGNS_OF_FAILURE,
        SINGLE_VALUED,
        STOP_WORDS,
        STOP_WORDS_BY_CODE,
        SYNONYMS,
        TIME_WORDS,
        UNSPACED,
        UNSPACED_ASKING_FOR_TIME,
        UNSPACED_CHANGES,
        UNSPACED_COMPANY,
        UNSPACED_CONNECTIVES,
        UNSPACED_FOR_A_FAILURE,
        UNSPACED_FOR_A_LIST,
        UNSPACED_FOR_A_NUMBER,
        UNSPACED_FOR_A_TIME,
        UNSPACED_GREETINGS,
        UNSPACED_SINGLE_VALUED,
        UNSPACED_STATEMENTS,
        UNSPACED_TIME_WORDS,
    )
    from zkchat.language.words import any_of, by_code, languages, of_all, phrases
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "question_words": (
                "ABOUT_THE_ANSWER ADDITIONS ASKING_FOR_TIME CHANGES CODES COMPANY COMPANY_ARTICLES CONJUNCTIONS "
                "CONNECTIVES DECISIONS DEGREES ENDS_AS_QUESTION FACT_STOP_WORDS FIRST_PERSON FOR_A_FAILURE FOR_A_LIST "
                "FOR_A_NUMBER FOR_A_SUCCESS FOR_A_TIME GOES_ON GREETINGS HOW_TO INTERROGATIVES LANGUAGE_NAMES "
                "LANGUAGE_OF_SCRIPT LINKING_VERB MAY_POINT_BACK NEGATIONS NEGATORS NUMBER_WORDS ONE_PLACE_VERB "
                "PHRASES POINTS_BACK PREFERENCES REQUEST REQUESTS SIGNS_OF_FAILURE SINGLE_VALUED STOP_WORDS "
                "STOP_WORDS_BY_CODE SYNONYMS TIME_WORDS UNSPACED UNSPACED_ASKING_FOR_TIME UNSPACED_CHANGES "
                "UNSPACED_COMPANY UNSPACED_CONNECTIVES UNSPACED_FOR_A_FAILURE UNSPACED_FOR_A_LIST "
                "UNSPACED_FOR_A_NUMBER UNSPACED_FOR_A_TIME UNSPACED_GREETINGS UNSPACED_SINGLE_VALUED "
                "UNSPACED_STATEMENTS UNSPACED_TIME_WORDS"
            ),
            "words": "any_of by_code languages of_all phrases",
        },
    )
