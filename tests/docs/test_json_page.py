"""docs/json.md shows notes, commands and what they print. Here the notes are written and the commands are run."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.world import World

PAGE = (Path(__file__).parents[2] / "docs" / "json.md").read_text()
NOTES = re.findall(r"`(\w+\.md)`:\n\n```markdown\n(.*?)```", PAGE, re.DOTALL)
EXAMPLES = re.findall(
    r"```console\n\$ (?:echo '([^']+)' \| )?zkchat ([^\n]+)\n```\n\n```json\n(.*?)\n```", PAGE, re.DOTALL
)
DIFFERENT_EACH_TIME = {"vault", "index_bytes", "index_changed_at", "seconds", "score"}


def comparable(value: Any) -> Any:
    """The value with the type alone of what depends on the machine and the moment."""
    if isinstance(value, dict):
        return {key: type(item) if key in DIFFERENT_EACH_TIME else comparable(item) for key, item in value.items()}
    return [comparable(item) for item in value] if isinstance(value, list) else value


def values(printed: str) -> list[Any]:
    """What is printed as one value, or as a value on each line."""
    try:
        return [comparable(json.loads(printed))]
    except ValueError:
        return [comparable(json.loads(line)) for line in printed.splitlines()]


def test_the_page_has_notes_and_examples() -> None:
    assert len(NOTES) == 2
    assert {command.partition(" --")[0].split()[0] for _, command, _ in EXAMPLES} == {
        "index", "search", "links", "resolve", "vault"
    }  # fmt: skip


@pytest.mark.parametrize(("piped", "command", "expected"), EXAMPLES, ids=[command for _, command, _ in EXAMPLES])
def test_an_example_of_the_page_prints_what_the_page_says(
    world: World, piped: str, command: str, expected: str
) -> None:
    for name, text in NOTES:
        world.note(name, text)
    result = world.run(*shlex.split(command), stdin=f"{piped}\n" if piped else None)
    assert result.code == 0
    assert values(result.out) == values(expected)
