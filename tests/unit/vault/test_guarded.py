"""The library as a model gets it."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import fields

from tests.support.extracted import PagesByPath
from tests.support.libraries import Located
from zkchat.core.errors import NoteNotFound
from zkchat.core.index import NoteFilter, NotesOfDays
from zkchat.core.note import Ambiguous, ExtractedText, Link, Missing, Resolved
from zkchat.index.guarded import VaultPorts
from zkchat.index.library import GuardedLibrary, Library, LibraryOptions
from zkchat.index.note_index import SqliteNoteIndex
from zkchat.index.search.terms import query_terms
from zkchat.storage.vault_files import VaultFiles

NOTES = {
    "Secret.md": "---\nzkchat: local\naliases: [Hush]\ntags: [whisper]\n---\n"
    "# Secret\n\n## Door\n\nApples are crimson. [[Open]]\n",
    "Never.md": "---\nzkchat: never\ntitle: Unsaid\ntags: [whisper]\n---\n# Unsaid\n\nApples are blue. [[Open]]\n",
    "Open.md": "# Open\n\nApples are green. [[Secret]] and [[Never]] and [[Plan]]\n",
    "Journal/Plan.md": "# Plan\n\n## Later\n\nApples in the journal.\n\n- [ ] Mend the Door\n",
    "Work/Plan.md": "# Plan\n\n## Soon\n\nPears at work.\n",
    "Not.md": "---\nzkchat: never\ntitle: Unsaid\ntags: [whisper]\n---\n# Unsaid\n\nApples are blue. [[Open]]\n",
    "Copy.md": "The same.\n",
    "Journal/Copy.md": "The same.\n",
    "Journal/photo.png": "",
    "Journal/door.pdf": "",
    "Journal/Board.canvas": '{"nodes": [{"type": "text", "text": "# Hush\\nApples are crimson at the Door."}]}',
    "Doubt.md": "[[Nowhere]]\n",
    "Journal/Doubt.md": "[[Nowhere]]\n",
}


def library_over(folder: Path, index: SqliteNoteIndex) -> Library:
    for path, text in NOTES.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    files = VaultFiles(folder, exclude=(), max_note_bytes=10_000)
    extracted = PagesByPath({"Journal/door.pdf": ExtractedText(pages=("Apples are crimson at the Door.",))})
    library = Library.over(files, index, options=LibraryOptions(local_only=["Journal"], extracted=extracted))
    library.refresh()
    return library


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """For tests that change no note."""
    folder = tmp_path_factory.mktemp("guarded")
    with closing(SqliteNoteIndex(folder / "index.db")) as index:
        (folder / "vault").mkdir()
        (folder / "vault" / "Mirror.md").symlink_to("Journal/Plan.md")
        (folder / "vault" / "Journal").mkdir()
        (folder / "vault" / "Journal" / "Odd.md").write_bytes(b"\xff\xfe\xfa odd")
        yield library_over(folder / "vault", index)


@pytest.fixture
def whole(tmp_path: Path, index: SqliteNoteIndex) -> Library:
    return library_over(tmp_path / "vault", index)


@pytest.fixture
def elsewhere(whole: Library) -> GuardedLibrary:
    return whole.guarded_for(Located(False))


@pytest.fixture
def here(whole: Library) -> GuardedLibrary:
    return whole.guarded_for(Located(True))


def link(target: str, anchor: str = "") -> Link:
    return Link(text=f"[[{target}]]", target=target, anchor=anchor)


def found(library: Library, query: str) -> set[str]:
    return {passage.path for passage in library.search(query)} | {note.path for note in library.documents(query)}


def test_of_a_note_that_is_never_read_nothing_but_the_path_is_known(whole: Library, index: SqliteNoteIndex) -> None:
    assert index.private() == {"Never.md": "never", "Not.md": "never", "Secret.md": "local"}
    known = index.known("Never.md")
    assert known
    assert (known.title, known.aliases, known.headings) == ("Never", (), ())
    assert whole.links_from("Never.md") == []
    assert "Never.md" not in found(whole, "apples blue unsaid never")
    assert found(whole, "tag:whisper") == {"Secret.md"}
    assert sorted(whole.copies()) == [["Copy.md", "Journal/Copy.md"], ["Doubt.md", "Journal/Doubt.md"]]
    assert index.look_up({"unsaid", "blue"}, None).postings == []


def test_a_model_elsewhere_finds_open_notes_only(
    elsewhere: GuardedLibrary, here: GuardedLibrary, whole: Library
) -> None:
    assert found(elsewhere, "apples") == {"Open.md"}
    shown = {"Open.md", "Secret.md", "Journal/Plan.md", "Journal/door.pdf", "Journal/Board.canvas"}
    assert found(here, "apples") == found(whole, "apples") == shown
    assert found(elsewhere, "tag:whisper") == set()
    assert found(elsewhere, "path:Journal") == set()
    assert (whole.counts().attachments, elsewhere.counts().attachments) == (3, 0)
    assert elsewhere.counts().notes == elsewhere.note_count() == len(elsewhere.notes())


def test_the_rarity_of_words_does_not_tell_of_private_notes(elsewhere: GuardedLibrary, here: GuardedLibrary) -> None:
    assert elsewhere.idf({"crimson"}) == {}
    assert here.idf({"crimson"}) != {}
    (apples,) = query_terms("apples")
    assert elsewhere.idf({apples})[apples] > here.idf({apples})[apples]


def ask_as_a_turn_does(library: GuardedLibrary) -> set[str]:
    """The paths that are told of."""
    told = {row.path for row in library.files()} | found(library, "apples")
    for path in [*told]:
        library.title(path)
        library.link_to(path)
    return told | {*library.confirmed(told)}


def test_the_index_is_read_for_what_is_private_once_and_again_when_it_has_changed(
    tmp_path: Path, index: SqliteNoteIndex, elsewhere: GuardedLibrary
) -> None:
    told = ask_as_a_turn_does(elsewhere)
    read: list[str] = []
    with index._reading() as database:
        database.set_trace_callback(read.append)
    assert ask_as_a_turn_does(elsewhere) == told
    assert [each for each in read if "privacy <> 'open'" in each] == []

    (tmp_path / "vault" / "Open.md").write_text("---\nzkchat: local\n---\nApples.\n")
    with closing(SqliteNoteIndex(tmp_path / "index.db")) as other:  # as that of another process
        files = VaultFiles(tmp_path / "vault", exclude=(), max_note_bytes=10_000)
        Library.over(files, other, options=LibraryOptions(local_only=["Journal"])).refresh()
    assert "Open.md" in elsewhere.hidden()
    assert sum("privacy <> 'open'" in each for each in read) == 1
    assert ask_as_a_turn_does(elsewhere) == told - {"Open.md"}


def test_the_model_is_asked_for_its_place_at_every_call(whole: Library) -> None:
    model = Located(True)
    library = whole.guarded_for(model)
    assert "Secret.md" in found(library, "apples")
    model.on_this_machine = False
    assert "Secret.md" not in found(library, "apples")
    with pytest.raises(NoteNotFound):
        library.read("Secret.md")


@pytest.mark.parametrize(
    "path",
    [
        *("Secret.md", "./Secret.md", "Work/../Secret.md", "Journal/Plan.md", "Work/../Journal/Plan.md", "Never.md"),
        *("Journal/door.pdf", "Journal/Board.canvas"),
    ],
)
def test_a_private_note_cannot_be_read_elsewhere(unchanged: Library, path: str) -> None:
    elsewhere = unchanged.guarded_for(Located(False))
    with pytest.raises(NoteNotFound) as caught:
        elsewhere.read(path)
    assert caught.value.message == f"There is no file {path} in the vault."
    assert "Secret" not in caught.value.hint
    for read in (elsewhere.section, elsewhere.read_raw, lambda name: elsewhere.read_data(name, 1_000)):
        with pytest.raises(NoteNotFound, match="There is no file"):
            read(path)
    assert not elsewhere.disclosed


def test_on_this_machine_only_what_is_never_read_is_not_there(here: GuardedLibrary) -> None:
    assert "crimson" in here.read("Secret.md")
    assert isinstance(here.resolve(link("Hush")), Resolved)
    with pytest.raises(NoteNotFound):
        here.read("Never.md")
    assert isinstance(here.resolve(link("Never")), Missing)


def test_a_link_to_a_private_note_leads_nowhere_elsewhere(unchanged: Library) -> None:
    elsewhere = unchanged.guarded_for(Located(False))
    for target in ("Secret", "Hush", "secret.md", "/Secret", "Journal/Plan", "photo.png"):
        assert elsewhere.resolve(link(target)) == Missing(target=target)
    assert not elsewhere.disclosed


def test_of_several_notes_the_open_ones_answer(
    whole: Library, elsewhere: GuardedLibrary, here: GuardedLibrary, tmp_path: Path
) -> None:
    assert isinstance(here.resolve(link("Plan")), Ambiguous)
    assert elsewhere.resolve(link("Plan", "Soon")) == Resolved(path="Work/Plan.md", via="name", line=3)
    assert elsewhere.resolve(link("Plan", "Later")) == Resolved(path="Work/Plan.md", via="name", anchor_found=False)
    (tmp_path / "vault" / "Home").mkdir()
    (tmp_path / "vault" / "Home" / "Plan.md").write_text("# Plan\n")
    whole.refresh()
    assert elsewhere.resolve(link("Plan")) == Ambiguous(path="Home/Plan.md", via="name", others=("Work/Plan.md",))


def test_why_a_link_is_withheld(elsewhere: GuardedLibrary, here: GuardedLibrary, whole: Library) -> None:
    assert elsewhere.withheld(link("Secret")) == "is private"
    assert elsewhere.withheld(link("Never")) == "is never to be read"
    assert here.withheld(link("Never")) == "is never to be read"
    assert here.withheld(link("Secret")) == elsewhere.withheld(link("Open")) == elsewhere.withheld(link("Xyz")) == ""
    assert whole.withheld(link("Never")) == ""


def test_a_links_other_end_is_not_told_of(elsewhere: GuardedLibrary) -> None:
    assert [stored.resolution is None for stored in elsewhere.links_from("Open.md")] == [True, True, True]
    assert elsewhere.links_to("Open.md") == elsewhere.links_to("Secret.md") == elsewhere.links_from("Secret.md") == []


def test_a_link_to_a_hidden_note_is_as_doubtful_as_one_to_no_note(
    elsewhere: GuardedLibrary, here: GuardedLibrary
) -> None:
    def doubtful(library: Library) -> list[tuple[str, str]]:
        return sorted((stored.source, stored.link.text) for stored in library.doubtful_links())

    nowhere = [("Doubt.md", "[[Nowhere]]"), ("Journal/Doubt.md", "[[Nowhere]]")]
    assert doubtful(here) == [*nowhere, ("Open.md", "[[Never]]"), ("Open.md", "[[Plan]]")]
    linked = [("Open.md", "[[Never]]"), ("Open.md", "[[Plan]]"), ("Open.md", "[[Secret]]")]
    assert doubtful(elsewhere) == [*nowhere[:1], *linked]
    assert all(stored.resolution is None for stored in elsewhere.doubtful_links() if stored.source == "Open.md")


def test_tags_are_those_of_the_notes_that_may_be_seen(
    whole: Library, elsewhere: GuardedLibrary, tmp_path: Path
) -> None:
    (tmp_path / "vault" / "Tagged.md").write_text("#Fruit and #fruit/apple")
    whole.refresh()
    assert elsewhere.tags() == {"fruit": ["Tagged.md"], "fruit/apple": ["Tagged.md"]}
    assert whole.tags() == {**elsewhere.tags(), "whisper": ["Secret.md"]}


IN_JOURNAL = ("Journal/Copy.md", "Journal/door.pdf", "Journal/Board.canvas")
SOME = ["Open.md", "Secret.md", "Never.md", "Journal/Plan.md"]
WORDS = "crimson door secret apples"
ASKED: dict[str, list[tuple[object, ...]]] = {
    **{
        name: [()]
        for name in (
            *("notes", "indexed", "is_empty", "doubtful_links", "edges", "copies", "tags", "tasks", "stamps", "dates"),
            *("files", "warnings", "counts", "note_count", "generation"),
        )
    },
    **{name: [("Secret.md",)] for name in ("title", "names", "outline", "links_from", "links_to")},
    **{name: [(WORDS,)] for name in ("search", "nearest", "documents")},
    **{name: [("crimson", ["apples"])] for name in ("similarities", "likenesses")},
    **{name: [(SOME,)] for name in ("linked_files", "confirmed", "open_among")},
    "sources_of": [({"[[Hush]]", "[[Open]]"}, ["Open.md", "Secret.md"])],
    "notes_with_keys": [(["open", "hush"],)],
    "idf": [({"door", "journal", "crimson"},)],
    "spelled": [("crimsonn",), ("whimsper",), ("jurnal",)],
    "commits": [("Secret.md", 5)],
    "dates_of_days": [(NotesOfDays(),), (NotesOfDays(most=1),)],
    "has_text": [("Secret.md",), ("Journal/Copy.md",), ("Journal/door.pdf",), ("Journal/Board.canvas",)],
    "find_folder": [("Journal/",)],
    "resolve": [(link("Hus"),)],
    "withheld": [(link("Hush"),)],
    "link_to": [("Open.md",)],
    "link_into": [("Open.md", ["Page 7"])],
}
"""Every question to a library, with arguments."""
TOLD_IN_OTHER_TESTS = {"read", "read_data", "read_raw", "section"}
NOTHING_TOLD = {
    *("refresh", "refresh_within", "refresh_in_background", "prefetch", "rebuild"),
    *("embed", "embed_by_server", "embed_in_background", "embedding_progress", "embedding_notice", "close"),
    *("whole", "guarded_for", "over", "without_templates", "history_status", "calendar"),
    *("overlaid", "is_overlaid", "on_disk"),
    *("may_hold_text", "is_indexed", "extract", "extract_in_background", "unextracted", "has_unread_pdf"),
}


def test_every_question_to_a_library_is_one_that_is_asked_here(whole: Library) -> None:
    assert {
        name for name in dir(whole) if not name.startswith("_")
    } == ASKED.keys() | TOLD_IN_OTHER_TESTS | NOTHING_TOLD


def hidden_in(told: str) -> list[str]:
    """What no model elsewhere may be told of, and is there."""
    words = ("Hush", "Door", "Journal", "whisper", "Unsaid", "crimson", "Mirror", "Secret.md")
    return [word for word in words if word in told]


@pytest.mark.parametrize("question", ASKED)
def test_no_answer_tells_of_a_private_note(unchanged: Library, question: str) -> None:
    elsewhere = unchanged.guarded_for(Located(False))
    assert hidden_in(repr([getattr(elsewhere, question)(*arguments) for arguments in ASKED[question]])) == []


PORTS: dict[str, dict[str, tuple[object, ...]]] = {
    "files": {
        "read_whole": ("Open.md",),
        "read_data": ("Open.md", 1_000),
        "identity": ("Secret.md",),
        "linked": (["Mirror.md", "Open.md", "Secret.md"],),
        "shared": ("Secret.md",),
    },
    "notes": {
        "known": ("Secret.md",),
        "date_facts": (["Secret.md", "Open.md"],),
        "facts_of_days": (NotesOfDays(),),
        **dict.fromkeys(
            ("stamps", "private", "copies", "catalog", "tags", "tasks", "warnings", "generation", "counts"), ()
        ),
    },
    "link_index": {
        "links_from": (["Secret.md", "Journal/Doubt.md"],),
        "links_to": ("Secret.md",),
        "doubtful_links": (),
        "notes_with_keys": (["open", "hush"],),
        "edges": (),
    },
    "links": {"resolve": (link("Hus"), None)},
    "text": {"sections": (range(100),), "look_up": (["crimson"], None), "section_ranges": (NoteFilter(),)},
    "search": {
        "passages": ("crimson door",),
        "documents": ("crimson door",),
        "nearest": ("crimson door",),
        "idf": (["crimson", "door"],),
        "spelled": ("crimsonn",),
    },
    "extracted": {"__call__": ("Journal/door.pdf",)},
}
"""With arguments, every question to what a library is made of."""


def test_every_question_to_a_port_is_one_that_is_asked_here(unchanged: Library) -> None:
    guarded = unchanged.guarded_for(Located(False))._ports
    ports = {
        each.name: getattr(guarded, each.name)
        for each in fields(VaultPorts)
        if each.name not in {"vectors", "calendar", "covers"}
    }
    methods = {name: {method for method in dir(port) if not method.startswith("_")} for name, port in ports.items()}
    asked = {name: known or {"__call__"} for name, known in methods.items()}
    assert asked == {name: set(methods) for name, methods in PORTS.items()}


@pytest.mark.parametrize(("port", "method"), [(port, method) for port, methods in PORTS.items() for method in methods])
def test_no_port_of_a_guarded_library_tells_of_a_private_note(unchanged: Library, port: str, method: str) -> None:
    named = {"limit": 10} if method in {"passages", "documents", "nearest"} else {}
    asked = getattr(unchanged.guarded_for(Located(False))._ports, port)
    told = repr(getattr(asked, method)(*PORTS[port][method], **named))
    assert {*hidden_in(told)} <= {"crimson"}, "which is what was asked for"


def test_of_hidden_notes_no_section_can_be_reached(elsewhere: GuardedLibrary, whole: Library) -> None:
    visible, everything = elsewhere._ports.text, whole._ports.text
    seen = {section.path for section in visible.sections(range(100))}
    hidden = {section.id for section in everything.sections(range(100)) if section.path not in seen}
    assert hidden
    reached = {
        number for first, count in visible.section_ranges(NoteFilter()) for number in range(first, first + count)
    }
    assert hidden.isdisjoint(reached)
    assert hidden <= {*visible.look_up(["crimson"], None).dead}


def test_what_cannot_be_read_stays_here_with_its_name(
    elsewhere: GuardedLibrary, tmp_path: Path, whole: Library
) -> None:
    (tmp_path / "vault" / "Large.md").write_text("---\nzkchat: local\n---\n" + "long " * 4000)
    whole.refresh()
    assert isinstance(elsewhere.resolve(link("Large")), Missing)
    assert isinstance(whole.resolve(link("Large")), Resolved)


@pytest.mark.parametrize(
    "ask",
    [
        lambda library: library.read("Secret.md"),
        lambda library: library.read("Journal/Plan.md"),
        lambda library: library.names("Secret.md"),
        lambda library: library.resolve(link("Hush")),
        lambda library: library.resolve(link("Secrt")),
        lambda library: library.resolve(link("Plan")),
    ],
)
def test_it_is_known_that_a_local_note_was_lent(unchanged: Library, ask: Callable[[Library], object]) -> None:
    here = unchanged.guarded_for(Located(True))
    here.read("Open.md")
    here.resolve(link("Open"))
    here.resolve(link("Work/Plan"))
    assert not here.disclosed
    ask(here)
    assert here.disclosed


@pytest.mark.parametrize(
    ("name", "target", "path"),
    [
        ("Mirror", "Journal", "Mirror/Plan.md"),
        ("Aside.md", "Journal/Plan.md", "Aside.md"),
        ("Work/Aside.md", "../Journal/Plan.md", "Work/Aside.md"),
    ],
)
def test_no_link_leads_into_a_local_folder_by_another_name(
    name: str, target: str, path: str, whole: Library, here: GuardedLibrary, elsewhere: GuardedLibrary, tmp_path: Path
) -> None:
    (tmp_path / "vault" / name).symlink_to(target)
    with pytest.raises(NoteNotFound):  # before the index knows of it
        elsewhere.read(path)
    whole.refresh()
    assert path in found(whole, "apples in the journal")
    assert path in found(here, "apples in the journal")
    assert path not in found(elsewhere, "apples in the journal")
    assert path in elsewhere.hidden()
    assert "journal" in here.read(path)
    assert here.disclosed


def test_no_hard_link_leads_into_a_local_folder_by_another_name(
    whole: Library, here: GuardedLibrary, elsewhere: GuardedLibrary, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    (vault / "Aside.md").hardlink_to(vault / "Journal" / "Plan.md")
    (vault / "Twin.md").hardlink_to(vault / "Open.md")
    with pytest.raises(NoteNotFound):  # before the index knows of it
        elsewhere.read("Aside.md")
    whole.refresh()
    assert "Aside.md" in found(here, "apples in the journal")
    assert "Aside.md" not in found(elsewhere, "apples in the journal")
    assert {"Aside.md", "Open.md", "Twin.md"} & elsewhere.hidden() == {"Aside.md"}
    assert elsewhere.read("Twin.md") == elsewhere.read("Open.md")
    assert here.read("Aside.md")
    assert here.disclosed


def link_into_journal(note: Path) -> None:
    note.symlink_to(note.rename(note.parent / "Journal" / note.name))


BECAME_PRIVATE: dict[str, Callable[[Path], object]] = {
    "marked local": lambda vault: (vault / "Open.md").write_text("---\nzkchat: local\n---\n" + NOTES["Open.md"]),
    "marked never": lambda vault: (vault / "Open.md").write_text("---\nzkchat: never\n---\n" + NOTES["Open.md"]),
    "marked so that it is not understood": lambda vault: (vault / "Open.md").write_text("---\nzkchat: local\n"),
    "moved into a local folder": lambda vault: (vault / "Open.md").rename(vault / "Journal" / "Open.md"),
    "linked into a local folder": lambda vault: link_into_journal(vault / "Open.md"),
    "made unreadable": lambda vault: (vault / "Open.md").write_bytes(b"\0"),
}
NAMING: dict[str, Callable[[Library], object]] = {
    "search": lambda library: [passage.path for passage in library.search("apples green")],
    "documents": lambda library: [passage.path for passage in library.documents("apples green")],
    "resolve": lambda library: library.resolve(link("Open")),
    "resolve misspelled": lambda library: library.resolve(link("Opem")),
    "link_to": lambda library: isinstance(library.resolve(link("Open")), Resolved) and library.link_to("Open.md"),
    "outline": lambda library: library.outline("Open.md"),
    "confirmed": lambda library: library.confirmed(["Open.md"]),
}


@pytest.mark.parametrize("change", BECAME_PRIVATE.values(), ids=BECAME_PRIVATE.keys())
def test_a_note_that_became_private_after_it_was_indexed_is_not_there(
    tmp_path: Path, whole: Library, change: Callable[[Path], object]
) -> None:
    asked = [(whole.guarded_for(Located(False)), ask) for ask in NAMING.values()]
    assert all("Open" in str(ask(elsewhere)) for elsewhere, ask in asked)
    change(tmp_path / "vault")
    for elsewhere, ask in asked:
        assert "Open" not in str(ask(elsewhere)).replace("target='Open'", "").replace("target='Opem'", "")
        for read in (elsewhere.section, elsewhere.read_raw, lambda path, it=elsewhere: it.read_data(path, 1_000)):
            with pytest.raises(NoteNotFound):
                read("Open.md")


def test_a_note_that_became_local_is_lent_to_a_model_on_this_machine(tmp_path: Path, here: GuardedLibrary) -> None:
    here.search("apples green")
    assert not here.disclosed
    BECAME_PRIVATE["marked local"](tmp_path / "vault")
    assert "Open.md" in here.confirmed(["Open.md"])
    assert here.disclosed
