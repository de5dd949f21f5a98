"""Run the fuzzer: `python -m tests.fuzz --seconds 600 --seed 20260301`, or one case of it again."""

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from tests.fuzz.runner import Campaign

SEED = 20260301
TARGETS = ("parsers", "rendering", "tools", "vaults", "wires", "settings", "stores", "imports", "commands", "chats")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="for all targets together")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", choices=TARGETS)
    parser.add_argument("--number", type=int, help="run this case alone")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time")
    parser.add_argument("--folder", type=Path, help="where failed cases are kept")
    asked = parser.parse_args()
    folder = (asked.folder or Path(tempfile.mkdtemp(prefix="zkchat-fuzz-"))).resolve()
    campaigns = [Campaign(target, asked.seed, folder, say) for target in ([asked.only] if asked.only else TARGETS)]
    share = asked.seconds * min(1, asked.jobs / len(campaigns))
    with ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(lambda each: each.run(count() if asked.number is None else [asked.number], share), campaigns))
    for each in campaigns:
        causes = len({failure.signature for failure in each.failures})
        say(f"{each.target:<10} {each.cases:>7} cases {len(each.failures):>5} failures {causes:>4} causes")
    failures = sum(len(each.failures) for each in campaigns)
    if failures:
        say(f"Seed {asked.seed}; failed cases are kept in {folder}")
    elif not asked.folder:
        folder.rmdir()
    say(f"fuzz: {sum(each.cases for each in campaigns)} cases, {failures} failures")
    return 1 if failures else 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
