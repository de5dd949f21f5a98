"""PDFs of a vault: found, cited by their pages, kept private, and harmless where they are broken."""

from pathlib import Path

import pytest

from tests.support.broken_pdfs import HOPELESS, SOUND, text_pdf
from tests.support.libraries import Located
from tests.support.world import World
from zkchat.app import library as composed
from zkchat.app.library import open_library
from zkchat.core.errors import ExitCode, NoteNotFound

pytestmark = pytest.mark.outside

ENCRYPTED = Path(__file__).parents[2] / "benchmarks" / "attachments" / "pdfs" / "encrypted.pdf"
TIDE = "How large are the tides in the harbour of Brest?"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A vault whose PDFs were read once, for all tests that change nothing."""
    world = World(tmp_path_factory.mktemp("pdfs"))
    world.note("Harbours.md", "Ships lie in the harbour. See [[tides.pdf#page=2]] and [[tides.pdf#page=9]].")
    world.note("tides.pdf", SOUND)
    world.note("Journal/diary.pdf", text_pdf("The crimson door is locked."))
    for name, data in {**HOPELESS, "encrypted": ENCRYPTED.read_bytes()}.items():
        world.note(f"broken/{name}.pdf", data)
    assert world.run("config", "set", "privacy.local_only", "Journal").code == 0
    result = world.run("index")
    assert result.code == 0
    assert f"warning: {len(HOPELESS) + 1} PDFs cannot be read, or only in part, e.g. broken/" in result.err
    return world


def test_what_is_broken_is_listed_with_its_trouble_and_not_tried_again(indexed: World) -> None:
    again = indexed.run("index", "--json")
    troubles = {each["path"]: each["text"] for each in again.json["warnings"] if each["kind"] == "extraction"}
    assert len(troubles) == len(HOPELESS) + 1
    assert troubles["broken/encrypted.pdf"] == "It is encrypted and is only found by its name."
    assert again.json["changed"] == 0


def test_a_search_tells_the_page(indexed: World) -> None:
    hit = indexed.run("search", "gauges", "--json").json[0]
    assert (hit["path"], hit["title"], hit["heading"], hit["page"]) == ("tides.pdf", "Tides", "Page 2", 2)
    assert "Tides › Page 2 (tides.pdf#page=2 · text)\n" in indexed.run("search", "gauges").out


def test_a_page_that_is_not_there_is_told_with_how_many_there_are(indexed: World) -> None:
    shown = indexed.run("show", "tides.pdf#page=9")
    assert (shown.code, shown.out) == (ExitCode.VAULT, "")
    assert "There is no page 9 in tides.pdf: it has 2 pages.\n" in shown.err
    second = indexed.run("show", "tides.pdf#page=2").out
    assert ("The second page speaks of gauges." in second, "Brest" in second) == (True, False)


def test_a_page_is_cited_and_sent_by_its_link(indexed: World) -> None:
    answered = indexed.run("ask", TIDE, "--json", "--model", "quote").json
    assert "— [[tides.pdf#page=1]]" in answered["answer"]
    (reference,) = (each for each in answered["references"] if each["relative_path"] == "tides.pdf")
    assert (reference["wikilink"], reference["anchor"], reference["cited"]) == ("[[tides.pdf#page=1]]", "page=1", True)
    model = indexed.script([{"text": "Done."}])
    asked = indexed.run("ask", "Sum up @tides.pdf", "--json", "--model", model).json
    assert [(each["relative_path"], each["included"]) for each in asked["references"]] == [("tides.pdf", True)]
    assert "The second page speaks of gauges." in indexed.run("context", "show", "--request").out


def test_a_pdf_of_a_local_folder_stays_here(indexed: World) -> None:
    with open_library(indexed.environment(), indexed.vault) as (_, library):
        here, elsewhere = library.guarded_for(Located(True)), library.guarded_for(Located(False))
        assert here.search("crimson door")[0].path == "Journal/diary.pdf"
        assert "Journal/diary.pdf" not in {passage.path for passage in elsewhere.search("crimson door")}
        assert "crimson" in here.read("Journal/diary.pdf")
        with pytest.raises(NoteNotFound):
            elsewhere.read("Journal/diary.pdf")


@pytest.fixture
def fresh(world: World) -> World:
    world.note("tides.pdf", SOUND)
    world.note("Note.md", "A note on harbours.")
    return world


def test_a_question_waits_for_no_more_than_a_while(fresh: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composed, "MAX_SECONDS_BEFORE_SEARCH", 0.0)
    for command in (("search", "harbours"), ("ask", "What of harbours?", "--model", "quote")):
        result = fresh.run(*command)
        assert result.code == 0
        assert "1 PDF is not read yet: zkchat config index reads all of them." in result.err


def test_without_the_package_one_sentence_says_how_to_get_it(fresh: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composed, "find_spec", lambda _: None)
    said = "Reading PDFs needs the package pypdfium2, which is not installed."
    hint = "pip install 'zkchat[pdf]'"
    index = fresh.run("index")
    assert (index.code, index.err.count(said), index.err.count(hint)) == (0, 1, 1)
    shown = fresh.run("show", "tides.pdf")
    assert shown.code == 3
    assert said in shown.err
    assert hint in shown.err
    assert said in fresh.run("ask", "What says @tides.pdf?", "--model", "quote").err
    assert fresh.run("search", "harbours").code == 0
    (row,) = (each for each in fresh.run("doctor", "--json").json if each["subject"] == "PDFs")
    assert (row["state"], hint in row["hint"]) == ("absent", True)


def test_pdfs_are_attachments_where_the_setting_is_off(fresh: World) -> None:
    assert fresh.run("config", "set", "vault.pdf", "false").code == 0
    assert fresh.run("search", "gauges", "--json").json == []
    shown = fresh.run("show", "tides.pdf")
    assert (shown.code, "vault.pdf is off" in shown.err) == (3, True)
    assert fresh.run("index").err == ""
