"""Rename and move files of generated vaults at random, and count the links that lead elsewhere afterwards.

    python -m tests.faults.rename_vaults NOTES COUNT SEED

A third of the renames is made in a vault of each link format of Obsidian.
"""

import sys
from typing import get_args

from scripts.check_renames import check
from tests.support.linked_vaults import make_vault
from zkchat.writing.targets import LinkFormat, LinkStyle


def main(notes: int, count: int, seed: int) -> int:
    formats = get_args(LinkFormat)
    found = []
    for number, link_format in enumerate(formats):
        share = count * (number + 1) // len(formats) - count * number // len(formats)
        result = check(make_vault(notes, seed + number), share, seed, LinkStyle(format=link_format))
        found += result.violations
        counts = ", ".join(f"{amount:,} {name}" for name, amount in sorted(result.counts.items()))
        sys.stdout.write(f"{link_format}, {notes:,} notes: {counts}\n")
        sys.stdout.flush()
    sys.stdout.write("\n".join([*found[:50], f"{len(found):,} violations in {count:,} renames", ""]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:4])))
