"""Values to characters: text for terminals, pipes and scripts."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.render.console import BLANK, Matches, Row, console_for, print_text
    from zkchat.render.context import (
        AnswerFooter,
        ShownUsage,
        context_bar,
        context_line,
        context_lines,
        cost_lines,
        counts_line,
        messages_line,
        totals_lines,
    )
    from zkchat.render.diffs import common_length, diff_rows, print_changes, style_for
    from zkchat.render.links import UNKNOWN, ClickableLinks, LinkTarget
    from zkchat.render.markdown import DrawnNote, MarkdownStream, note_rows, print_markdown
    from zkchat.render.markdown_parser import with_labels
    from zkchat.render.numbered_rows import (
        NumberedRow,
        Place,
        RowSection,
        passage_row,
        plain_sections,
        print_sections,
        statement_row,
        summary,
    )
    from zkchat.render.phrases import (
        checklist_lines,
        compaction_part,
        describe_destination,
        describe_link,
        end_sentence,
        is_doubtful,
        method_label,
        named_folders,
        priority_effect,
        reviewed,
        vector_lines,
        vector_progress,
    )
    from zkchat.render.presenters.plain import BellPresenter, ContextPresenter, PlainPresenter
    from zkchat.render.presenters.screen import ScreenPresenter
    from zkchat.render.presenters.text import (
        GoalJsonPresenter,
        GoalPipePresenter,
        JsonPresenter,
        OutputStream,
        Presenter,
        ticking,
    )
    from zkchat.render.references import (
        describe_doubt,
        describe_location,
        describe_reason,
        fit_cells,
        in_brief,
        reference_lines,
        references_panel,
        short_reason,
    )
    from zkchat.render.sanitize import (
        PROSE_WIDTH,
        can_edit_text,
        columns,
        never_fail_to_encode,
        sanitize_in_place,
        sanitize_line,
        sanitize_text,
        uses_color,
        wrap,
    )
    from zkchat.render.tables import (
        describe_conflict,
        embedding_line,
        fold,
        headline,
        model_facts,
        model_lines,
        problem_lines,
        undo_question,
        undone_lines,
    )
else:
    __getattr__ = lazy_names(__name__, __file__)
