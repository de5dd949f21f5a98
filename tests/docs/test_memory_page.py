"""docs/memory.md shows commands and what they print, one after the other. Here they are run in that order."""

import re

from tests.support.doc_examples import DOCS, comparable, examples_of, run
from tests.support.sessions import NOON
from tests.support.world import World
from zkchat.cli import memory
from zkchat.compose import stores
from zkchat.model.memory import DocumentUse, Fact, UsedNote
from zkchat.model.message import ChatMessage, DocumentReference
from zkchat.model.session import MessageEntry


def talk(world: World) -> None:
    """A conversation of two turns."""
    with stores.open_sessions(world.environment(), world.vault) as store:
        session = store.create("Nights")
        for number, paths in enumerate([["Sleep.md"], ["Sleep.md", "Coffee.md"]]):
            references = tuple(DocumentReference(wikilink=f"[[{path}]]", relative_path=path) for path in paths)
            message = ChatMessage(id=f"m{number}", role="user", references=references, created_at=NOON)
            store.append(session.id, [MessageEntry(message=message)])


def test_the_examples_of_the_page_print_what_the_page_says(world: World) -> None:
    talk(world)
    examples = examples_of("memory.md")
    assert len(examples) == 7
    for example in examples:
        assert run(world, example) == comparable(example.printed), example.command


def test_every_command_of_the_memory_stands_in_the_table() -> None:
    listed = set(re.findall(r"^\| `zkchat memory (\w+)", (DOCS / "memory.md").read_text(), re.MULTILINE))
    known = {
        command.name or command.callback.__name__ for command in memory.app.registered_commands if command.callback
    }
    assert listed == known


def test_every_field_of_a_fact_and_of_a_use_stands_on_the_page() -> None:
    page = (DOCS / "memory.md").read_text()
    for value in (Fact, DocumentUse, UsedNote):
        assert [name for name in value.model_fields if f"`{name}`" not in page] == []
