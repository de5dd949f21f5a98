"""The table of modules in docs/architecture.md: `python -m scripts.module_table docs/architecture.md` renews it.

The purpose of a module is the first sentence of its docstring.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "zkchat"
BEGIN, END = "<!-- modules -->\n", "<!-- /modules -->"
_SENTENCE = re.compile(r"(?s)(.+?)(?:\.(?=\s)|\.?$)")


def modules() -> list[str]:
    """Every module by its path without suffix: `vault/links/resolver`."""
    found = [path.relative_to(PACKAGE).with_suffix("").as_posix() for path in PACKAGE.rglob("*.py")]
    return sorted(name for name in found if not name.endswith("__init__"))


def table() -> str:
    return "\n".join(_sections())


def _sections() -> Iterator[str]:
    names = modules()
    for package in sorted({name.rpartition("/")[0] for name in names}):
        title = f"`{package}`: {_purpose(PACKAGE / package / '__init__.py')}" if package else "`zkchat` itself"
        rows = [name for name in names if name.rpartition("/")[0] == package]
        yield "\n".join(
            [
                f"### {title}\n",
                "| module | purpose |",
                "|---|---|",
                *(f"| `{name}` | {_purpose(PACKAGE / f'{name}.py')} |" for name in rows),
                "",
            ]
        )


def _purpose(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    sentence = _SENTENCE.match(text)
    return " ".join(sentence[1].split()).replace("|", "\\|") if sentence else ""


def renewed(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{table()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(renewed(file.read_text("utf-8")), "utf-8")
