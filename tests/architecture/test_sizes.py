"""Functions fit a screen, packages shrink, and only packages themselves offer names; the offender is named."""

import ast
import json
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "zkchat"
TABLE = Path(__file__).with_name("sizes.json")
MOST_LINES_OF_A_FUNCTION = 50

Sizes = dict[str, dict[str, int]]


def sizes() -> Sizes:
    """Lines and modules of each package of zkchat, and of the tests together."""
    lines: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    for path in (*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")):
        *folders, _ = path.relative_to(ROOT).parts
        name = "/".join(folders[: 2 if folders[0] == "zkchat" else 1])
        lines[name] += path.read_text().count("\n")
        modules[name] += 1
    return {name: {"lines": lines[name], "modules": modules[name]} for name in sorted(lines)}


def grown(now: Sizes, most: Sizes) -> list[str]:
    return [
        f"{name}: {now[name][what]:,} {what}, {most.get(name, {}).get(what, 0):,} at the most"
        for name in now
        for what in now[name]
        if now[name][what] > most.get(name, {}).get(what, 0)
    ]


def test_no_package_grows() -> None:
    """What adds lines removes lines. Where a package shrank, `make sizes` holds it to that."""
    assert grown(sizes(), json.loads(TABLE.read_text())) == []


def test_growth_is_told_by_package_and_kind() -> None:
    most = {"a": {"lines": 10, "modules": 2}}
    assert grown({"a": {"lines": 10, "modules": 1}}, most) == []
    assert grown({"a": {"lines": 11, "modules": 3}}, most) == [
        "a: 11 lines, 10 at the most",
        "a: 3 modules, 2 at the most",
    ]
    assert grown({"b": {"lines": 1, "modules": 1}}, most) == [
        "b: 1 lines, 0 at the most",
        "b: 1 modules, 0 at the most",
    ]


def test_no_function_is_longer_than_a_screen() -> None:
    lengths = {
        f"{path.relative_to(PACKAGE)}:{node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert lengths
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FUNCTION} == {}


def test_init_files_below_a_package_hold_a_docstring_and_nothing_else() -> None:
    inits = [path for path in PACKAGE.rglob("__init__.py") if len(path.relative_to(PACKAGE).parts) > 2]
    assert inits
    assert [str(path) for path in inits if not _only_a_docstring(path)] == []


def test_the_package_itself_offers_its_version_and_nothing_else() -> None:
    _, version, offered = ast.parse((PACKAGE / "__init__.py").read_text()).body
    assert ast.unparse(version) == "from zkchat.version import __version__"
    assert ast.unparse(offered) == "__all__ = ['__version__']"


def _only_a_docstring(path: Path) -> bool:
    body = ast.parse(path.read_text()).body
    return len(body) == 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)


if __name__ == "__main__":
    TABLE.write_text(json.dumps(sizes(), indent=1) + "\n")
