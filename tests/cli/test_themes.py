"""The colours that the user chose."""

import pytest

from tests.support.world import World
from zkchat.core.errors import ExitCode

ANSWER = [{"text": "See [[Sleep]] and `code`.\n"}]
CYAN, BLUE, LIGHT_LINK, ORANGE = "36m", "94m", "38;5;26m", "38;5;208m"


def answer(world: World, theme: str | None = None) -> str:
    world.note("Sleep.md", "# Sleep\n\nSeven hours.\n")
    if theme is not None:
        world.configure(f'[ui]\ntheme = "{theme}"\n')
    said = world.run("ask", "what of [[Sleep]]?", "--model", world.script(ANSWER), terminal=True)
    assert said.code == 0, said
    return said.out


def test_the_colours_are_for_a_dark_background_unless_set(world: World) -> None:
    usual = answer(world)
    assert BLUE in usual
    assert CYAN in usual
    assert answer(world, "dark") == usual


def test_a_light_theme_has_darker_colours_and_none_has_no_colour(world: World) -> None:
    said = answer(world, "light")
    assert (LIGHT_LINK in said, BLUE in said, CYAN in said) == (True, False, False)
    said = answer(world, "none")
    assert ("\x1b[1m" in said, BLUE in said, CYAN in said) == (True, False, False)


@pytest.mark.parametrize("theme", ["link=#FF8700", "light, link=#ff8700"])
def test_colours_of_ones_own_stand_beside_those_of_a_theme(world: World, theme: str) -> None:
    said = answer(world, theme)
    assert ORANGE in said
    assert BLUE not in said
    assert (CYAN in said) == ("light" not in theme)


def test_a_theme_that_is_none_is_told_with_what_is_one(world: World) -> None:
    for theme in ("gloomy", "dark sky=blue", "dark link=sky", "dark light"):
        world.configure(f'[ui]\ntheme = "{theme}"\n')
        said = world.run("ask", "what of sleep?", "--model", "quote")
        assert (said.code, "ui.theme" in said.err) == (ExitCode.CONFIG, True)
        assert '"dark", "light" or "none"' in said.err
