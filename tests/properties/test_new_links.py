"""New links and repaired ones: whatever stands around them stays, and they lead where they should."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.changeable_files import FilesInMemory
from tests.support.libraries import library_of
from zkchat.core.errors import EditRefused
from zkchat.core.note import Ambiguous, Link, Missing, Resolved
from zkchat.index.library import Library
from zkchat.index.link_guesses import BrokenLink, RepairFinder
from zkchat.notes.parse import find_links
from zkchat.writing.links.mentions import MentionLinks, stage_links
from zkchat.writing.links.moved import LinkRepairer
from zkchat.writing.staging import StagedChanges
from zkchat.writing.targets import LinkStyle

SOURCE = "deep/Source.md"
NOTES = {
    "Compost heap.md": "---\naliases: [Black gold]\n---\n## How to turn it\n\nText ^a1b2c3\n",
    "wild life/Sleep.md": "",
    "Sleep hygiene.md": "",
    "a/Twin.md": "",
    "b/Twin.md": "# Second twin\n",
    "机器学习.md": "",
    "Café.md": "",
    "C# basics.md": "",
    "deep/Worms (red).md": "",
    SOURCE: "",
}
PIECES = (
    *(
        "Compost heap",
        "compost heap",
        "black gold",
        "Sleep",
        "sleep hygiene",
        "Twin",
        "second twin",
        "我学习机器学习。",
    ),
    *("Cafe\u0301", "CAFÉ", "C# basics", "worms (red)", "`Sleep`", "```\nSleep\n```\n", "\n# Sleep\n", "[[Sleep]]"),
    *("[[Sleep", "]]", "[", "](", "|", "\n|---|---|\n", "| a | Sleep |\n", "$", "$Sleep$", "%%", "<!--", "-->", "\n"),
    *("\r\n", "\n\n", "\r\n\r\n", "    ", "\t", "> ", "- ", "#Sleep ", "https://x.org/Sleep", "**", "_", "\\", "<b>"),
    *("<div>\n", "</div>", "---\n", "\ufeff", "\u00a0", "x", " ", " ", "'", "!", "^id\n", "[r]: Sleep.md\n", "[r]"),
    *("::",),
    *("[[Old/Compost heap]]", "![[x/Compost heap#How to turn them|y]]", "[x](old/Sleep.md)", "[[Compost%20heap]]"),
    *("[x](<old/Compost heap.md> 't')", "[[Compost heaps\\|x]]", "[[Sleep.md.md]]", "[[Nothing like it]]"),
    *("[[Compost heap#how-to-turn-it]]", "[x](Compost%20heap.md#how-to-turn-it)", "[[c/Twin]]", "[[Cafe]]"),
    *("---\nup: '[[Old/Sleep]]'\n---\n", "[[Compost heap#^a1b2c4]]", "[y][r2]\n\n[r2]: old/Sleep.md\n"),
)
texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
styles = st.builds(LinkStyle, format=st.sampled_from(("shortest", "relative", "absolute")), markdown=st.booleans())


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with library_of(tmp_path_factory.mktemp("links"), NOTES) as library:
        yield library


def files_with(text: str) -> FilesInMemory:
    return FilesInMemory({**NOTES, SOURCE: text})


@given(text=texts, style=styles, every=st.booleans())
@settings(max_examples=50, deadline=None)
def test_a_linked_mention_leads_to_its_note_and_all_else_stays(
    library: Library, text: str, style: LinkStyle, every: bool
) -> None:
    files = files_with(text)
    staged = StagedChanges(files)
    groups = [*MentionLinks(library, staged.read, style).inside(SOURCE)]
    made = stage_links(staged, [(group, group.links if every else group.links[:1]) for group in groups]).links
    files.apply(staged.change_set())
    after = files.files[SOURCE].decode()
    before = after
    for link in sorted(made, key=lambda link: -link.start):
        shift = sum(len(other.link) - len(other.text) for other in made if other.start < link.start)
        start = link.start + shift
        assert before[start : start + len(link.link)] == link.link
        before = before[:start] + link.text + before[start + len(link.link) :]
    assert before == text
    links = {link.text: link for link in find_links(after).links}
    for link in made:
        meant = library.resolve(links[link.link], SOURCE)
        assert isinstance(meant, Resolved | Ambiguous)
        assert meant.path == link.target
    again = {group.first.target for group in MentionLinks(library, lambda _path: after, style).inside(SOURCE)}
    assert again.isdisjoint({link.target for link in made})


def broken_in(library: Library, text: str) -> Iterator[BrokenLink]:
    finder = RepairFinder(library)
    seen: dict[str, Link] = {link.text: link for link in find_links(text).links}
    for link in seen.values():
        found = library.resolve(link, SOURCE, suggestions=0)
        if isinstance(found, Missing):
            repairs = finder.of_target(link, SOURCE)
            yield BrokenLink(source=SOURCE, link=link, is_missing=True, lines=(1,), repairs=repairs)
        elif isinstance(found, Resolved | Ambiguous) and not found.anchor_found:
            repairs = finder.of_anchor(link, SOURCE)
            yield BrokenLink(source=SOURCE, link=link, is_missing=False, lines=(1,), repairs=repairs)


@given(text=texts, style=styles)
@settings(max_examples=50, deadline=None)
def test_a_repaired_link_leads_where_it_should_and_others_stay(library: Library, text: str, style: LinkStyle) -> None:
    files = files_with(text)
    staged = StagedChanges(files)
    repairer = LinkRepairer(library, staged, style)
    old = [link.text for link in find_links(text).links]
    repaired = {}
    for broken in broken_in(library, text):
        for repair in broken.repairs[:1]:
            try:
                repaired[broken.link.text] = (repairer.stage(broken, repair), repair)
            except EditRefused:
                continue
    files.apply(staged.change_set())
    after = files.files[SOURCE].decode()
    new = [*find_links(after).links]
    expected = [repaired[link][0].after if link in repaired else link for link in old]
    assert [link.text for link in new] == expected
    for was, link in zip(old, new, strict=True):
        if was in repaired:
            meant = library.resolve(link, SOURCE)
            assert isinstance(meant, Resolved | Ambiguous)
            assert meant.path == repaired[was][1].path
    assert outside(text) == outside(after)


def outside(text: str) -> list[str]:
    """What stands between the links of a text, but for definitions of references."""
    pieces, position = [], 0
    for link in sorted(find_links(text).links, key=lambda link: link.start):
        pieces.append(text[position : max(position, link.start)])
        position = max(position, link.end)
    return [piece.split("]: ")[0] for piece in (*pieces, text[position:])]
