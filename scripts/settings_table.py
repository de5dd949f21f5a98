"""The table of settings in a page: `python -m scripts.settings_table docs/configuration.md` renews it."""

import json
import re
import sys
from pathlib import Path
from typing import Final

from zkchat.config.schema import FIELDS, Setting, accepted_values, field_of, is_user_only, model_keys, needs_trust

BEGIN: Final = "<!-- settings: made from zkchat/config/schema.py -->"
END: Final = "<!-- end of settings -->"

UNASKED: Final = "†"
NEVER: Final = "‡"
SIGNS: Final = (
    (r"a (?:whole )?number of at least (\d+) and up to (\d+)", r"\1–\2"),
    (r"a (?:whole )?number of at least (\d+)", r"≥\1"),
    (r"a number above (\d+)", r">\1"),
    (r" and up to (\d+)", r", ≤\1"),
    (r" and below (\d+)", r", <\1"),
    (r"a list of texts \(at most (\d+), .*\)", r"up to \1 texts"),
    (r"an address that begins .*?(, or empty)?$", r"an address\1"),
    (r"the name of an environment variable .*?(, or empty)?$", r"a variable\1"),
    (r"a table of headers, .*", "a table"),
    (r"^true or false$", "true/false"),
)


def table() -> str:
    rows = [f"{UNASKED} counts in a vault's file without approval, {NEVER} never.\n"]
    rows.append("| setting | default | takes | what it is for |")
    rows.append("|---|---|---|---|")
    for key in (*FIELDS, *model_keys("NAME")):
        field = field_of(key)
        assert field is not None
        unasked = UNASKED if not needs_trust(key) else ""
        unasked = NEVER if is_user_only(key) else unasked
        rows.append(f"| `{key}` | {_default(field)} | {_values(key)} | {field.description}{unasked} |")
    return "\n".join(rows)


def _values(key: str) -> str:
    """What the setting takes, with signs for bounds."""
    values = accepted_values(key)
    for words, signs in SIGNS:
        values = re.sub(words, signs, values)
    return values


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
