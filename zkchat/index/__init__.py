"""The index of a vault, its search, and the library over both."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.index.daily_notes import DailyNoteSettings, find_daily_note, format_moment
    from zkchat.index.graph import Followed, backlinks, neighbours
    from zkchat.index.guarded import targets_of
    from zkchat.index.indexing.background import TextExtraction
    from zkchat.index.indexing.indexer import DateSources, Progress, Refreshed
    from zkchat.index.indexing.reader import is_source
    from zkchat.index.library import GuardedLibrary, Library, LibraryOptions
    from zkchat.index.link_guesses import MIN_LIKENESS, BrokenLink, Repair, RepairFinder, broken_links
    from zkchat.index.listings import (
        ChangedNote,
        NamedNote,
        OnThisMachine,
        ReadableNote,
        changed_last,
        count_changed,
        find_named_note,
        notes_by_day,
        old_and_new_name,
        parse_link,
        read_note,
        recent_notes,
        tag_counts,
    )
    from zkchat.index.mentions import MAX_SHARE, Mention, NoteNames, common_names, named_in
    from zkchat.index.note_index import SqliteNoteIndex
    from zkchat.index.note_schema import read_facts, read_headings, read_notes, read_sessions, read_tags
    from zkchat.index.overlay import Overlay
    from zkchat.index.search.method_vectors import Vector, Vectors, common_direction, cosines, packed, signs, unpacked
    from zkchat.index.search.passages import hits_of, line_of, matches, preview_of, snippet, term_matches
    from zkchat.index.search.ranking import Match, TextRanking
    from zkchat.index.search.terms import (
        MAX_QUERY_CHARACTERS,
        UNSPACED_RUN,
        UNSPACED_SCRIPTS,
        begins_unspaced,
        has_unspaced,
        idf,
        phrase_text,
        query_terms,
        query_words,
        stem,
        terms,
        words,
        written_words,
    )
    from zkchat.index.search.vectors import VectorSearch
    from zkchat.index.search.weighted_question import (
        COVERAGE_WEIGHT,
        FAMILY_WEIGHT,
        MAX_SCORE,
        RankedBlock,
        WeightedQuestion,
        are_related,
        blocks_of,
        company_in,
        is_said,
        lacks_number,
        language_of,
        misspelled,
        names_in,
        own_terms,
        parts_of,
        rank_blocks,
        topic_of,
        topic_terms,
        wants_notes,
        wants_number,
        wants_time,
        with_compounds,
        with_synonyms,
    )
else:
    __getattr__ = lazy_names(__name__, __file__)
