from typing import Any

import pytest
from msgspec.structs import replace

from tests.support.changes import Answering, ChangesInMemory, always, edited, no, stop, yes
from zkchat.core.changes import ChangeOrigin, ChangeSet, FileMove, FileWrite, ReviewOutcome
from zkchat.core.errors import StorageError
from zkchat.writing.proposals import Proposals, ReviewPolicy, folders_of, why_asked, why_not_asked
from zkchat.writing.staging import Edit, StagedChanges

NINE = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
ORIGIN = ChangeOrigin(command="edit_document", session_id="s", message_id="m")


@pytest.fixture
def store() -> ChangesInMemory:
    return ChangesInMemory(Sleep="old\n", Coffee="black\n")


def proposals(store: ChangesInMemory, reviewer: Answering | None = None, **more: Any) -> Proposals:
    return Proposals(staged=StagedChanges(store), store=store, reviewer=reviewer, **more)


def stage(proposed: Proposals) -> None:
    proposed.staged.write("Sleep.md", "new\n", made_from="old\n", title="Edit Sleep.md")
    proposed.staged.create("Inbox/Tea.md", "green\n", title="Create Inbox/Tea.md")


def settle(proposed: Proposals) -> ReviewOutcome:
    outcome = proposed.settle(ORIGIN)
    assert outcome
    assert not proposed.staged
    return outcome


def test_what_the_user_agrees_to_is_applied_together_and_what_went_wrong_beside_is_told(store: ChangesInMemory) -> None:
    store.remarks = ("The change was made, but not committed.",)
    proposed = proposals(store, Answering(yes))
    stage(proposed)
    outcome = settle(proposed)
    assert (outcome.decision, outcome.record_id, outcome.edited) == ("applied", 1, False)
    assert outcome.reason == "The change was made, but not committed."
    assert store.files == {"Sleep.md": b"new\n", "Coffee.md": b"black\n", "Inbox/Tea.md": b"green\n"}
    assert store.journal[0].origin == ORIGIN


@pytest.mark.parametrize(("answer", "stops"), [(no, False), (stop, True)])
def test_what_the_user_declines_is_written_nowhere(store: ChangesInMemory, answer: Any, stops: bool) -> None:
    proposed = proposals(store, Answering(answer))
    stage(proposed)
    outcome = settle(proposed)
    assert (outcome.decision, outcome.stops) == ("declined", stops)
    assert store.files["Sleep.md"] == b"old\n"


def test_what_the_user_edited_is_applied_or_kept_as_they_left_it(store: ChangesInMemory) -> None:
    proposed = proposals(store, Answering(edited("Sleep.md", "newer\n"), edited("Sleep.md", "newest\n")))
    stage(proposed)
    outcome = settle(proposed)
    assert outcome.edited
    assert outcome.proposed.writes[0].after == b"new\n"
    assert store.files["Sleep.md"] == b"newer\n"
    proposed.staged.write("Sleep.md", "ours\n", made_from="newer\n", title="Edit")
    store.before_apply = lambda: store.files.update({"Sleep.md": b"theirs\n"})
    outcome = settle(proposed)
    assert (outcome.decision, outcome.edited) == ("kept", True)
    assert outcome.changes.writes[0].after == b"newest\n"


def test_always_holds_for_the_folders_of_that_change_only(store: ChangesInMemory) -> None:
    reviewer = Answering(always, no)
    proposed = proposals(store, reviewer)
    proposed.staged.create("Inbox/Tea.md", "green\n", title="Create")
    assert settle(proposed).decision == "applied"
    proposed.staged.create("Inbox/Milk.md", "white\n", title="Create")
    assert settle(proposed).reason.endswith("file is in Inbox, where you accepted all changes in this session.")
    assert (len(reviewer.asked), len(reviewer.shown)) == (1, 1)
    proposed.staged.write("Sleep.md", "new\n", made_from="old\n", title="Edit")
    assert settle(proposed).decision == "declined"


