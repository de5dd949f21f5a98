import json
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import assert_never

import pytest

from zkchat.core.note import Ambiguous, External, Link, Missing, Note, Resolution, Resolved
from zkchat.notes.link_catalog import Anchors, Catalog, CatalogEntry, scan
from zkchat.notes.link_resolver import resolve
from zkchat.notes.parse import parse_note

FIXTURE = Path(__file__).parents[4] / "vault-fixtures" / "links"


def catalog_of(notes: Iterable[Note], attachments: Iterable[str] = ()) -> Catalog:
    by_path = {note.path: note for note in notes}
    entries = [CatalogEntry(note.path, note.title, note.aliases) for note in by_path.values()]
    return Catalog(
        [*entries, *map(CatalogEntry, attachments)],
        lambda path: Anchors(by_path[path].headings, by_path[path].blocks) if path in by_path else Anchors(),
    )


def files(*paths: str) -> Catalog:
    return Catalog(map(CatalogEntry, paths), lambda path: Anchors())


def entry(path: str, title: str = "", *aliases: str) -> CatalogEntry:
    return CatalogEntry(path, title, aliases)


def entries(*given: CatalogEntry) -> Catalog:
    return Catalog(given, lambda path: Anchors())


def look_up(catalog: Catalog, text: str, source: str | None = None) -> Resolution:
    (link,) = scan(text)
    return resolve(catalog, link, source)


def path_of(catalog: Catalog, text: str, source: str | None = None) -> str | None:
    match look_up(catalog, text, source):
        case Resolved(path=path) | Ambiguous(path=path):
            return path
        case _:
            return None


THREE = ("N.md", "a/N.md", "b/N.md")


@pytest.mark.parametrize(
    ("paths", "text", "source", "path"),
    [
        # Relative and rooted targets are exact paths in the vault.
        (THREE, "[[./N]]", None, "N.md"),
        (THREE, "[[../../N]]", "a/S.md", None),
        (THREE, "[[/etc/N]]", "a/S.md", None),
        # Endings other than .md must be written.
        (["p.png", "p.png.md"], "[[p.png]]", None, "p.png"),
        (["N.md", "N.md.md"], "[[N.md]]", None, "N.md"),
        (["folder/N.md"], "[[folder]]", None, None),
        # Folders must end the path by whole names.
        (["a/b/Note.md"], "[[B/NOTE]]", None, "a/b/Note.md"),
        (["a/b/Note.md"], "[[x/a/b/Note]]", None, None),
        (["a/b/Note.md"], "[[/Note]]", None, None),
    ],
)
def test_a_target_means_a_path_by_its_folders_and_its_ending(
    paths: Iterable[str], text: str, source: str | None, path: str | None
) -> None:
    assert path_of(files(*paths), text, source) == path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Note.MD", "[[note]]"),
        ("My note.md", "[[my\u00a0note]]"),
        (unicodedata.normalize("NFD", "Élan.md"), "[[élan]]"),
        ("Élan.md", f"[[{unicodedata.normalize('NFD', 'élan')}]]"),
        ("Straße.md", "[[STRASSE]]"),
    ],
)
def test_case_normal_form_ending_and_kind_of_space_do_not_matter(name: str, text: str) -> None:
    assert look_up(files(f"a/{name}"), text) == Resolved(path=f"a/{name}", via="name")


@pytest.mark.parametrize(
    ("paths", "text", "source", "path", "others"),
    [
        (["N.md", "a/N.md"], "[[N]]", "a/S.md", "N.md", ("a/N.md",)),
        (["x/N.md", "long/N.md"], "[[N]]", "long/S.md", "long/N.md", ("x/N.md",)),
        (["x/N.md", "long/N.md"], "[[N]]", "long/er/S.md", "x/N.md", ("long/N.md",)),
        (["ccc/N.md", "a/b/N.md", "bb/N.md"], "[[N]]", "S.md", "bb/N.md", ("a/b/N.md", "ccc/N.md")),
        (
            ["x/N.md", "N.md", "long/n.md", "long/N.md"],
            "[[N]]",
            "long/S.md",
            "N.md",
            ("long/N.md", "long/n.md", "x/N.md"),
        ),
        (["A/n.md", "a/n.md"], "[[A/n]]", "a/S.md", "A/n.md", ("a/n.md",)),
        (["A/n.md", "a/n.md", "x/a/n.md"], "[[a/N]]", "a/S.md", "a/n.md", ("A/n.md", "x/a/n.md")),
    ],
)
def test_of_several_the_exact_path_wins_then_the_own_folder_then_the_shortest_then_the_alphabet(
    paths: list[str], text: str, source: str | None, path: str, others: tuple[str, ...]
) -> None:
    answer = look_up(files(*paths), text, source)

    assert isinstance(answer, Ambiguous)
    assert (answer.path, answer.others) == (path, others)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("202401151230 Title.md", "[[202401151230]]"),
        ("20240115.md", "[[Journal 20240115.md]]"),
        ("12345678901234567 x.md", "[[zk/12345678901234567]]"),
    ],
)
def test_an_id_at_either_end_of_the_name_is_enough(path: str, text: str) -> None:
    assert look_up(files(path), text) == Resolved(path=path, via="id")


@pytest.mark.parametrize("id_", ["1234567", "123456789012345678", "x 202401151230 y", "2024011512300", "20240115"])
def test_this_is_no_id_of_one_note(id_: str) -> None:
    ids = ("1234567", "123456789012345678", "202401151230", "20240115")
    catalog = files(*(f"{each} x.md" for each in ids), "20240115 y.md", "a 20240115123 b.md")

    assert isinstance(look_up(catalog, f"[[{id_}]]"), Missing)


