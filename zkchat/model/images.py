"""Images as models take them: how many tokens one costs, and how large it may be."""

from math import ceil, floor, sqrt
from typing import Final, Literal

from zkchat.model.values import Value

ImageDetail = Literal["low", "high"]
"""How closely a model of OpenAI's protocol looks at an image."""

LOW_SIDE: Final = 512
"""Pixels to which an image is reduced that need not be looked at closely."""
LEAST_SIDE: Final = 256
"""Pixels of the longer side below which an image is not reduced to make room for it."""
_TILE: Final = 512
_TILE_BOX: Final = 2048
_TILE_SHORT_SIDE: Final = 768
_REDUCTION: Final = 0.8
"""By which an image gets smaller in each attempt to fit it in."""


class ImageRule(Value, frozen=True, kw_only=True):
    """How a family of models counts the tokens of an image.

    `tiles`: squares of 512 pixels, once the image fits into 2048 pixels and its shorter side into 768. `patches`:
    squares of `patch` pixels. `fixed`: the same for every image.
    """

    kind: Literal["tiles", "patches", "fixed"] = "patches"
    max_side: int = 1344
    """Pixels of the longer side: a larger image is sent smaller."""
    base: int = 0
    """Tokens beside those of tiles and patches."""
    per_tile: int = 0
    patch: int = 28
    max_patches: int = 0
    """To so many patches the model's server reduces an image; 0 for no such limit."""
    multiplier: float = 1.0
    """Tokens of a patch."""
    detail: ImageDetail = "high"

    def sized(self, width: int, height: int) -> tuple[int, int]:
        """The size in which an image is sent."""
        return fitted(width, height, LOW_SIDE if self.detail == "low" else self.max_side)

    def tokens(self, width: int, height: int) -> int:
        """What an image of that size, as it is sent, takes of the window."""
        if self.kind == "fixed" or (self.kind == "tiles" and self.detail == "low"):
            return self.base
        return self._tiles(width, height) if self.kind == "tiles" else self._patches(width, height)

    def _tiles(self, width: int, height: int) -> int:
        width, height = fitted(width, height, _TILE_BOX)
        if (short := min(width, height)) > _TILE_SHORT_SIDE:
            width, height = (max(1, side * _TILE_SHORT_SIDE // short) for side in (width, height))
        return self.base + self.per_tile * ceil(width / _TILE) * ceil(height / _TILE)

    def _patches(self, width: int, height: int) -> int:
        side, most = self.patch, self.max_patches
        if most and ceil(width / side) * ceil(height / side) > most:
            shrink = sqrt(side * side * most / (width * height))
            across, down = width * shrink / side, height * shrink / side
            # One side may be less than a patch long: it stays so, and the other takes what is left.
            shrink *= min(floor(across) / across if across >= 1 else 1, floor(down) / down if down >= 1 else 1)
            width, height = (max(1, floor(each * shrink + 1e-9)) for each in (width, height))
        count = ceil(width / side) * ceil(height / side)
        return self.base + ceil(min(count, most or count) * self.multiplier)

    def fitting(self, width: int, height: int, room: int) -> tuple[int, int] | None:
        """The largest size in which the image takes no more tokens than there is room for; None where none does."""
        size = self.sized(width, height)
        while self.tokens(*size) > room:
            smaller = fitted(width, height, int(_REDUCTION * max(size)))
            if max(smaller) < LEAST_SIDE:
                return None
            size = smaller
        return size


DEFAULT_RULE: Final = ImageRule()
"""For models of which nothing else is known: most make one token of 28 pixels in square, or fewer of a whole image."""


def fitted(width: int, height: int, side: int) -> tuple[int, int]:
    """The size of an image whose longer side has no more pixels than that."""
    longest = max(width, height)
    if longest <= side:
        return width, height
    return max(1, round(width * side / longest)), max(1, round(height * side / longest))
