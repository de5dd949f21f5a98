"""Slash commands for one document of the vault: /show /daily /open."""

import pytest
from msgspec.structs import replace

from tests.support.command_harness import CommandHarness
from zkchat.core.message import DocumentReference, LineRange
from zkchat.index.daily_notes import DailyNoteSettings
from zkchat.index.library import Library
from zkchat.repl.commands.table import completions, described_completions

LONG = "\n".join(f"Line {number} of a long note.\n" for number in range(1, 41))
NOTES = {
    "Body/Sleep.md": "---\ntags: [health]\n---\n# Sleep\n\nAdults need seven hours. %%hidden%%\n\n"
    "## Phases\n\nDeep. ^deep\n\n## Debt\n\nIt adds up.\n",
    "Long.md": LONG,
    "2024.md": "A year.\n",
    "Daily/2026-03-01.md": "Fireworks.\n",
    "Never.md": "---\nzkchat: never\n---\nUnsaid.\n",
    "Local.md": "---\nzkchat: local\n---\nMine alone.\n",
    "data.csv": "a,b\n```\n",
    "photo.png": "\ufffd",
}
SLEEP = DocumentReference(
    wikilink="[[Sleep]]", relative_path="Body/Sleep.md", lines=LineRange(first=8, last=10), cited=True
)
BROKEN = DocumentReference(wikilink="[[Slep]]", status="missing", candidates=("Sleep",))


@pytest.fixture
def harness(library: Library) -> CommandHarness:
    harness = CommandHarness(library=library)
    for path in NOTES:
        harness.changes.files[path] = b""
    return harness


def answered(harness: CommandHarness) -> None:
    harness.exchange("What is sleep?", "Rest. See [[Sleep]].", BROKEN, SLEEP)


@pytest.mark.parametrize("name", ["sleep", "[[Body/Sleep|a label]]", "Body/Sleep.md:1", "[[Sleep#Dreams]]"])
def test_a_note_is_shown_below_its_title_and_place_without_frontmatter_and_comments(
    harness: CommandHarness, name: str
) -> None:
    shown = harness.typed(f"/show {name}").splitlines()
    (text,) = harness.surface.drawn
    assert shown[-2] == "Sleep"
    assert shown[-1].startswith("Body/Sleep.md")
    assert shown[-1].endswith(" · #health")
    assert text == "Adults need seven hours. \n\n## Phases\n\nDeep. ^deep\n\n## Debt\n\nIt adds up."


def test_a_section_is_shown_alone(harness: CommandHarness) -> None:
    assert harness.typed("/show [[Sleep#Phases]]").splitlines() == ["Sleep › Phases", "Body/Sleep.md:8"]
    assert harness.typed("/show [[Sleep#^deep]]").splitlines() == ["Sleep › ^deep", "Body/Sleep.md:10"]
    assert harness.surface.drawn == ["Deep. ^deep", "Deep. ^deep"]


def test_a_number_means_a_document_of_the_answer_and_begins_where_it_was_found(harness: CommandHarness) -> None:
    answered(harness)
    assert harness.typed("/show 2").splitlines() == ["Sleep", "Body/Sleep.md:8 · #health"]
    assert harness.surface.read == [("Body/Sleep.md", 8)]
    harness.typed("/recent")
    harness.typed("/sources")  # which are numbered again
    assert described_completions(harness.context, "/show ") == [("1", "[[Slep]]"), ("2", "[[Sleep]]")]
    assert harness.typed("/show 2024").splitlines() == ["2024", "2024.md"], "a note may be called by a number"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/show", "Which note? /show [[Note]], a path, or the number of a hit of /search WORDS."),
        ("/show 7", "There is no hit 7: there are none yet. /search and /sources show the numbers."),
        ("/show Slep", "There is no note 'Slep' in the vault. Closest: [[Sleep]]."),
        ("/open ²", "There is no note '²' in the vault. To search for it: /search WORDS"),
        ("/show more", "There is no next page. First show a note: /show [[Note]]"),
        ("/show photo.png", "photo.png is not text. Open it with another program."),
        ("/show ../../etc/passwd", "There is no note '../../etc/passwd' in the vault. To search for it: /search WORDS"),
    ],
)
def test_what_is_not_there_is_answered_with_a_way_out(harness: CommandHarness, line: str, told: str) -> None:
    assert harness.typed(line) == told


def test_a_broken_link_of_the_answer_is_answered_with_the_closest_names(harness: CommandHarness) -> None:
    answered(harness)
    for command in ("/show", "/open", "/links", "/backlinks"):
        assert harness.typed(f"{command} 1") == "[[Slep]] does not lead to a note. Closest: Sleep."
    assert harness.typed("/open 3") == "There is no hit 3: there are 2. /search and /sources show the numbers."


