"""Damaged sessions, seen from the command line: damage is reported, the file is kept, the next question is answered."""

import random
import re
from pathlib import Path

from tests.support.world import World


def ask(world: World, *more: str) -> tuple[int, str]:
    result = world.run("ask", "How long?", "--model", world.script([{"text": "Seven."}] * 1), *more)
    return result.code, result.err


def test_whatever_is_damaged_the_next_question_is_answered_and_the_file_is_kept(world: World) -> None:
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    assert ask(world) == (0, "")
    (database,) = world.home.rglob("sessions.db")
    chance = random.Random(3)
    kept: list[str] = []
    for _ in range(8):
        whole = bytearray(database.read_bytes())
        start = chance.randrange(len(whole))
        whole[start : start + 4000] = chance.randbytes(len(whole[start : start + 4000]))
        database.write_bytes(whole)
        code, told = ask(world, "--session", "nosuch") if chance.random() < 0.2 else ask(world)
        assert code in {0, 5}
        assert "Traceback" not in told
        kept += re.findall(r"the damaged file is kept as (\S+)\.", told)
        # Damage that showed only when the turn was written: then the way out is told with it.
        assert ("not saved" in told) <= ("Restart zkchat" in told)
    assert len(kept) > 1
    assert len(set(kept)) == len(kept)
    assert all(Path(name).is_file() for name in kept)


def test_a_listing_reports_a_recovery_too(world: World) -> None:
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    ask(world)
    (database,) = world.home.rglob("sessions.db")
    database.write_bytes(b"\0" * 100 + database.read_bytes()[100:])
    result = world.run("sessions", "list", "--all")
    assert result.code == 0
    assert "damaged" in result.err
