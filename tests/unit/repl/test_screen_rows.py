"""The rows of the screen: a page of a note and what stands around it fit above the prompt."""

import pytest

from zkchat.repl.surface import menu_rows, page_rows


@pytest.mark.parametrize(("height", "menu", "page"), [(80, 8, 65), (40, 8, 25), (24, 6, 11), (12, 3, 4), (1, 0, 4)])
def test_rows_are_kept_for_the_menu_and_the_rest_is_a_page(height: int, menu: int, page: int) -> None:
    assert (menu_rows(height), page_rows(height)) == (menu, page)
