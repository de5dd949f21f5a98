"""A vault whose file times were scrambled, as a clone or a sync does, answers as before."""

import os
from datetime import UTC, datetime
from pathlib import Path

from tests.support.world import World

ASKED = (
    ("search", "during:2026-03 apples"),
    ("search", "before:2026-03-09", "--json"),
    ("recent", "--json"),
    ("ask", "What did I write on 8 March?", "--model", "quote"),
    ("ask", "what changed this week?", "--model", "quote"),
)


def test_names_and_properties_answer_questions_about_time_whatever_the_files_say(tmp_path: Path) -> None:
    world = World(tmp_path, now=lambda: datetime(2026, 3, 12, 12, tzinfo=UTC))
    for day in (7, 8, 9):
        changed = f"---\nupdated: 2026-03-{day + 2:02} 10:00\n---\n"
        world.note(f"Daily/2026-03-0{day}.md", f"{changed}I picked {day} apples.")
    world.note("Pears.md", "---\ncreated: 1.2.2026\nmodified: March 10, 2026\n---\nPears and apples.")
    before = [world.run(*command).out for command in ASKED]
    assert "I picked 8 apples" in before[3]
    assert "I picked 9 apples" not in before[3]
    assert "Pears" in before[4]
    for number, file in enumerate(sorted(world.vault.rglob("*.md"))):
        os.utime(file, (number * 400_000_000, number * 400_000_000))
    assert [world.run(*command).out for command in ASKED] == before