def test_always_does_not_hold_for_the_folder_of_a_change_that_was_left_out(store: ChangesInMemory) -> None:
    proposed = proposals(store, Answering(lambda changes: always(replace(changes, writes=changes.writes[1:]))))
    stage(proposed)
    assert len(settle(proposed).changes.writes) == 1
    assert proposed.always == {"Inbox"}


def test_a_yes_beforehand_is_enough_but_not_for_what_calls_for_a_question(store: ChangesInMemory) -> None:
    sure = ReviewPolicy(assumes_yes=True)
    proposed = proposals(store, policy=sure)
    stage(proposed)
    proposed.staged.remarks.append("A link will break.")
    assert (outcome := settle(proposed)).decision == "applied"
    assert outcome.reason == "A link will break.", "nobody saw it"
    proposed = proposals(store, policy=sure)
    proposed.staged.reasons_to_ask.append("Clip.md is a web clipping.")
    proposed.staged.write("Sleep.md", "newest\n", made_from="new\n", title="Edit")
    outcome = settle(proposed)
    assert outcome.decision == "kept"
    assert "Clip.md is a web clipping." in outcome.reason
    assert store.files["Sleep.md"] == b"new\n"


def test_a_reason_to_ask_is_read_with_the_diff_and_always_is_not_offered(store: ChangesInMemory) -> None:
    reviewer = Answering(yes, yes, yes)
    proposed = proposals(store, reviewer)
    proposed.staged.reasons_to_ask += ["Clip.md is a web clipping.", "It holds code.", "It holds code."]
    stage(proposed)
    settle(proposed)
    assert reviewer.remarks == ["Clip.md is a web clipping.", "It holds code."]
    proposed.staged.trash("Sleep.md", title="Trash")
    settle(proposed)
    proposed.staged.create("Inbox/Milk.md", "green\n", title="Create")
    settle(proposed)
    assert reviewer.may_always == [False, False, True]


def test_what_cannot_be_applied_is_kept_with_the_reason(store: ChangesInMemory) -> None:
    def full() -> None:
        raise StorageError("The disk is full.", hint="Make room.")

    store.before_apply = full
    proposed = proposals(store, Answering(yes))
    stage(proposed)
    outcome = settle(proposed)
    assert (outcome.decision, outcome.reason) == ("kept", "The disk is full. Make room.")
    assert len(outcome.proposed.writes) == 2


def test_changes_of_somebody_else_in_another_place_are_kept_and_not_asked_about(store: ChangesInMemory) -> None:
    store.files["Sleep.md"] = NINE.encode()
    reviewer = Answering(yes)
    proposed = proposals(store, reviewer)
    proposed.staged.write("Sleep.md", NINE.replace("9", "nine"), made_from=NINE, title="Edit")
    saved_once(store, NINE.replace("1", "one"))
    outcome = settle(proposed)
    assert (outcome.decision, outcome.proposed) == ("applied", outcome.changes)
    assert outcome.reason == "Changed meanwhile: Sleep.md. The proposal was adapted to the new text."
    assert store.files["Sleep.md"] == b"one\n2\n3\n4\n5\n6\n7\n8\nnine\n"
    assert len(reviewer.asked) == 1


def add(proposed: Proposals, word: str) -> None:
    """Stage a word at the end of the line of tags."""
    before = proposed.staged.read("Sleep.md") or ""
    edit = Edit(lambda text: text.replace("]", f", {word}]") if word not in text else text)
    proposed.staged.write("Sleep.md", edit.change(before), made_from=before, title="Tag Sleep.md", edit=edit)


def saved_once(store: ChangesInMemory, text: str) -> None:
    """Somebody else saves this text at the last moment."""

    def save() -> None:
        store.files["Sleep.md"] = text.encode()
        store.before_apply = lambda: None

    store.before_apply = save


