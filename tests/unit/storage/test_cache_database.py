"""A cache that several threads use, and one of them throws away."""

import subprocess
import sys
from pathlib import Path

import pytest

CROWD = """
import sys, threading
from pathlib import Path
from zkchat.storage.database import CacheDatabase

cache = CacheDatabase(Path(sys.argv[1]), schema=("CREATE TABLE words (word TEXT)",), version=1)
over = threading.Event()
done = []

def use():
    while not over.is_set():
        with cache.writing() as database:
            database.execute("INSERT INTO words VALUES ('a')")
        with cache.reading() as database:
            done.append(len(database.execute("SELECT word FROM words").fetchall()))

threads = [threading.Thread(target=use) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(100):
    cache.reset()
over.set()
for thread in threads:
    thread.join()
cache.close()
print(len(done) > 10)
"""


@pytest.mark.outside
def test_a_cache_that_is_thrown_away_while_others_use_it_begins_anew_for_them(tmp_path: Path) -> None:
    """In a process of its own: SQLite ends the process if a connection is closed under a statement."""
    ran = subprocess.run(
        [sys.executable, "-c", CROWD, str(tmp_path / "cache.db")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "True\n", "")