def test_a_long_note_is_shown_in_pages_and_all_of_it_once(harness: CommandHarness) -> None:
    harness.surface.page_rows = 30
    assert harness.typed("/show Long").splitlines()[-1] == "38 % · /show more continues, /show all shows the rest."
    assert completions(harness.context, "/show ") == ["more", "all"]
    assert harness.typed("/show more") == "76 % · /show more continues, /show all shows the rest."
    assert harness.typed("/show more") == ""
    assert "\n".join(harness.surface.drawn) == LONG.strip()
    assert harness.typed("/show more") == "Long.md was shown to its end. /show Long.md shows it again."
    assert completions(harness.context, "/show ") == []


def test_a_private_note_is_shown_to_its_owner_but_not_one_that_is_never_read(harness: CommandHarness) -> None:
    harness.typed("/show Local")
    assert harness.surface.drawn == ["Mine alone."]
    told = harness.typed("/show Never")
    assert told == "Never.md is never to be read by zkchat, and is not shown. Open it with another program."
    assert "Unsaid" not in "".join(harness.surface.drawn)
    harness.typed("/show data.csv")
    assert harness.surface.drawn[-1] == "````csv\na,b\n```\n````", "another file is code that it cannot end"


def test_the_note_of_today_is_shown_or_named(harness: CommandHarness) -> None:
    assert harness.typed("/daily").splitlines() == ["2026-03-01", "Daily/2026-03-01.md"]
    harness.daily_notes = DailyNoteSettings(folder="Journal", format="YYYY/[day] D MMMM")
    harness.typed("/daily")
    assert harness.surface.drawn == ["Fireworks.", "Fireworks."]


def test_open_asks_before_it_hands_over_what_may_run(harness: CommandHarness) -> None:
    harness.surface.says_yes = False
    assert harness.typed("/open data.csv") == "Nothing was opened."
    assert (harness.surface.questions, harness.surface.opened) == (["It may run. Open data.csv?"], [])
    harness.surface.says_yes = True
    harness.typed("/open data.csv")
    assert harness.typed("/open [[Sleep#Phases]]") == "Opened Body/Sleep.md."
    assert harness.surface.opened == ["file:///data.csv", "file:///Body/Sleep.md"]
    assert not harness.edited


def test_what_is_gone_or_outside_the_vault_is_not_opened(harness: CommandHarness) -> None:
    answered(harness)
    harness.changes.files.clear()
    assert harness.typed("/open 2") == "Body/Sleep.md no longer exists."
    harness.exchange("And?", "See.", DocumentReference(wikilink="[[x]]", relative_path="../../etc/x.desktop"))
    assert harness.typed("/open 1") == "'../../etc/x.desktop' leads out of the vault."
    assert not harness.surface.opened


def test_without_a_desktop_the_document_is_opened_in_the_editor_at_its_line(harness: CommandHarness) -> None:
    harness.surface.has_desktop = False
    assert harness.typed("/open [[Sleep#Phases]]") == "Opened Body/Sleep.md:8 in ed."
    assert harness.typed("/open data.csv") == "Opened data.csv in ed."
    assert harness.edited == [("Body/Sleep.md", 8), ("data.csv", None)]
    assert not harness.surface.questions  # an editor runs nothing
    harness.knows_lines = False
    assert harness.typed("/open [[Sleep#Phases]]") == "Opened Body/Sleep.md in ed. The passage begins on line 8."
    harness.context = replace(harness.context, browser=replace(harness.browser, editor=""))
    assert harness.typed("/open Sleep").startswith(
        "Body/Sleep.md cannot be opened: there is no desktop, and no editor is set"
    )


@pytest.mark.parametrize(
    ("open_with", "edited", "opened"), [("auto", 0, 1), ("editor", 1, 0), ("desktop", 0, 1), ("obsidian", 0, 1)]
)
def test_the_setting_chooses_the_program(library: Library, open_with: str, edited: int, opened: int) -> None:
    harness = CommandHarness(library=library, open_with=open_with)
    harness.changes.files["Body/Sleep.md"] = b""
    harness.typed("/open Sleep")
    assert (len(harness.edited), len(harness.surface.opened)) == (edited, opened)


def test_open_without_an_argument_opens_the_note_that_was_shown_since_the_answer(harness: CommandHarness) -> None:
    answered(harness)
    harness.typed("/show Long")
    assert harness.typed("/open") == "Opened Long.md."
    answered(harness)
    assert harness.typed("/open") == "Opened Body/Sleep.md."
