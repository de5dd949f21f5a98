"""CONTRIBUTING.md says how to add things. Here the recipes are followed as they are written, in a copy of the tree."""

import shutil
from pathlib import Path

import pytest

from tests.support.recipes import ROOT, copy_of_the_tree, recipes, run

pytestmark = [pytest.mark.outside, pytest.mark.slow]

RECIPES = recipes((ROOT / "CONTRIBUTING.md").read_text("utf-8"))


def test_there_is_a_recipe_for_everything_that_is_added_often() -> None:
    assert {recipe.name for recipe in RECIPES} == {
        "a provider", "a tool", "a slash command", "an action", "a setting", "a migration",
        "a link form", "a compaction strategy", "an event",
    }  # fmt: skip
    assert all(recipe.edits and recipe.commands for recipe in RECIPES)


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree in which all recipes were followed, each as it is written."""
    copy = copy_of_the_tree(tmp_path_factory.mktemp("recipes") / "copy")
    for recipe in RECIPES:
        recipe.follow(copy)
    return copy


def test_the_recipes_pass_the_tests_that_they_name(followed: Path) -> None:
    named = dict.fromkeys(path for recipe in RECIPES for path in recipe.named_tests)
    run(followed, "python", "-m", "pytest", "-n0", "-p", "no:cacheprovider", "--examples", "10", *named)


def test_the_recipes_pass_format_lint_types_and_contracts(followed: Path) -> None:
    if (ROOT / ".mypy_cache").exists():  # then only what the recipes change is checked
        shutil.copytree(ROOT / ".mypy_cache", followed / ".mypy_cache")
    run(followed, "ruff", "format", "--no-cache", ".")
    run(followed, "ruff", "check", "--no-cache", ".")
    tests = {edit.path for recipe in RECIPES for edit in recipe.edits if edit.path.startswith("tests/")}
    run(followed, "mypy", "zkchat", "scripts", "benchmarks", *sorted(tests))
    run(followed, "lint-imports", "--no-cache")
