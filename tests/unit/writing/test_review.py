import pytest

from zkchat.core.changes import ChangeSet, FileMove, FileWrite
from zkchat.writing.proposals import ReviewPolicy, folders_of, why_asked, why_not_asked


def writing(*paths: str) -> ChangeSet:
    return ChangeSet(title="Edit", writes=tuple(FileWrite(path=path, before=b"a", after=b"b") for path in paths))


def moving(source: str, target: str, *rewritten: str) -> ChangeSet:
    return ChangeSet(title="Move", moves=(FileMove(source=source, target=target),), writes=writing(*rewritten).writes)


INBOX = ReviewPolicy(accept=("Inbox",))


@pytest.mark.parametrize(
    ("changes", "policy", "is_asked"),
    [
        (writing("Inbox/New.md"), ReviewPolicy(), True),
        (writing("Inbox/New.md"), INBOX, False),
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


def test_a_note_that_the_model_may_not_see_is_asked_about_in_every_folder_and_a_yes_beforehand_is_not_enough() -> None:
    why = why_asked(writing("Inbox/New.md"), INBOX, is_withheld=lambda path: path == "Inbox/New.md")
    assert why
    assert not why.takes_yes
    assert "Inbox/New.md" in why.sentence


def test_a_deletion_is_always_asked_about_and_takes_a_yes_beforehand() -> None:
    why = why_asked(moving("Inbox/A.md", ".trash/A.md"), INBOX, always=["Inbox"])
    assert why
    assert why.takes_yes


def test_the_folders_of_a_change_are_those_of_all_that_it_touches() -> None:
    assert folders_of(moving("A/x.md", "B/x.md", "C/D/y.md", "z.md")) == ("", "A", "B", "C/D")
    assert folders_of(moving("A/x.md", ".trash/x.md")) == ("A",)


def test_why_nobody_was_asked_names_each_folder_and_who_accepts_it_once() -> None:
    changes = writing("Inbox/A.md", "Inbox/B.md", "Sleep/A.md", "Top.md")
    assert why_not_asked(changes, INBOX, always=["Sleep", ""]) == (
        "You were not asked, because it is in Inbox, which your setting write.accept names, and in Sleep, which "
        "you agreed to in this session, and in the top folder, which you agreed to in this session."
    )