@pytest.mark.parametrize(("policy", "asked"), [(ReviewPolicy(), 2), (ReviewPolicy(assumes_yes=True), 0)])
def test_what_can_be_made_again_of_the_present_text_is_and_asked_about_if_the_diff_is_another(
    store: ChangesInMemory, policy: ReviewPolicy, asked: int
) -> None:
    store.files["Sleep.md"] = b"tags: [one]\n"
    reviewer = Answering(yes, yes)
    proposed = proposals(store, reviewer, policy=policy)
    add(proposed, "ours")
    saved_once(store, "tags: [one, theirs]\n")
    assert settle(proposed).decision == "applied"
    assert store.files["Sleep.md"] == b"tags: [one, theirs, ours]\n"
    assert len(reviewer.asked) == asked


def test_what_somebody_else_has_written_just_the_same_is_no_failure(store: ChangesInMemory) -> None:
    store.files["Sleep.md"] = b"tags: [one]\n"
    proposed = proposals(store, policy=ReviewPolicy(assumes_yes=True))
    add(proposed, "same")
    saved_once(store, "tags: [one, same]\n")
    outcome = settle(proposed)
    assert (outcome.decision, outcome.exit_code) == ("kept", 0)
    assert outcome.reason.endswith("The note already says what was proposed.")


def test_what_the_user_edited_is_brought_to_the_present_text_as_they_left_it(store: ChangesInMemory) -> None:
    store.files["Sleep.md"] = b"tags: [one]\n\n1\n2\n"
    proposed = proposals(store, Answering(edited("Sleep.md", "tags: [one, mine]\n\n1\n2\n")))
    add(proposed, "ours")
    saved_once(store, "tags: [one]\n\n1\n2\n3\n")
    assert settle(proposed).edited
    assert store.files["Sleep.md"] == b"tags: [one, mine]\n\n1\n2\n3\n"


def test_where_somebody_else_changed_the_same_place_it_is_shown_and_the_proposal_is_kept(
    store: ChangesInMemory,
) -> None:
    reviewer = Answering(yes)
    proposed = proposals(store, reviewer)
    stage(proposed)
    store.before_apply = lambda: store.files.update({"Sleep.md": b"theirs\n"})
    outcome = settle(proposed)
    assert (outcome.decision, outcome.exit_code) == ("kept", 4)
    assert "Sleep.md" in outcome.reason
    assert (reviewer.shown[0].writes[0].before, reviewer.shown[0].writes[0].after) == (b"old\n", b"theirs\n")
    assert store.files["Sleep.md"] == b"theirs\n"
    assert "Inbox/Tea.md" not in store.files


def test_somebody_who_writes_all_the_time_does_not_hold_the_user_up(store: ChangesInMemory) -> None:
    numbers = iter(range(100))
    store.files["Sleep.md"] = NINE.encode()
    store.before_apply = lambda: store.files.update({"Sleep.md": NINE.replace("1", f"x{next(numbers)}").encode()})
    proposed = proposals(store, Answering(yes))
    proposed.staged.write("Sleep.md", NINE.replace("9", "nine"), made_from=NINE, title="Edit")
    assert settle(proposed).decision == "kept"
    assert next(numbers) < 10


def test_paths_that_are_withheld_are_part_of_the_outcome(store: ChangesInMemory) -> None:
    proposed = proposals(store, None, is_withheld=lambda _changes, path: path == "Sleep.md")
    stage(proposed)
    assert settle(proposed).withheld == {"Sleep.md"}
    stage(proposed)
    dropped = proposed.drop("Stopped.")
    assert dropped
    assert dropped.withheld == {"Sleep.md"}


