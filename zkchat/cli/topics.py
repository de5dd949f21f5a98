"""The pages that come with zkchat, for `zkchat help`: in the package, or beside it in a checkout."""

import re
from pathlib import Path
from typing import Final

from msgspec import Struct

from zkchat.model.patterns import lazy_pattern

_PACKAGE: Final = Path(__file__).parents[1]
_FOR_DEVELOPERS: Final = frozenset({"architecture", "dependencies", "live-ollama"})
_FENCE: Final = lazy_pattern(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_PICTURE_LINE: Final = lazy_pattern(r"^!\[[^\]]*\]\([^)]*\)\n+", re.MULTILINE)
_LINK: Final = lazy_pattern(r"(?<!!)\[([^\]\[]+)\]\(([^)\s]+)\)")
_BLOCK: Final = lazy_pattern(r"\s*(?:[-*+] |\d+[.)] |[#|>]|<!--)")
_WHOLE_LINE: Final = lazy_pattern(r"\s*(?:#|\||<!--)")
_ADDRESS: Final = lazy_pattern(r"\w+:")


class Topic(Struct, frozen=True):
    """A page, by the name of its file."""

    file: Path

    @property
    def name(self) -> str:
        return self.file.stem

    @property
    def title(self) -> str:
        """The first heading."""
        with self.file.open(encoding="utf-8") as lines:
            return next(
                (line.lstrip("# ").replace("`", "").strip() for line in lines if line.startswith("#")), self.name
            )

    @property
    def text(self) -> str:
        """The page as it is read in a terminal: without pictures, and with links to other pages as commands."""
        text, names = self.file.read_text("utf-8"), {topic.name for topic in topics()}
        parts, end = [], 0
        for fence in _FENCE.finditer(text):
            parts += [_readable(text[end : fence.start()], names), fence[0]]
            end = fence.end()
        return "".join((*parts, _readable(text[end:], names)))


def topics() -> list[Topic]:
    """The pages for users, by name; none where they were left out of an installation."""
    folder = _PACKAGE / "docs"
    if not folder.is_dir() and (_PACKAGE.parent / "pyproject.toml").is_file():
        folder = _PACKAGE.parent / "docs"
    return [Topic(file) for file in sorted(folder.glob("*.md")) if file.stem not in _FOR_DEVELOPERS]


def _readable(text: str, names: set[str]) -> str:
    return _LINK.sub(lambda link: _as_command(link, names), _unwrapped(_PICTURE_LINE.sub("", text)))


def _unwrapped(text: str) -> str:
    """Each paragraph on one line: the lines of a file are no lines of a screen."""
    lines: list[str] = []
    for line in text.split("\n"):
        is_rest = bool(lines and lines[-1].strip() and line.strip()) and not _BLOCK.match(line)
        if is_rest and not _WHOLE_LINE.match(lines[-1]):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


def _as_command(link: re.Match[str], names: set[str]) -> str:
    """A link to a page as the command that shows it; to what is not installed, its label alone."""
    label, target = link[1], link[2]
    if _ADDRESS.match(target):
        return link[0]
    name = target.partition("#")[0].removesuffix(".md")
    return f"{label} (`zkchat help {name}`)" if name in names else label
