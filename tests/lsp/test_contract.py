"""`zkchat lsp` as an editor meets it: pygls' own client over pipes, and a copy of the garden."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.support.lsp_client import Editor, edited, offset_of, started_editor
from tests.support.world import GARDEN, World

pytestmark = pytest.mark.outside
EVERGREEN = "Ideas/Evergreen notes.md"
NAMING = "Ideas/Naming things.md"
DRAFT = "Drafts/Entwürfe 草稿.md"
"""Which is not on disk."""


def garden_at(root: Path) -> World:
    world = World(root)
    shutil.copytree(GARDEN, world.vault, dirs_exist_ok=True)
    return world


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """At a path with spaces and letters of all kinds."""
    with started_editor(garden_at(tmp_path_factory.mktemp("mein 庭 & 100%25 #1"))) as started:
        yield started


@pytest.fixture
def editor(shared: Editor) -> Iterator[Editor]:
    """With nothing open."""
    yield shared
    for uri in [*shared.texts]:
        identifier = types.TextDocumentIdentifier(uri)
        shared.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))
    shared.texts.clear()
    shared.versions.clear()
    shared.published.clear()


def hover(editor: Editor, path: str, at: str) -> str | None:
    found = editor.run(editor.client.text_document_hover_async(types.HoverParams(**editor.at(path, at))))
    return found.contents.value if found else None


def definition(editor: Editor, path: str, at: str) -> tuple[str, int] | None:
    params = types.DefinitionParams(**editor.at(path, at))
    found = editor.run(editor.client.text_document_definition_async(params))
    return (editor.path(found.uri), found.range.start.line + 1) if found else None


def references(editor: Editor, path: str, at: str) -> list[tuple[str, str]]:
    """The path and the text of each."""
    params = types.ReferenceParams(types.ReferenceContext(include_declaration=True), **editor.at(path, at))
    found = []
    for each in editor.run(editor.client.text_document_references_async(params)) or ():
        text = editor.texts.get(each.uri) or editor.read(editor.path(each.uri))
        start, end = offset_of(text, each.range.start), offset_of(text, each.range.end)
        found.append((editor.path(each.uri), text[start:end]))
    return found


def test_initialize_says_what_can_be_done(editor: Editor) -> None:
    can = editor.answer.capabilities
    assert can.position_encoding == "utf-16"
    assert can.text_document_sync.change == types.TextDocumentSyncKind.Full
    assert [*can.completion_provider.trigger_characters] == ["[", "#", "^"]
    assert can.rename_provider.prepare_provider
    assert can.workspace.file_operations.will_rename
    assert editor.wait_for(lambda: editor.registered) == ["workspace/didChangeWatchedFiles"]


@pytest.mark.parametrize(
    ("typed", "label", "line"),
    [
        ("[[evergr", "Evergreen notes", "[[Evergreen notes]]"),
        ("[[Evergreens", "Evergreens → Evergreen notes", "[[Evergreen notes|Evergreens]]"),
        ("[[schlaf gedach", "Schlaf und Gedächtnis", "[[Schlaf und Gedächtnis]]"),
        ("[[卡片", "卡片盒笔记法", "[[卡片盒笔记法]]"),
        ("[[Naming things#prom", "Names are promises", "[[Naming things#Names are promises]]"),
        ("[[Evergreen notes#^def", "^definition", "[[Evergreen notes#^definition]]"),
        ("[[#Zwei", "Zwei 🌱", "[[#Zwei 🌱]]"),
        ("[[#^", "^hier", "[[#^hier]]"),
        ("#notes/wr", "#notes/writing", "#notes/writing"),
    ],
)
def test_links_places_and_tags_are_completed(editor: Editor, typed: str, label: str, line: str) -> None:
    """Behind letters that editors count as one unit, or as two."""
    editor.open(DRAFT, f"# Eins\n\n## Zwei 🌱\n\nText ^hier\n\n草🌱é {typed}")
    assert editor.complete(DRAFT, typed)[label] == f"草🌱é {line}"


def test_completions_are_in_the_order_of_the_note(editor: Editor) -> None:
    headings = [f"Teil {number}" for number in range(1, 13)]
    editor.open(DRAFT, "".join(f"# {each}\n" for each in headings) + "[[#Teil")
    assert [*editor.complete(DRAFT, "[[#Teil")] == headings
    params = types.CompletionParams(**editor.at(DRAFT, "[[#Teil"))
    assert editor.run(editor.client.text_document_completion_async(params)).is_incomplete  # the next key asks again


def test_brackets_that_are_there_are_not_written_again(editor: Editor) -> None:
    editor.open(DRAFT, "See [[evergr]] there.")
    assert editor.complete(DRAFT, "[[evergr")["Evergreen notes"] == "See [[Evergreen notes]] there."
    assert editor.complete(DRAFT, "See ") == {}


def test_hovering_shows_the_passage_that_a_link_leads_to(editor: Editor) -> None:
    editor.open(EVERGREEN)
    assert hover(editor, EVERGREEN, "[[Naming thi") == (
        "**Ideas/Naming things.md**\n\n## Names are promises\n\nA name promises what the reader will find behind it. "
        "When the content drifts and the name stays, every link to it becomes a small lie. Rename early: a wrong name "
        "costs more each week, because other notes begin to lean on it. ^promise"
    )
    shown = hover(editor, EVERGREEN, "[[Atomic")
    assert shown
    assert shown.startswith("**Ideas/Atomic notes.md**\n\n# Atomic notes\n")
    assert hover(editor, EVERGREEN, "Evergreen notes are") is None


def test_hovering_shows_blocks_the_beginning_of_long_notes_files_and_what_leads_nowhere(editor: Editor) -> None:
    text = "![[greenhouse-sketch.svg]] [[Evergreen notes#^titles-claim]] [[Evergren notes]] [it](https://a.example)\n"
    editor.open(DRAFT, f"{text}[[#Lang]] [[#Breit]]\n\n# Lang\n" + "Zeile\n" * 60 + f"# Breit\n{'x' * 3_000}\n")
    assert hover(editor, DRAFT, "sketch") == "**Attachments/greenhouse-sketch.svg**\n\n"
    block = hover(editor, DRAFT, "#^titles") or ""
    assert block.startswith(f"**{EVERGREEN}**\n\nThe title of an evergreen note should be a statement")
    assert block.endswith("^titles-claim")
    assert hover(editor, DRAFT, "[[Evergren ") == "Leads nowhere. Closest: Evergreen notes, Evergreen note, Evergreens"
    assert hover(editor, DRAFT, "(https") is None
    long = hover(editor, DRAFT, "[[#La") or ""
    assert long.count("Zeile") == 39
    assert long.endswith("\n\n…")
    wide = hover(editor, DRAFT, "[[#Br") or ""
    assert wide.endswith(f"\n# Breit\n{'x' * (3_000 - len('# Breit '))}\n\n…")


def test_a_link_is_followed_to_its_heading_its_block_or_its_note(editor: Editor) -> None:
    editor.open(DRAFT, "[[Naming things#Names are promises]] 🌱 [[Evergreen notes#^definition]][[Walden]] [[Nowhere]]")
    assert definition(editor, DRAFT, "[[Nam") == (NAMING, 10)
    assert definition(editor, DRAFT, "🌱 [[Ever") == (EVERGREEN, 13)
    assert definition(editor, DRAFT, "ition]]") == definition(editor, DRAFT, "[[Walden]]") == ("Reference/Walden.md", 1)
    assert definition(editor, DRAFT, "[[Now") is None


def test_places_are_those_of_the_text_that_is_open(editor: Editor) -> None:
    text = editor.open(NAMING)
    editor.open(DRAFT, "[[Naming things#Neu]]")
    editor.type(NAMING, f"---\nnew: 1\n---\n\n## Neu\n\nNoch nicht gesichert 🌱.\n\n# Alt\n{text}")
    assert definition(editor, DRAFT, "#Neu") == (NAMING, 5)
    assert hover(editor, DRAFT, "#Neu") == f"**{NAMING}**\n\n## Neu\n\nNoch nicht gesichert 🌱."
    assert editor.complete(DRAFT, "#Neu") == {"Neu": "[[Naming things#Neu]]"}
    assert editor.diagnostics(DRAFT) == []


def test_references_are_the_links_to_the_note_of_a_link_or_to_the_file(editor: Editor) -> None:
    backlinks = editor.world.run("show", EVERGREEN, "--links", "--json").json["backlinks"]
    expected = [(each["source"], each["text"]) for each in backlinks]
    editor.open(EVERGREEN)
    assert references(editor, EVERGREEN, "# Ever") == expected
    editor.open("Ideas/Zettelkasten.md")
    assert references(editor, "Ideas/Zettelkasten.md", "[[Evergreen no") == expected


def test_references_know_what_is_typed_and_not_saved(editor: Editor) -> None:
    about = "About this vault.md"
    before = len(references(editor, EVERGREEN, "# Ever"))
    editor.open(about)
    editor.type(about, "Nothing here.")
    assert about not in [path for path, _ in references(editor, EVERGREEN, "# Ever")]
    editor.type(about, "草🌱 [[Evergreens]] and [[Evergreen notes#Titles|them]]")
    found = references(editor, EVERGREEN, "# Ever")
    assert [text for path, text in found if path == about] == ["[[Evergreens]]", "[[Evergreen notes#Titles|them]]"]
    assert len(found) == before + 1


def test_broken_links_are_diagnostics(editor: Editor) -> None:
    text = "🌱 [[Evergren notes]] ok [[Atomic notes#Nope]] ok [[Walden#^none]] [[{{title}}]] ![[none.png]] [[Walden]]"
    editor.open(DRAFT, text)
    found = editor.diagnostics(DRAFT)
    lines = [text[offset_of(text, each.range.start) : offset_of(text, each.range.end)] for each in found]
    assert [(each.code, line, each.message) for each, line in zip(found, lines, strict=True)] == [
        ("broken-link", "[[Evergren notes]]", "No note is called Evergren notes."),
        ("broken-place", "[[Atomic notes#Nope]]", "Ideas/Atomic notes.md has no heading “Nope”."),
        ("broken-place", "[[Walden#^none]]", "Reference/Walden.md has no block ^none."),
        ("broken-link", "![[none.png]]", "No file is called none.png."),
    ]
    assert {each.severity for each in found} == {types.DiagnosticSeverity.Warning}
    editor.type(DRAFT, "[[Walden]]")
    assert editor.diagnostics(DRAFT) == []


def test_a_closed_document_has_no_diagnostics(editor: Editor) -> None:
    editor.open(DRAFT, "[[Evergren notes]]")
    assert editor.diagnostics(DRAFT)
    editor.published.clear()
    editor.close(DRAFT)
    assert editor.wait_for(lambda: editor.published)[-1].diagnostics == ()


@pytest.mark.parametrize("how", ["saved", "watched"])
def test_diagnostics_follow_what_changes_on_disk(world: World, how: str) -> None:
    world.note("A.md", "[[B]] [[C]]")
    world.note("one/C.md", "")
    world.note("two/C.md", "")
    with started_editor(world) as editor:
        editor.open("A.md")
        found = editor.diagnostics("A.md")
        assert [(each.code, each.severity) for each in found] == [
            ("broken-link", types.DiagnosticSeverity.Warning),
            ("ambiguous-link", types.DiagnosticSeverity.Information),
        ]
        assert found[1].message == "Leads to one/C.md, but two/C.md could be meant."
        if how == "saved":
            editor.open("B.md", "# B\n")
            editor.save("B.md")
        else:
            world.note("B.md", "# B\n")
            event = types.FileEvent(editor.uri("B.md"), types.FileChangeType.Created)
            editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        assert [each.code for each in editor.diagnostics("A.md", 1)] == ["ambiguous-link"]


def test_fixes_are_those_of_check(tmp_path: Path) -> None:
    world = garden_at(tmp_path)
    world.note(
        "Plan.md", "🌱 [[Old/Walden]] and [[Evergren notes]], [[Old/Walden]], [[Naming things#Names are promise]]"
    )
    proposed = world.run("check", "--fix", "--dry-run", "--json").json["proposed"]
    with started_editor(world) as editor:
        editor.open("Plan.md")
        editor.diagnostics("Plan.md")
        for each in proposed:
            (repair,) = each["repairs"]
            action = editor.actions("Plan.md", each["text"])[f"Change to {repair['link']}: {repair['reason']}"]
            assert action.kind == types.CodeActionKind.QuickFix
            assert bool(action.is_preferred) == repair["certain"]
            ((edit,), before) = action.edit.document_changes, editor.texts[editor.uri("Plan.md")]
            assert edited(before, edit.edits) == before.replace(each["text"], repair["link"])
        assert len(proposed) == 3
        assert editor.actions("Plan.md", "🌱") == {}


def test_a_missing_note_can_be_created(editor: Editor) -> None:
    editor.open(DRAFT, "[[Ideas/Neu]] [[Walden#Nope]] ![[none.png]]")
    (create,) = editor.actions(DRAFT, "[[Ideas")["Create Ideas/Neu.md"].edit.document_changes
    assert (create.kind, create.uri) == ("create", editor.uri("Ideas/Neu.md"))
    assert not any(title.startswith("Create") for title in editor.actions(DRAFT, "#Nop"))
    assert not any(title.startswith("Create") for title in editor.actions(DRAFT, "none"))


def test_mentions_are_hints_for_those_who_want_them(world: World) -> None:
    world.note("Evergreen notes.md", "# Evergreen notes\n")
    text = "🌱 On Evergreen notes, and again: Evergreen notes."
    world.note("Plan.md", text)
    with started_editor(world, options={"mentions": True}) as editor:
        editor.open("Plan.md")
        (hint,) = editor.diagnostics("Plan.md")
        assert hint.severity == types.DiagnosticSeverity.Hint
        assert hint.message == "Evergreen notes.md is mentioned without a link."
        (edit,) = editor.actions("Plan.md", "Everg")["Link to [[Evergreen notes]]"].edit.document_changes
        assert edited(text, edit.edits) == "🌱 On [[Evergreen notes]], and again: Evergreen notes."
    with started_editor(world) as editor:
        editor.open("Plan.md")
        assert editor.diagnostics("Plan.md") == []
        assert editor.actions("Plan.md", "Everg") == {}


def test_headings_are_the_symbols_of_a_document(editor: Editor) -> None:
    editor.open(DRAFT, "# Eins 🌱\n\n### Tief\n\n## Zwei\nText\n\n# Drei\n")
    params = types.DocumentSymbolParams(types.TextDocumentIdentifier(editor.uri(DRAFT)))
    first, last = editor.run(editor.client.text_document_document_symbol_async(params))
    assert (first.name, last.name) == ("Eins 🌱", "Drei")
    assert [each.name for each in first.children] == ["Tief", "Zwei"]
    assert (first.range.start.line, first.range.end.line, first.selection_range.end.character) == (0, 6, 9)
    assert (first.children[0].range.end.line, first.children[1].range.end.line) == (3, 6)


def test_notes_and_headings_are_the_symbols_of_the_vault(editor: Editor) -> None:
    found = editor.run(editor.client.workspace_symbol_async(types.WorkspaceSymbolParams("Names")))
    assert ("Names are promises", NAMING, 9) in [
        (each.name, each.container_name, each.location.range.start.line) for each in found
    ]
    found = editor.run(editor.client.workspace_symbol_async(types.WorkspaceSymbolParams("卡片")))
    assert (found[0].name, found[0].kind) == ("卡片盒笔记法", types.SymbolKind.File)


def test_headings_of_fifty_notes_are_symbols(world: World) -> None:
    for number in range(51):
        world.note(f"{number}.md", f"# Note {number}\n\n## Ziel\n")
    with started_editor(world) as editor:
        found = editor.run(editor.client.workspace_symbol_async(types.WorkspaceSymbolParams("Ziel")))
    assert [each.name for each in found] == ["Ziel"] * 50


def test_links_of_a_document_lead_to_files(editor: Editor) -> None:
    editor.open(
        DRAFT, "🌱 [[Naming things#Names are promises]] [[Nowhere]] [w](../Reference/Walden.md) [x](https://a.example)"
    )
    params = types.DocumentLinkParams(types.TextDocumentIdentifier(editor.uri(DRAFT)))
    found = editor.run(editor.client.text_document_document_link_async(params))
    assert [(each.target, each.range.start.character) for each in found] == [
        (editor.uri(NAMING) + "#L10", 3),
        (editor.uri("Reference/Walden.md"), 52),
    ]


def test_a_rename_begins_with_the_name_of_the_note(editor: Editor) -> None:
    text = editor.open(EVERGREEN)
    link = "[[Fleeting notes|fleeting note]]"

    def prepared(at: str) -> Any:
        params = types.PrepareRenameParams(**editor.at(EVERGREEN, at))
        return editor.run(editor.client.text_document_prepare_rename_async(params))

    assert prepared("# Ev").placeholder == "Evergreen notes"
    found = prepared("[[Fleet")
    assert found.placeholder == "Fleeting notes"
    assert text[offset_of(text, found.range.start) : offset_of(text, found.range.end)] == link
    editor.type(EVERGREEN, "[[Nowhere]]")
    assert prepared("[[Now") is None
    assert editor.rename(EVERGREEN, "[[Now", "X") is None


def test_a_rename_that_cannot_be_is_refused_with_a_sentence(editor: Editor) -> None:
    editor.open(EVERGREEN)
    for new, said in (("Atomic notes", "already exists"), ("../out", "out of the vault"), ("", "A name is needed.")):
        with pytest.raises(JsonRpcException, match=said) as refused:
            editor.rename(EVERGREEN, "# Ev", new)
        assert refused.value.code == -32803


def test_files_outside_the_vault_have_empty_answers(editor: Editor) -> None:
    outside = editor.world.root / "Outside.md"
    outside.write_text("[[Evergreen notes]] [[Nowhere]]\n# One\n")
    place: dict[str, Any] = {
        "text_document": types.TextDocumentIdentifier(outside.as_uri()),
        "position": types.Position(0, 5),
    }
    for uri in (outside.as_uri(), "untitled:Untitled-1", "file://[broken", "file:///%00.md"):
        item = types.TextDocumentItem(uri, "markdown", 1, "[[Nowhere]]")
        editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        place["text_document"] = types.TextDocumentIdentifier(uri)
        ask = editor.client
        context = types.ReferenceContext(include_declaration=False)
        everywhere = types.Range(types.Position(0, 0), types.Position(0, 9))
        actions = types.CodeActionParams(place["text_document"], everywhere, types.CodeActionContext([]))
        assert not editor.run(ask.text_document_hover_async(types.HoverParams(**place)))
        assert not editor.run(ask.text_document_completion_async(types.CompletionParams(**place)))
        assert not editor.run(ask.text_document_definition_async(types.DefinitionParams(**place)))
        assert not editor.run(ask.text_document_references_async(types.ReferenceParams(context, **place)))
        assert not editor.run(ask.text_document_rename_async(types.RenameParams(**place, new_name="X")))
        assert not editor.run(ask.text_document_prepare_rename_async(types.PrepareRenameParams(**place)))
        assert not editor.run(ask.text_document_code_action_async(actions))
        document = place["text_document"]
        assert not editor.run(ask.text_document_document_symbol_async(types.DocumentSymbolParams(document)))
        assert not editor.run(ask.text_document_document_link_async(types.DocumentLinkParams(document)))
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(document))
    assert not any(each.diagnostics for each in editor.published)


def test_positions_are_counted_as_the_editor_wants(world: World) -> None:
    world.note("A.md", "草🌱 [[B]]")
    for encoding, start in (("utf-8", 8), ("utf-32", 3), ("utf-16", 4)):
        with started_editor(world, encodings=[encoding, "utf-16"]) as editor:
            editor.open("A.md")
            (found,) = editor.diagnostics("A.md")
            assert (found.range.start.character, found.range.end.character) == (start, start + 5)


def test_a_folder_that_is_a_way_to_the_vault_is_kept_in_addresses(world: World) -> None:
    world.note("A.md", "[[B]]")
    world.note("B.md", "[[A]]")
    (world.root / "way").symlink_to(world.vault)
    with started_editor(world, "--vault", str(world.vault), root=world.root / "way") as editor:
        editor.open("A.md")
        assert editor.diagnostics("A.md") == []
        assert definition(editor, "A.md", "[[B") == ("B.md", 1)


def test_without_a_vault_the_editor_is_told_and_answers_are_empty(world: World) -> None:
    elsewhere = world.root / "code"
    elsewhere.mkdir()
    (elsewhere / "README.md").write_text("[[A]]")
    with started_editor(world, root=elsewhere) as editor:
        assert "code is not a vault yet." in editor.wait_for(lambda: editor.messages)[0]
        editor.open("README.md")
        assert hover(editor, "README.md", "[[A") is None
        assert editor.run(editor.client.workspace_symbol_async(types.WorkspaceSymbolParams("A"))) == []


def test_an_editor_that_cannot_create_files_gets_the_other_fixes(world: World) -> None:
    world.note("Evergreen notes.md", "# Evergreen notes\n")
    world.note("Plan.md", "[[Evergren notes]] [[Neu]]")
    with started_editor(world, operations=()) as editor:
        editor.open("Plan.md")
        editor.diagnostics("Plan.md")
        assert any(title.startswith("Change to") for title in editor.actions("Plan.md", "[[Everg"))
        assert not any(title.startswith("Create") for title in editor.actions("Plan.md", "[[Neu"))