def test_an_alias_is_used_when_no_file_has_the_name() -> None:
    catalog = entries(entry("aa/Ada.md", "", "AC/DC", "C", "Bea"), entry("b/Bea.md", "", "C"))

    assert look_up(catalog, "[[ac/dc]]") == Resolved(path="aa/Ada.md", via="alias")
    assert look_up(catalog, "[[Bea]]") == Resolved(path="b/Bea.md", via="name")
    assert look_up(catalog, "[[C]]", "aa/S.md") == Ambiguous(path="aa/Ada.md", via="alias", others=("b/Bea.md",))


def test_a_title_is_used_when_it_is_the_only_one() -> None:
    catalog = entries(entry("a.md", "One title"), entry("b.md", "Two"), entry("c.md", "Two"))

    assert look_up(catalog, "[[one Title]]") == Resolved(path="a.md", via="title")
    assert isinstance(look_up(catalog, "[[Two]]"), Missing)


def test_a_caret_in_the_name_is_a_block_when_there_is_no_such_name() -> None:
    catalog = catalog_of([parse_note("N.md", "Text. ^id"), parse_note("a^b.md", "")])

    assert look_up(catalog, "[[N^id]]") == Resolved(path="N.md", via="name", line=1)
    assert look_up(catalog, "[[a^b]]") == Resolved(path="a^b.md", via="name")
    assert isinstance(look_up(catalog, "[[M^id]]"), Missing)
    assert isinstance(look_up(catalog, "[[^id]]"), Missing)


def test_a_missing_note_has_the_closest_names_as_suggestions() -> None:
    catalog = entries(
        entry("Evergreen notes.md", "Evergreen Notes"),
        entry("Naming things.md"),
        entry("x.md", "Entirely other"),
        entry("y.md", "", "Evergreen note taking"),
        entry("picture.png"),
    )

    assert look_up(catalog, "[[Evergren notes]]") == Missing(
        target="Evergren notes", suggestions=("Evergreen Notes", "Evergreen note taking")
    )
    assert look_up(catalog, "[[a/naming]]") == Missing(target="a/naming", suggestions=("Naming things",))
    assert look_up(catalog, "![[pictures.png]]") == Missing(target="pictures.png", suggestions=("picture.png",))
    assert look_up(catalog, "[[qqq]]") == Missing(target="qqq")
    alike = look_up(files(*(f"Note {number}.md" for number in range(2_000))), "[[Note 471x]]")
    assert isinstance(alike, Missing)
    assert alike.suggestions[0] == "Note 471"


def fixture_records() -> list[dict[str, object]]:
    paths = sorted(path.relative_to(FIXTURE).as_posix() for path in FIXTURE.rglob("*") if path.is_file())
    notes = [parse_note(path, (FIXTURE / path).read_text()) for path in paths if path.endswith(".md")]
    catalog = catalog_of(notes, [path for path in paths if not path.endswith(".md")])
    return [
        {"source": note.path, "line": link.line, "text": link.text, "target": link.target}
        | _outcome(link, resolve(catalog, link, note.path))
        | {
            name: getattr(link, name)
            for name in ("display", "size", "embed", "in_frontmatter", "in_comment")
            if getattr(link, name)
        }
        | ({"syntax": "markdown"} if link.syntax == "markdown" else {})
        for note in notes
        for link in note.links
    ]


def _outcome(link: Link, answer: Resolution) -> dict[str, object]:
    anchor: dict[str, object] = {}
    if link.anchor and isinstance(answer, Resolved | Ambiguous):
        anchor = {"anchor": link.anchor, "anchor_found": answer.anchor_found}
    match answer:
        case Resolved():
            return {"status": "resolved", "path": answer.path, "via": answer.via} | anchor
        case Ambiguous():
            found = {"status": "ambiguous", "path": answer.path, "via": answer.via}
            return found | anchor | {"candidates": list(answer.others)}
        case Missing():
            return {"status": "missing", "candidates": list(answer.suggestions)}
        case External():
            return {"status": "external"}
        case _:
            assert_never(answer)


def test_every_link_of_the_links_vault_leads_where_it_should() -> None:
    expected = json.loads((FIXTURE / "expected.json").read_text())

    assert fixture_records() == expected
    assert {record["source"] for record in expected}.isdisjoint({"Not links.md", "README.md"})


def saved(path: str, title: str = "", *aliases: str) -> CatalogEntry:
    return CatalogEntry(path, title, aliases, is_source=False)


def test_what_was_saved_is_found_by_its_own_name_and_path() -> None:
    catalog = entries(saved("Log 20260301.md", "On the log"), entry("20260301 Daily.md"), saved("a/Tea.md", "Tea"))
    assert path_of(catalog, "[[Log 20260301]]") == "Log 20260301.md"
    assert path_of(catalog, "[[20260301]]") == "20260301 Daily.md"
    assert path_of(catalog, "[[On the log]]") == "Log 20260301.md"
    assert path_of(catalog, "[[a/Tea]]") == path_of(catalog, "[[Tea]]") == "a/Tea.md"
    catalog.replace(entry("b/Tea.md"))
    assert path_of(catalog, "[[a/Tea]]") == "a/Tea.md"
    assert path_of(catalog, "[[Tea]]") == "b/Tea.md"
    catalog.replace(entry("a/Tea.md"))
    assert look_up(catalog, "[[Tea]]") == Ambiguous(path="a/Tea.md", via="name", others=("b/Tea.md",))


def test_a_folder_below_that_of_the_source_is_not_near() -> None:
    found = look_up(files("b/N.md", "a/sub/N.md"), "[[N]]", "a/S.md")
    assert isinstance(found, Ambiguous)
    assert found.path == "b/N.md"
