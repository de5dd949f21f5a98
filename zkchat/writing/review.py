"""The review of changes: what a reviewer is asked, and which changes may be applied without a question."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from zkchat.model.change import TRASH, ChangeSet
from zkchat.model.choices import WriteMode
from zkchat.model.globs import Glob

Answer = Literal["yes", "no", "stop"]
"""`stop`: no, and nothing more of what made the proposal."""


class Verdict(Struct, frozen=True, kw_only=True):
    """What the user says to a proposal."""

    answer: Answer
    changes: ChangeSet
    """As the user leaves them: edited, or without some."""
    edited: bool = False
    always: bool = False
    """Whether the folders of these changes need not be asked about again in this session."""


class ChangeReviewer(Protocol):
    """Shows changes to the user and asks about them."""

    def review(
        self, changes: ChangeSet, *, remarks: Sequence[str] = (), may_always: bool = False, is_asked: bool = True
    ) -> Verdict:
        """Show the changes as a diff, and ask whether to make them.

        `remarks` are sentences to be read with them; `may_always`: the user may also agree to all that follow in these
        folders. Without a question (`is_asked`) they are only shown, and the answer is no.
        """
        ...


class ReviewPolicy(Struct, frozen=True, kw_only=True):
    """What the settings, and the user in this session, say about changes that a model proposes."""

    mode: WriteMode = "ask"
    accept: tuple[str, ...] = ()
    """Folders, as globs, in which they are applied without a question."""
    assumes_yes: bool = False
    """Whether the user has said yes to everything beforehand."""
    is_dry_run: bool = False
    """Whether they are only shown this time, whatever the mode is."""


def folders_of(changes: ChangeSet) -> tuple[str, ...]:
    """The folders that hold what changes; empty for the root of the vault."""
    return tuple(sorted({path.rpartition("/")[0] for path in touched_paths(changes) if not _is_in_trash(path)}))


def touched_paths(changes: ChangeSet) -> tuple[str, ...]:
    """Every path that a change set reads from or writes to."""
    moved = (path for move in changes.moves for path in (move.source, move.target))
    return tuple(dict.fromkeys([*moved, *(write.path for write in changes.writes)]))


class WhyAsked(Struct, frozen=True, kw_only=True):
    """Why the user has to be asked about changes."""

    sentences: tuple[str, ...]
    takes_yes: bool = True
    """Whether a yes that was given beforehand answers the question, as `--yes` does."""
    takes_always: bool = True
    """Whether the user may agree to all that follow in the same folders."""

    @property
    def sentence(self) -> str:
        """All of it."""
        return " ".join(self.sentences)


def why_asked(
    changes: ChangeSet,
    policy: ReviewPolicy,
    *,
    always: Sequence[str] = (),
    reasons: Sequence[str] = (),
    is_withheld: Callable[[str], bool] = lambda _: False,
) -> WhyAsked | None:
    """Why the user has to be asked about these changes; None where they may be applied at once.

    `always` are the folders that the user has agreed to in this session, `reasons` what else calls for a question, and
    `is_withheld` tells the paths of notes that the model may not see. Deletions are always asked about.
    """
    sentences = [*dict.fromkeys(reasons)]
    if withheld := [*filter(is_withheld, touched_paths(changes))]:
        are = f"and {len(withheld) - 1} more are" if withheld[1:] else "is"
        sentences.append(f"{withheld[0]} {are} kept from this model.")
    if sentences:
        return WhyAsked(sentences=tuple(sentences), takes_yes=False, takes_always=False)
    if any(_is_in_trash(move.target) for move in changes.moves):
        return WhyAsked(
            sentences=("Something is moved to the trash, about which you are always asked.",), takes_always=False
        )
    outside = [path for path in touched_paths(changes) if not _accepting(path, policy.accept, always)]
    if not outside:
        return None
    if policy.accept or always:
        return WhyAsked(sentences=(f"{outside[0]} is in no folder that you accept changes in.",))
    return WhyAsked(sentences=("You are asked about every change.",))


def why_not_asked(changes: ChangeSet, policy: ReviewPolicy, *, always: Sequence[str] = ()) -> str:
    """Why changes need no question, as a sentence: `Not asked: it is in Inbox, which write.accept names.`"""
    reasons = dict.fromkeys(_accepting(path, policy.accept, always) for path in touched_paths(changes))
    return f"Not asked: it is in {', and in '.join(filter(None, reasons))}."


def _accepting(path: str, globs: Sequence[str], folders: Sequence[str]) -> str:
    """What lets a file be changed without a question, to be read after `in`; empty where nothing does."""
    components = path.split("/")
    for glob in globs:
        if glob.strip("/") and Glob(glob.strip("/").split("/"), whole=False).matches(components):
            return f"{glob}, which write.accept names"
    folder = path.rpartition("/")[0]
    return f"{folder or 'the top folder'}, which you agreed to in this session" if folder in folders else ""


def _is_in_trash(path: str) -> bool:
    return path.startswith(f"{TRASH}/")
