import random
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.core.note import Ambiguous, Missing, Resolved
from zkchat.notes.link_catalog import Anchors, Catalog, CatalogEntry, heading_key, name_key, scan
from zkchat.notes.link_resolver import resolve

SETTINGS = settings(max_examples=150, deadline=None)

letters = st.characters(categories=("L", "N"))
words = st.text(letters, min_size=1, max_size=8)
sentences = st.lists(words, min_size=1, max_size=8).map(lambda parts: " ".join(parts) + ".")
prose = st.lists(sentences, max_size=5).map(" ".join)
names = st.text(
    st.characters(categories=("L", "N", "P", "S"), exclude_characters="[]|#^\\/`<>:"), min_size=1, max_size=20
)
file_names = st.sampled_from(["Note", "note", "NOTE", "Other", "é", "e\u0301", "202401151230 x", "x.png", "v1.2"])
folders = st.sampled_from(["", "a/", "b/", "a/b/", "b/a/", "A/"])
targets = st.sampled_from(
    [
        "Note",
        "a/Note",
        "b/Note",
        "./Note",
        "../Note",
        "/Note",
        "É",
        "x.png",
        "v1.2",
        "202401151230",
        "Alias",
        "Title",
        "Nope",
    ]
)
entries = st.lists(
    st.builds(
        lambda folder, name, title, aliases: CatalogEntry(folder + name + ".md", title, aliases),
        folders,
        file_names,
        st.sampled_from(["", "Title", "Other title"]),
        st.sampled_from([(), ("Alias",), ("Alias", "Other alias")]),
    ),
    max_size=12,
    unique_by=lambda entry: entry.path,
)


@SETTINGS
@given(
    st.lists(st.tuples(prose, names), min_size=1, max_size=6),
    st.sampled_from([" ", "\n", "\n\n", "\r\n", "\n- ", "\n> "]),
)
def test_of_many_links_each_is_found_once_and_in_order(pieces: list[tuple[str, str]], separator: str) -> None:
    text = separator.join(f"{before} [[{name}]]" for before, name in pieces)

    links = scan(text)

    assert [link.target for link in links] == [name for _, name in pieces]
    assert all(text[link.start : link.end] == link.text for link in links)


@SETTINGS
@given(entries, targets, st.sampled_from([None, "S.md", "a/S.md", "a/b/S.md"]), st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(
    given_entries: list[CatalogEntry], target: str, source: str | None, chance: random.Random
) -> None:
    shuffled = list(given_entries)
    chance.shuffle(shuffled)
    (link,) = scan(f"[[{target}]]")

    first = resolve(Catalog(given_entries, lambda path: Anchors()), link, source)
    assert first == resolve(Catalog(shuffled, lambda path: Anchors()), link, source)


@SETTINGS
@given(entries, entries, targets)
def test_a_changed_catalog_answers_like_a_new_one(
    before: list[CatalogEntry], after: list[CatalogEntry], target: str
) -> None:
    (link,) = scan(f"[[{target}]]")
    changed = Catalog(before, lambda path: Anchors())
    resolve(changed, link, None)
    for entry in before:
        changed.remove(entry.path)
    for entry in after:
        changed.replace(entry)

    assert resolve(changed, link, None) == resolve(Catalog(after, lambda path: Anchors()), link, None)


@SETTINGS
@given(entries)
def test_every_note_is_found_by_its_whole_path(given_entries: list[CatalogEntry]) -> None:
    catalog = Catalog(given_entries, lambda path: Anchors())
    for entry in given_entries:
        (link,) = scan(f"[[/{entry.path}]]")
        answer = resolve(catalog, link, "elsewhere/S.md")
        assert isinstance(answer, Resolved | Ambiguous)
        assert answer.path == entry.path


@SETTINGS
@given(entries, targets)
def test_every_suggestion_leads_somewhere_unless_two_notes_share_the_title(
    given_entries: list[CatalogEntry], target: str
) -> None:
    catalog = Catalog(given_entries, lambda path: Anchors())
    (link,) = scan(f"[[{target}]]")
    answer = resolve(catalog, link, None)
    titles = [name_key(entry.title) for entry in given_entries]
    for suggestion in answer.suggestions if isinstance(answer, Missing) else ():
        (suggested,) = scan(f"[[{suggestion}]]")
        found = resolve(catalog, suggested, None)
        assert not isinstance(found, Missing) or titles.count(name_key(suggestion)) > 1


@SETTINGS
@given(st.text(max_size=40))
def test_keys_ignore_case_and_normal_form(text: str) -> None:
    for form in ("NFC", "NFD"):
        assert name_key(unicodedata.normalize(form, text)) == name_key(text)
        assert heading_key(unicodedata.normalize(form, text)) == heading_key(text)
    assert name_key(name_key(text)) == name_key(text)
    assert heading_key(f" {text}!\t") == heading_key(text)


@SETTINGS
@given(entries, entries, targets)
def test_what_is_saved_of_conversations_changes_no_link_that_names_a_note(
    notes: list[CatalogEntry], answers: list[CatalogEntry], target: str
) -> None:
    taken = {entry.path for entry in notes}
    saved = [entry._replace(is_source=False) for entry in answers if entry.path not in taken]
    link = scan(f"[[{target}]]")[0]
    before = resolve(Catalog(notes, lambda _: Anchors()), link, None)
    after = resolve(Catalog([*saved, *notes], lambda _: Anchors()), link, None)
    if "/" not in target and isinstance(before, Resolved | Ambiguous) and before.via != "id":
        assert after == before
