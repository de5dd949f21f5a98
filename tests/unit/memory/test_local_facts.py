"""Facts that link notes or were learnt with notes that stay on this machine, for a model here and one elsewhere."""

from tests.support.libraries import Located
from tests.support.memories import MemoriesInMemory
from tests.support.sessions import NOON
from zkchat.chat import Memory, Relevance
from zkchat.index import GuardedLibrary, Library

OPEN, PRIVATE, SEALED = "[[Oak]] is tall.", "[[Elm]] is hollow.", "[[Ash]] is sick."
NOTES = {
    "Oak.md": "A tree.",
    "Elm.md": "---\nzkchat: local\n---\nA tree.",
    "Ash.md": "---\nzkchat: never\n---\nA tree.",
}


class Place:
    """A conversation with a model, and how often it was given something local."""

    def __init__(self, library: Library, *facts: str, is_here: bool) -> None:
        self.library: GuardedLibrary = library.guarded_for(Located(is_here))
        self.is_here = is_here
        self.is_bound = False
        self.disclosed = 0
        self.store = MemoriesInMemory(*facts)
        self.memory = Memory(self.store, Relevance(), lambda: NOON, renamed=lambda: {"Wood/Beech.md": "Oak.md"})
        self.memory = self.memory.within(self)

    def withholds(self) -> bool:
        return not self.is_here

    def keeps_local(self) -> bool:
        return self.is_bound

    def disclose(self) -> None:
        self.disclosed += 1

    def found(self, query: str) -> list[str]:
        return [fact.text for fact, _ in self.memory.search(query)]


def test_a_model_here_is_given_facts_of_private_notes_and_that_it_was_is_told(library: Library) -> None:
    place = Place(library, OPEN, PRIVATE, SEALED, is_here=True)
    assert (place.found("[[Oak]]"), place.disclosed) == ([OPEN], 0)
    assert (place.found("[[Elm]]"), place.disclosed) == ([PRIVATE], 1)
    assert place.memory.remember(PRIVATE).sentence == f"Known already: {PRIVATE}"
    assert place.disclosed == 2
    assert place.found("[[Ash]]") == []


def test_a_model_elsewhere_is_given_none_of_them_nor_told_that_one_is_known(library: Library) -> None:
    place = Place(library, OPEN, PRIVATE, SEALED, is_here=False)
    assert place.found("[[Oak]] [[Elm]] [[Ash]] hollow sick") == [OPEN]
    remembered = place.memory.remember(PRIVATE)
    assert (remembered.sentence, remembered.fact.local) == ("Remembered.", True)
    assert place.disclosed == 0


def test_a_link_with_an_earlier_name_of_a_note_leads_to_it(library: Library) -> None:
    place = Place(library, OPEN, PRIVATE, SEALED, is_here=False)
    for link in ("[[Beech]]", "[[beech#Bark|it]]", "[[Wood/Beech]]", "[it](Wood/Beech.md)"):
        assert place.found(link) == [OPEN]
    for link in ("[[eech]]", "[[Other/Beech]]", "[[#Bark]]", "https://example.org/Beech", "`[[Oak]]`"):
        assert [text for text in place.found(link) if text == OPEN] == [OPEN] * ("Oak" in link)


def test_facts_are_listed_by_the_note_that_they_link(library: Library) -> None:
    place = Place(library, OPEN, PRIVATE, SEALED, is_here=True)
    assert [fact.text for fact in place.memory.facts("Elm.md")] == [PRIVATE]
    assert len(place.memory.facts()) == 3
    assert Memory(place.store, Relevance(), lambda: NOON).facts("Elm.md") == []


OAK = "My favourite tree of the garden is the oak."
ELM = "My favourite tree of the garden is the elm."


def test_what_is_learnt_with_local_notes_is_local(library: Library) -> None:
    place = Place(library, is_here=True)
    assert not place.memory.remember("I live in Porto.").fact.local
    place.is_bound = True
    assert place.memory.remember(OAK).fact.local


def test_a_local_fact_is_found_and_contradicted_on_this_machine_only_and_that_it_was_is_told(library: Library) -> None:
    here = Place(library, is_here=True)
    here.store.add(OAK, "user", local=True)
    assert (here.found("favourite tree"), here.disclosed) == ([OAK], 1)
    assert "oak" in here.memory.remember(ELM).sentence
    assert here.disclosed == 2


def test_a_model_elsewhere_is_given_no_local_fact_nor_told_that_one_is_known_or_contradicted(library: Library) -> None:
    elsewhere = Place(library, is_here=False)
    elsewhere.store.add(OAK, "user", local=True)
    assert elsewhere.found("favourite tree") == []
    assert elsewhere.memory.remember(ELM).sentence == "Remembered."
    assert [fact.text for fact in elsewhere.store.facts()] == [OAK, ELM]
    assert elsewhere.memory.remember(OAK).sentence != f"Known already: {OAK}"
    assert elsewhere.disclosed == 0
