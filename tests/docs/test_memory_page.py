import re

from tests.support.doc_examples import DOCS
from zkchat.cli import memory
from zkchat.core.profile import DocumentUse, Fact, UsedNote


def test_every_command_of_the_memory_stands_in_the_table() -> None:
    listed = set(re.findall(r"^\| `zkchat memory (\w+)", (DOCS / "memory.md").read_text(), re.MULTILINE))
    known = {
        command.name or command.callback.__name__ for command in memory.app.registered_commands if command.callback
    }
    assert listed == known


def test_every_field_of_a_fact_and_of_a_use_stands_on_the_page() -> None:
    page = (DOCS / "memory.md").read_text()
    for value in (Fact, DocumentUse, UsedNote):
        assert [name for name in value.__struct_fields__ if f"`{name}`" not in page] == []
