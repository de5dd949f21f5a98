"""Markdown notes: their text, links, dates, privacy and attachments."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.notes.dates.calendar import Phrases, Token, fold, plus
    from zkchat.notes.dates.day_texts import all_dates, day_of_headings, name_date, section_days, stated_dates
    from zkchat.notes.dates.expressions import (
        PERIOD_FORMS,
        TIME_FILTERS,
        check_times,
        describe_period,
        filter_period,
        impossible_times,
        of_period,
        parse_instant,
        period_text,
        unknown_times,
    )
    from zkchat.notes.dates.questions import (
        Order,
        TimeInQuestion,
        asks_for_own_writing,
        asks_of_own_past,
        find_period,
        missing_day,
        time_in_question,
    )
    from zkchat.notes.documents import (
        Document,
        UnreadableDocument,
        document_of_pages,
        document_title,
        is_indexed,
        without_escape,
    )
    from zkchat.notes.drawings import read_drawing
    from zkchat.notes.frontmatter import PLACEHOLDER, Frontmatter, cut, properties_at
    from zkchat.notes.images import MAX_FILE_BYTES, digest_of, encode_image, inspect_image
    from zkchat.notes.link_catalog import (
        Anchors,
        Catalog,
        CatalogEntry,
        heading_key,
        keys_of_file,
        keys_of_links,
        name_key,
        scan,
        section_lines,
        wikilink,
        wikilink_spans,
    )
    from zkchat.notes.link_resolver import LinkResolver, LiveCatalog, explain, find_target, is_attachment, resolve
    from zkchat.notes.markdown import (
        Lines,
        Span,
        blank,
        find_lines,
        flatten,
        outline,
        plain,
        sections_of,
        with_line_feeds,
    )
    from zkchat.notes.note_blocks import Block, blocks, cross_references, excerpt, sentences, without_cross_references
    from zkchat.notes.parse import (
        LinkTarget,
        Notation,
        TextEdit,
        describe_warning,
        edited,
        find_links,
        fits,
        frontmatter_of,
        link_targets,
        parse_note,
        prose_of,
        running_text,
        shown_text,
        summarize_warnings,
        without_comments,
        without_templates,
        written_target,
    )
    from zkchat.notes.privacy import (
        MAX_LISTED,
        Folders,
        LocalFolder,
        describe_folder,
        folders_of,
        is_folder,
        listed_paths,
        local_folders,
        privacy_of_text,
        rows_in,
        unmatched,
        written_class,
    )
    from zkchat.notes.privacy_guard import IS_LOCAL, LOCAL_NOTES, CurrentClasses, PrivacyGuard, local_files
    from zkchat.notes.runs import (
        BLOCK_ID,
        closes_fence,
        detect_language,
        guess_language,
        is_delimiter,
        opens_fence,
        sentence_spans,
        without_quote_marks,
    )
else:
    __getattr__ = lazy_names(__name__, __file__)