def test_what_is_refused_is_shown_with_the_reason_and_written_nowhere(store: ChangesInMemory) -> None:
    reviewer = Answering()
    proposed = proposals(store, reviewer, policy=ReviewPolicy(accept=("**",), assumes_yes=True))
    proposed.staged.set_aside("Coffee.md", "Coffee.md already exists, and is private.")
    proposed.staged.create("Coffee.md", "mine\n", title="Create Coffee.md")
    outcome = settle(proposed)
    assert (outcome.decision, outcome.exit_code) == ("kept", 4)
    assert outcome.withheld == {"Coffee.md"}
    assert outcome.reason == "Coffee.md already exists, and is private."
    assert [(each.moves, len(each.writes)) for each in reviewer.shown] == [((), 1)]
    assert store.files["Coffee.md"] == b"black\n"
    assert not proposed.staged.refusals


def writing(*paths: str) -> ChangeSet:
    return ChangeSet(title="Edit", writes=tuple(FileWrite(path=path, before=b"a", after=b"b") for path in paths))


def moving(source: str, target: str, *rewritten: str) -> ChangeSet:
    return ChangeSet(title="Move", moves=(FileMove(source=source, target=target),), writes=writing(*rewritten).writes)


INBOX = ReviewPolicy(accept=("Inbox",))


@pytest.mark.parametrize(
    ("changes", "policy", "is_asked"),
    [
        (writing("Inbox/New.md"), ReviewPolicy(), True),
        (writing("Inbox/Deep/New.md"), INBOX, False),
        (writing("Inboxes/New.md"), INBOX, True),
        (writing("Old/Inbox/New.md"), INBOX, True),
        (writing("Inbox/New.md", "Sleep.md"), INBOX, True),
        (writing("Journal/2026/Day.md"), ReviewPolicy(accept=("Journal/**",)), False),
        (writing("Journal/2026/Day.md"), ReviewPolicy(accept=("Journal/*.md",)), True),
        (moving("Inbox/A.md", "Inbox/B.md"), INBOX, False),
        (moving("Inbox/A.md", "Inbox/B.md", "Sleep.md"), INBOX, True),
        (moving("Inbox/A.md", "B.md"), INBOX, True),
        (moving("Inbox/A.md", ".trash/A.md"), INBOX, True),
    ],
)
def test_only_what_lies_wholly_in_accepted_folders_is_not_asked_about(
    changes: ChangeSet, policy: ReviewPolicy, is_asked: bool
) -> None:
    assert (why_asked(changes, policy) is not None) == is_asked


def test_the_folders_that_the_user_agreed_to_are_not_asked_about_again_but_those_below_them_are() -> None:
    assert why_asked(writing("Sleep/A.md"), ReviewPolicy(), always=["Sleep"]) is None
    assert why_asked(writing("Sleep/Deep/A.md"), ReviewPolicy(), always=["Sleep"])
    assert why_asked(writing("A.md"), ReviewPolicy(), always=[""]) is None
    assert why_asked(writing("Sleep/A.md"), ReviewPolicy(), always=[""])


def test_a_yes_beforehand_is_enough_for_a_deletion_but_not_for_a_note_that_the_model_may_not_see() -> None:
    why = why_asked(writing("Inbox/New.md"), INBOX, is_withheld=lambda path: path == "Inbox/New.md")
    assert why
    assert not why.takes_yes
    assert "Inbox/New.md" in why.sentence
    deletion = why_asked(moving("Inbox/A.md", ".trash/A.md"), INBOX, always=["Inbox"])
    assert deletion
    assert deletion.takes_yes


def test_why_nobody_was_asked_names_each_folder_and_who_accepts_it_once() -> None:
    assert folders_of(moving("A/x.md", "B/x.md", "C/D/y.md", "z.md")) == ("", "A", "B", "C/D")
    assert folders_of(moving("A/x.md", ".trash/x.md")) == ("A",)
    changes = writing("Inbox/A.md", "Inbox/B.md", "Sleep/A.md", "Top.md")
    assert why_not_asked(changes, INBOX, always=["Sleep", ""]) == (
        "You were not asked, because the file is in Inbox, which your setting write.accept names, and in Sleep, where "
        f"{(agreed := 'you accepted all changes in this session')}, and in the top folder, where {agreed}."
    )
