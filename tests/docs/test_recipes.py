"""CONTRIBUTING.md says how to add things. Here each recipe is followed as it is written, in a copy of the tree."""

import shutil
from pathlib import Path

import pytest

from tests.support.recipes import ROOT, Recipe, copy_of_the_tree, recipes, run

pytestmark = pytest.mark.outside

RECIPES = recipes((ROOT / "CONTRIBUTING.md").read_text("utf-8"))


def test_there_is_a_recipe_for_everything_that_is_added_often() -> None:
    assert {recipe.name for recipe in RECIPES} == {
        "a provider", "a tool", "a slash command", "a command of the command line", "a setting", "a migration",
        "a link form", "a compaction strategy", "an event",
    }  # fmt: skip
    assert all(recipe.edits and recipe.commands for recipe in RECIPES)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_recipe_followed_as_written_passes_the_tests_that_it_names(recipe: Recipe, tmp_path: Path) -> None:
    recipe.follow(copy_of_the_tree(tmp_path / "copy"))


def test_all_recipes_together_pass_format_lint_types_and_contracts(tmp_path: Path) -> None:
    copy = copy_of_the_tree(tmp_path / "copy")
    for recipe in RECIPES:
        recipe.write(copy)
    if (ROOT / ".mypy_cache").exists():  # then only what the recipes change is checked
        shutil.copytree(ROOT / ".mypy_cache", copy / ".mypy_cache")
    run(copy, "ruff", "format", "--no-cache", ".")
    run(copy, "ruff", "check", "--no-cache", ".")
    run(copy, "mypy")
    run(copy, "lint-imports", "--no-cache")
