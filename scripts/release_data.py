"""What a release left in a user's home, kept as text for tests/releases: `python -m scripts.release_data VERSION`.

`make release` runs it once for each version; what is there is never written anew.
"""

import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

from tests.support.world import World

RELEASES: Final = Path(__file__).parents[1] / "tests" / "releases"
NOTES: Final = {
    "Sleep.md": "# Sleep\n\nAdults need seven to nine hours. See [[Coffee]].\n\n## Naps\n\n- [ ] try a short one\n",
    "Coffee.md": "---\ntags: [drink]\n---\n# Coffee\n\nThe last cup is at one o'clock.\n",
    "Daily/2026-03-08.md": "Slept badly, after a cup at five. #log\n",
}
USED: Final = (
    ("config", "set", "context.max_tokens", "4096"),
    ("config", "set", "model", "quote"),
    ("ask", "How many hours of sleep do adults need?"),
    ("ask", "When is the last cup of coffee?", "--continue"),
    ("memory", "add", "I drink tea in the evening."),
    ("note", "append", "Sleep", "- [ ] a darker curtain", "--section", "Naps", "--yes"),
)
"""What the user did."""


def write_release(target: Path, scratch: Path) -> None:
    """Use zkchat as a user would, and keep the notes, the settings, and every database as SQL."""
    world = World(scratch)
    for path, text in NOTES.items():
        world.note(path, text)
    for arguments in USED:
        result = world.run(*arguments)
        if result.code:
            raise SystemExit(f"{' '.join(arguments)}: {result.err}")
    shutil.copytree(world.vault, target / "vault")
    shutil.copy(world.home / ".config/zkchat/config.toml", target)
    for database in sorted(world.home.glob(".*/**/vaults/*/*.db")):
        (target / f"{database.stem}.sql").write_text(as_sql(database), "utf-8")


def as_sql(database: Path) -> str:
    with closing(sqlite3.connect(database)) as connection:
        pragmas = [
            f"PRAGMA {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]};"
            for name in ("user_version", "application_id")
        ]
        return "\n".join([*pragmas, *connection.iterdump(), ""])


def main() -> None:
    (version,) = sys.argv[1:]
    target = RELEASES / version
    target.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        write_release(target, Path(scratch))


if __name__ == "__main__":
    main()
