"""What the notes say: evidence, lists of the catalog, verification, the daily brief."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.answers.brief import (
        DEFAULT_DAYS,
        LONG,
        MAX_DAYS,
        MAX_LISTED_IN_BRIEF,
        SHORT,
        as_data,
        make_brief,
        report_brief,
        report_section,
    )
    from zkchat.answers.catalog import CatalogAnswer, answer_query
    from zkchat.answers.catalog_parser import (
        LINK_MARK,
        MAX_ASKED,
        MAX_LISTED,
        NOTE_WORDS,
        CatalogQuery,
        QueryKind,
        asking_terms,
        parse_question,
        vault_words,
    )
    from zkchat.answers.dated_evidence import find_evidence, time_of
    from zkchat.answers.evidence import MAX_EVIDENCE, find_undated_evidence, openings
    from zkchat.answers.evidence_by_date import are_worth_showing, date_of
    from zkchat.answers.evidence_passages import Earlier, max_characters, rarest_idf, resolved
    from zkchat.answers.verification.comparison import weights_of
    from zkchat.answers.verification.contradiction import find_contradiction
    from zkchat.answers.verification.sentence_parser import number_words, plain
    from zkchat.answers.verification.verify import MAX_CHARACTERS, extract_statements, verify
else:
    __getattr__ = lazy_names(__name__, __file__)
