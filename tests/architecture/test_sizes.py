"""Functions fit a screen, and subpackages export nothing from `__init__`; the offender is named."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "zkchat"
MOST_LINES_OF_A_FUNCTION = 50


def test_no_function_is_longer_than_a_screen() -> None:
    lengths = {
        f"{path.relative_to(PACKAGE)}:{node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert lengths
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FUNCTION} == {}


def test_init_files_hold_a_docstring_and_nothing_else() -> None:
    inits = [path for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE]
    assert inits
    assert [str(path) for path in inits if not _only_a_docstring(path)] == []


def test_the_package_itself_offers_its_version_and_nothing_else() -> None:
    _, version, offered = ast.parse((PACKAGE / "__init__.py").read_text()).body
    assert ast.unparse(version) == "from zkchat.version import __version__"
    assert ast.unparse(offered) == "__all__ = ['__version__']"


def _only_a_docstring(path: Path) -> bool:
    body = ast.parse(path.read_text()).body
    return len(body) == 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
