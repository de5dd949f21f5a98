"""Large pastes: the prompt shows a placeholder, and the full text is sent."""

from typing import Final

_MAX_LINES: Final = 10
_MAX_CHARACTERS: Final = 2_000


class Pastes:
    """Maps placeholders to texts as long as the program runs."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """The text itself, or a placeholder for a large one."""
        lines = text.count("\n") + 1
        if lines <= _MAX_LINES and len(text) <= _MAX_CHARACTERS:
            return text
        size = f"{lines:,} lines" if lines > _MAX_LINES else f"{len(text):,} characters"
        names = (f"[pasted {size}]" if number == 1 else f"[pasted {size}, {number}]" for number in range(1, 1_000_000))
        name = next(name for name in names if self._texts.get(name, text) == text)
        self._texts[name] = text
        return name

    def expand(self, text: str) -> str:
        """Replace the placeholders in a text. A placeholder inside a paste is left as it is."""
        pieces = [text]
        for name, paste in self._texts.items():
            pieces = [
                piece
                for number, kept in enumerate(pieces)
                for piece in (_interleave(kept.split(name), paste) if number % 2 == 0 else [kept])
            ]
        return "".join(pieces)


def _interleave(pieces: list[str], paste: str) -> list[str]:
    """Insert the paste between the pieces."""
    return [each for piece in pieces for each in (piece, paste)][:-1]
