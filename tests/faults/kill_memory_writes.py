"""A process that keeps facts until it is killed, and says each time what is safely kept."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from zkchat.core.environment import random_id
from zkchat.sessions.memories import SqliteMemories


def main(path: Path, most: int) -> None:
    with SqliteMemories(path, now=lambda: datetime.now(UTC), new_id=random_id) as store:
        for _ in range(most):
            fact = store.add("I like tea", "user")
            sys.stdout.write(f"{fact.id}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
