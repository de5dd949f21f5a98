"""Changes of notes: proposed, reviewed, applied, undone."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.writing.changes.execution import ProgressFile
    from zkchat.writing.changes.files import VaultTree
    from zkchat.writing.changes.journal import SqliteChangeJournal, is_there, open_journal
    from zkchat.writing.changes.store import GitCommits, VaultChanges
    from zkchat.writing.editor import NoteEditor, StagedEdit
    from zkchat.writing.links.mentions import (
        NO_MENTIONS,
        ChosenLinks,
        MentionGroup,
        MentionLink,
        MentionLinks,
        stage_links,
    )
    from zkchat.writing.links.moved import LinkRepairer, RepairedLink, past_renames
    from zkchat.writing.links.renames import (
        MoveSummary,
        entry_of,
        follow_links,
        links_to_new,
        remarks_on_new,
        stage_move,
    )
    from zkchat.writing.properties import parse_property_value
    from zkchat.writing.proposals import (
        PROPOSE_ONLY,
        ChangeReviewer,
        Proposals,
        ReviewPolicy,
        Verdict,
        folders_of,
        why_asked,
    )
    from zkchat.writing.staging import Followed, FollowLinks, StagedChanges
    from zkchat.writing.targets import LinkStyle, VaultConventions
    from zkchat.writing.tools import PROPOSED, write_tools
    from zkchat.writing.undo import UndoPlan, parse_number, plan_undo_named, reversal, undo_all
else:
    __getattr__ = lazy_names(__name__, __file__)
