"""The table of settings in a page: `python -m scripts.settings_table docs/configuration.md` renews it."""

import json
import re
import sys
from pathlib import Path
from typing import Final

from zkchat.config.schema import FIELDS, Setting, accepted_values, field_of, is_user_only, model_keys, needs_trust

BEGIN: Final = "<!-- settings: made from zkchat/config/schema.py -->"
END: Final = "<!-- end of settings -->"


def table() -> str:
    rows = ["| setting | default | takes | what it is for |", "|---|---|---|---|"]
    for key in (*FIELDS, *model_keys("NAME")):
        field = field_of(key)
        assert field is not None
        unasked = " *Counts in a vault's file without approval.*" if not needs_trust(key) else ""
        unasked = " *Never counts in a vault's file.*" if is_user_only(key) else unasked
        rows.append(f"| `{key}` | {_default(field)} | {accepted_values(key)} | {field.description}{unasked} |")
    return "\n".join(rows)


def _default(setting: Setting) -> str:
    if setting.is_required:
        return "has to be set"
    return "unset" if setting.default is None else f"`{json.dumps(setting.default)}`"


def renewed(page: str) -> str:
    """The page with the table between its markers made anew."""
    between = f"{BEGIN}\n{table()}\n{END}"
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: between, page, flags=re.DOTALL)


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
