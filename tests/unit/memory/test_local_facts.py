"""Facts that were learnt with notes which stay on this machine."""

from tests.support.memories import MemoriesInMemory
from tests.support.sessions import NOON
from zkchat.chat.context.selection import Relevance
from zkchat.chat.memory import Memory


class Place:
    """Where the model is, and whether it was given something local."""

    library = None

    def __init__(self) -> None:
        self.store = MemoriesInMemory()
        self.is_elsewhere = self.is_bound = False
        self.disclosed = 0
        self.memory = Memory(self.store, Relevance(), lambda: NOON).within(self)

    def withholds(self) -> bool:
        return self.is_elsewhere

    def keeps_local(self) -> bool:
        return self.is_bound

    def disclose(self) -> None:
        self.disclosed += 1

    def texts(self) -> list[str]:
        return [fact.text for fact, _ in self.memory.search("favourite tree of the garden")]


OAK = "My favourite tree of the garden is the oak."
ELM = "My favourite tree of the garden is the elm."


def test_what_is_learnt_with_local_notes_is_local() -> None:
    place = Place()
    assert not place.memory.remember("I live in Porto.").fact.local
    place.is_bound = True
    assert place.memory.remember(OAK).fact.local


def test_a_local_fact_is_found_on_this_machine_only_and_that_it_was_is_told() -> None:
    place = Place()
    place.store.add(OAK, "user", local=True)
    assert place.texts() == [OAK]
    assert place.disclosed == 1
    place.is_elsewhere = True
    assert place.texts() == []
    assert place.disclosed == 1


def test_an_open_fact_is_found_everywhere_and_nothing_is_disclosed() -> None:
    place = Place()
    place.store.add(OAK, "user")
    place.is_elsewhere = True
    assert place.texts() == [OAK]
    assert place.disclosed == 0


def test_a_model_elsewhere_is_not_told_that_a_fact_is_known_or_contradicted() -> None:
    place = Place()
    place.store.add(OAK, "user", local=True)
    place.is_elsewhere = True
    assert place.memory.remember(ELM).sentence == "Remembered."
    assert [fact.text for fact in place.store.facts()] == [OAK, ELM]
    assert place.memory.remember(OAK).sentence != f"Known already: {OAK}"


def test_a_model_here_is_told_of_it_and_that_it_was_is_noted() -> None:
    place = Place()
    place.store.add(OAK, "user", local=True)
    assert "oak" in place.memory.remember(ELM).sentence
    assert place.disclosed == 1
