"""Readable vaults made of templates and tables, the same each time: vaults/handbook.toml and vaults/journal.toml.

A file holds tables, one row a line with cells between bars, and notes: a path and a text with the names of columns in
braces. A note `for_each` table is written once for each row. `⟨one¦another⟩` stands for one of the wordings, chosen by
the path of the note.
"""

import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parent / "vaults"
_WORDINGS = re.compile(r"⟨([^⟨⟩]*)⟩")

Row = Mapping[str, str]


def generated_notes(name: str) -> Iterator[tuple[str, str]]:
    """The path and the text of each note of the vault of this name."""
    source = tomllib.loads((SOURCES / f"{name}.toml").read_text(encoding="utf-8"))
    tables = {table: rows_of(text) for table, text in source.get("tables", {}).items()}
    for note in source["notes"]:
        for row in tables[note["for_each"]] if "for_each" in note else [{}]:
            yield written(note, row)


def rows_of(text: str) -> list[Row]:
    """The rows of a table, whose first line names the columns."""
    header, *lines = ([cell.strip() for cell in line.split("|")] for line in text.strip().splitlines())
    return [dict(zip(header, cells, strict=True)) for cells in lines]


def written(note: Mapping[str, Any], row: Row) -> tuple[str, str]:
    path = note["path"].format_map(row)
    chance = random.Random(path)
    text = note["text"].format_map(row).replace("\\n", "\n")
    return path, _WORDINGS.sub(lambda found: chance.choice(found[1].split("¦")), text).strip() + "\n"
