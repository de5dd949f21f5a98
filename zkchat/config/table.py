"""The table of settings in docs/configuration.md: `python -m zkchat.config.table docs/configuration.md` renews it."""

import json
import re
import sys
from pathlib import Path
from typing import Final

from zkchat.config.schema import FIELDS, SENSITIVE, expected

BEGIN: Final = "<!-- settings: made from zkchat/config/schema.py -->"
END: Final = "<!-- end of settings -->"


def table() -> str:
    """Every setting as a row of a Markdown table."""
    rows = ["| setting | default | takes | what it is for |", "|---|---|---|---|"]
    for key, field in FIELDS.items():
        default = "unset" if field.default is None else f"`{json.dumps(field.default)}`"
        trust = " *Needs trust in a vault's file.*" if key in SENSITIVE else ""
        rows.append(f"| `{key}` | {default} | {expected(key)} | {field.description}{trust} |")
    return "\n".join(rows)


def renewed(page: str) -> str:
    """The page with the table between its markers made anew."""
    between = f"{BEGIN}\n{table()}\n{END}"
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: between, page, flags=re.DOTALL)


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
