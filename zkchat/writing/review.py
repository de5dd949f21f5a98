"""The review of changes: what a reviewer is asked, and which changes may be applied without a question."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from zkchat.model.change import TRASH, ChangeSet
from zkchat.model.choices import WriteMode
from zkchat.model.globs import Glob

Answer = Literal["yes", "no", "stop"]
"""`stop`: no, and nothing more of what made the proposal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPolicy:
    """What the settings, and the user in this session, say about changes that a model proposes."""

    mode: WriteMode = "ask"
    accept: tuple[str, ...] = ()
    """Folders, as globs, in which they are applied without a question."""
    assumes_yes: bool = False
    """Whether the user has said yes to everything beforehand."""


def folders_of(changes: ChangeSet) -> tuple[str, ...]:
    """The folders that hold what changes; empty for the root of the vault."""
    return tuple(sorted({path.rpartition("/")[0] for path in touched_paths(changes) if not _is_in_trash(path)}))


def touched_paths(changes: ChangeSet) -> tuple[str, ...]:
    """Every path that a change set reads from or writes to."""
    moved = (path for move in changes.moves for path in (move.source, move.target))
    return tuple(dict.fromkeys([*moved, *(write.path for write in changes.writes)]))


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyAsked:
    """Why the user has to be asked about changes."""

    sentence: str
    takes_yes: bool = True
    """Whether a yes that was given beforehand answers the question, as `--yes` does."""
    takes_always: bool = True
    """Whether the user may agree to all that follow in the same folders."""


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
    if reasons:
        return WhyAsked(sentence=reasons[0], takes_yes=False, takes_always=False)
    if withheld := next(filter(is_withheld, touched_paths(changes)), None):
        return WhyAsked(sentence=f"{withheld} is kept from this model.", takes_yes=False, takes_always=False)
    if any(_is_in_trash(move.target) for move in changes.moves):
        return WhyAsked(
            sentence="Something is moved to the trash, about which you are always asked.", takes_always=False
        )
    outside = [path for path in touched_paths(changes) if not _is_accepted(path, policy.accept, always)]
    if not outside:
        return None
    if policy.accept or always:
        return WhyAsked(sentence=f"{outside[0]} is in no folder that you accept changes in.")
    return WhyAsked(sentence="You are asked about every change.")


def _is_accepted(path: str, globs: Sequence[str], folders: Sequence[str]) -> bool:
    if path.rpartition("/")[0] in folders:
        return True
    components = path.split("/")
    return any(Glob(glob.strip("/").split("/"), whole=False).matches(components) for glob in globs if glob.strip("/"))


def _is_in_trash(path: str) -> bool:
    return path.startswith(f"{TRASH}/")
