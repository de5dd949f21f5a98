"""Text measured in the cells of a terminal, as the prompt counts them."""

from prompt_toolkit.utils import get_cwidth


def truncate_cells(text: str, cells: int) -> str:
    """Truncate the text to so many terminal cells."""
    if get_cwidth(text) <= cells:
        return text
    while text and get_cwidth(text) > cells - 1:
        text = text[:-1]
    return f"{text.rstrip()}…" if cells > 0 else ""
