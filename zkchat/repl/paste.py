"""Large pastes: a few words stand for them in the prompt, and the whole text is sent."""

from typing import Final

_MOST_LINES: Final = 10
_MOST_CHARACTERS: Final = 2_000


class Pastes:
    """Remembers what its words stand for as long as the program runs."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def folded(self, text: str) -> str:
        """The text itself, or, where it is large, words that stand for it."""
        lines = text.count("\n") + 1
        if lines <= _MOST_LINES and len(text) <= _MOST_CHARACTERS:
            return text
        size = f"{lines:,} lines" if lines > _MOST_LINES else f"{len(text):,} characters"
        names = (f"[pasted {size}]" if number == 1 else f"[pasted {size}, {number}]" for number in range(1, 1_000_000))
        name = next(name for name in names if self._texts.get(name, text) == text)
        self._texts[name] = text
        return name

    def whole(self, text: str) -> str:
        """The text with everything in it that was folded. What a paste itself holds is left as it is."""
        pieces = [text]
        for name, paste in self._texts.items():
            pieces = [
                piece
                for number, kept in enumerate(pieces)
                for piece in (_between(kept.split(name), paste) if number % 2 == 0 else [kept])
            ]
        return "".join(pieces)


def _between(pieces: list[str], paste: str) -> list[str]:
    """The pieces with the paste after each but the last."""
    return [each for piece in pieces for each in (piece, paste)][:-1]
