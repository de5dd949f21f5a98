"""Others import a package, never its modules; a face offers to type checkers what it offers at run time."""

import ast
import importlib
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "zkchat"
IMPORT = re.compile(r"^\s*(?:from|import)\s+(zkchat(?:\.\w+){2,})", re.MULTILINE)
FACES = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def test_others_import_a_package_and_not_its_modules() -> None:
    past_the_face = [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for name in IMPORT.findall(path.read_text("utf-8"))
        if name.split(".")[1] != path.relative_to(PACKAGE).parts[0]
    ]
    assert past_the_face == []


@pytest.mark.parametrize("name", FACES)
def test_a_face_offers_at_run_time_what_type_checkers_read(name: str) -> None:
    face = importlib.import_module(f"zkchat.{name}")
    tree = ast.parse((PACKAGE / name / "__init__.py").read_text("utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    names = [
        alias.asname or alias.name for block in blocks for node in block.body for alias in getattr(node, "names", [])
    ]
    # A name that its module has for type checkers only is none at run time.
    places = {
        alias.name: node.module
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    missing = [each for each in names if not hasattr(face, each)]
    assert [each for each in missing if hasattr(importlib.import_module(str(places[each])), each)] == []
    with pytest.raises(AttributeError):
        face.no_such_name  # noqa: B018
