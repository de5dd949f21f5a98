"""What pages list is what there is: fields, exit codes, commands, classes of privacy; and links lead somewhere."""

import re

import pytest

from tests.support.doc_examples import DOCS, FENCE, PAGES_FOR_DEVELOPERS, ROOT, pages
from tests.support.frontmatter_forms import FORMS, renewed
from zkchat.cli import memory
from zkchat.core.errors import ExitCode
from zkchat.core.profile import Agent, DocumentUse, Fact, ProfileProblem, Rule, UsedNote
from zkchat.notes.privacy import privacy_of_text

LINK = re.compile(r"(?<!`)\[[^\]]*\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
CLASSES = re.findall(
    r"^\| (?:`([^`]+)`)? ?\| `([^`]+\.md)` \| (?:`([^`]+)`)? ?\| `(\w+)` \|$",
    (DOCS / "privacy.md").read_text(),
    re.MULTILINE,
)


@pytest.mark.parametrize(
    ("page", "value"),
    [
        *(("agents.md", value) for value in (Agent, Rule, ProfileProblem)),
        *(("memory.md", value) for value in (Fact, DocumentUse, UsedNote)),
    ],
)
def test_every_field_stands_on_its_page(page: str, value: type[Agent]) -> None:
    text = (DOCS / page).read_text()
    printed = [name for name in value.__struct_fields__ if name not in getattr(value, "unwritten", ())]
    assert [name for name in printed if f"`{name}`" not in text] == []


def test_every_command_of_the_memory_stands_in_the_table() -> None:
    listed = set(re.findall(r"^\| `zkchat memory (\w+)", (DOCS / "memory.md").read_text(), re.MULTILINE))
    known = {
        command.name or command.callback.__name__ for command in memory.app.registered_commands if command.callback
    }
    assert listed == known


def test_every_exit_code_is_listed() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \|", (DOCS / "exit-codes.md").read_text(), re.MULTILINE)
    assert [(int(code), name) for code, name in rows] == [(code.value, code.name) for code in ExitCode]


def test_there_is_a_table_of_classes() -> None:
    assert len(CLASSES) == 11


@pytest.mark.parametrize(("frontmatter", "path", "folder", "expected"), CLASSES)
def test_a_note_has_the_class_that_the_page_says(frontmatter: str, path: str, folder: str, expected: str) -> None:
    assert privacy_of_text(f"---\n{frontmatter}\n---\n", path, [folder] if folder else []) == expected


def test_the_page_of_forms_is_up_to_date() -> None:
    page = (DOCS / "privacy-forms.md").read_text("utf-8")
    assert page == renewed(page), "run: python -m tests.support.frontmatter_forms docs/privacy-forms.md"
    assert page.count("\n| ") - page.count("| form |") == len(FORMS)


def anchors_of(text: str) -> set[str]:
    """The names that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*pages(), *PAGES_FOR_DEVELOPERS])
def test_the_links_of_a_page_lead_somewhere(page: str) -> None:
    file = ROOT / page
    links = LINK.findall(FENCE.sub("", file.read_text("utf-8")))
    assert page != "README.md" or len(links) > 10
    for target, anchor in links:
        found = file.parent / target if target else file
        assert found.exists(), target
        assert not anchor or anchor in anchors_of(found.read_text("utf-8")), f"{target}#{anchor}"
