"""Run the fuzzer: `python -m tests.fuzz --seconds 600 --seed 20260301`, or one case of it again."""

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fuzz.runner import ROOT, Campaign, Tally, numbers_from, table

SEED = 20260301
TARGETS = ("parsers", "rendering", "tools", "vaults", "wires", "settings", "stores", "imports", "commands", "chats")


def main() -> int:
    asked = _asked()
    if asked.folder and asked.folder.resolve().is_relative_to(ROOT):
        sys.exit(f"{asked.folder} is inside the checkout; name a folder elsewhere: --folder FOLDER")
    targets = asked.only.split(",") if asked.only else list(TARGETS)
    if unknown := set(targets) - set(TARGETS):
        sys.exit(f"There is no target {', '.join(sorted(unknown))}. There is: {', '.join(TARGETS)}.")
    folder = (asked.folder or Path(tempfile.mkdtemp(prefix="zkchat-fuzz-"))).resolve()
    single = asked.number is not None
    share = asked.seconds * min(1, asked.jobs / len(targets))
    many = 1 if single else asked.cases

    def campaign(target: str) -> Tally:
        return Campaign(target, asked.seed, folder, say).run(numbers_from(asked.number or 0, many), share)

    with ThreadPoolExecutor(asked.jobs) as pool:
        tallies = list(pool.map(campaign, targets))
    failures = sum(len(tally.failures) for tally in tallies)
    say(table(tallies))
    if failures:
        say(f"Seed {asked.seed}; failed cases are kept in {folder}")
    elif not asked.folder:
        folder.rmdir()
    say(f"fuzz: {sum(tally.cases for tally in tallies)} cases, {failures} failures")
    return 1 if failures else 0


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="for all targets together")
    parser.add_argument("--cases", type=int, help="so many of each target, if there is time")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", default="", help=f"some of {', '.join(TARGETS)}, with commas")
    parser.add_argument("--number", type=int, help="run this case alone")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time")
    parser.add_argument("--folder", type=Path, help="where failed cases are kept; not in the checkout")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
