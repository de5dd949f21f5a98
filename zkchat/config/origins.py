"""Where the value of a setting comes from."""

from typing import Literal

from msgspec import Struct

Layer = Literal["default", "user", "vault", "variable", "flag"]


class Origin(Struct, frozen=True):
    layer: Layer
    where: str = ""
    """The file or the variable; empty for defaults and flags."""

    @property
    def phrase(self) -> str:
        """To be read after a value or a key: `in /home/me/.config/zkchat/config.toml`."""
        match self.layer:
            case "default":
                return "by default"
            case "flag":
                return "on the command line"
            case "variable":
                return f"in the variable {self.where}"
            case _:
                return f"in {self.where}"
