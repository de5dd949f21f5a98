"""The history of the prompt, shared by all sessions. Lines with keys and passwords are not stored."""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from prompt_toolkit.history import FileHistory

from zkchat.export.redaction import contains_secret
from zkchat.files import write_atomically
from zkchat.repl.paste import Pastes

_NAMED_SECRET: Final = re.compile(
    r"""(?:pass(?:word|wd|phrase)?|secret|token|api[ _-]?key|credentials?)["']?\s{0,3}[:=]\s{0,3}\S|://[^\s/:@]+:[^\s/@]+@""",
    re.IGNORECASE,
)
"""A password after its name, or in an address. A false positive only costs one line of history."""
_SESSION: Final = "# session "


def looks_secret(text: str, keys: Iterable[str] = ()) -> bool:
    return contains_secret(text, keys) or _NAMED_SECRET.search(text) is not None


class SharedHistory(FileHistory):
    """One file for all sessions that only its owner can read. Where it cannot be written, there is no history."""

    def __init__(self, file: Path, pastes: Pastes, *, keys: Collection[str] = ()) -> None:
        super().__init__(str(file))
        self.session_id = ""
        """The session that lines are typed in: they are deleted with it."""
        self._pastes = pastes
        self._keys = keys

    def load_history_strings(self) -> Iterable[str]:
        with suppress(OSError):
            return [self._pastes.fold(text) for text in super().load_history_strings()]
        return []

    def append_string(self, string: str) -> None:
        if not looks_secret(self._pastes.expand(string), self._keys):
            super().append_string(string)

    def put_aside(self, string: str) -> None:
        """Keep a text that was not sent for the prompts of this process; it is not written to the file."""
        if not self._loaded:  # or loading would replace it
            self._loaded_strings, self._loaded = [*self.load_history_strings()], True
        is_last = self._loaded_strings[:1] == [string]
        if not is_last and not looks_secret(self._pastes.expand(string), self._keys):
            self._loaded_strings.insert(0, string)

    def store_string(self, string: str) -> None:
        file = Path(os.fsdecode(self.filename))
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.touch(mode=0o600)
            typed = "".join(f"+{line}\n" for line in self._pastes.expand(string).split("\n"))
            with file.open("ab") as stream:
                stream.write(f"\n# {datetime.now()}\n{_SESSION}{self.session_id}\n{typed}".encode("utf-8", "replace"))


def forget_typed(file: Path, session: str, texts: Collection[str]) -> None:
    """Remove the lines that were typed in a session, and those equal to one of these texts."""
    try:
        lines = file.read_bytes().decode("utf-8", "replace").splitlines(keepends=True)
    except FileNotFoundError:
        return
    kept = "".join(block for block in _blocks(lines) if not _is_of(block, session, texts))
    write_atomically(file, kept, mode=0o600)


def _blocks(lines: Iterable[str]) -> Iterator[str]:
    """Split the file into entries: a message with the comment lines before it."""
    block, is_typed = "", False
    for line in lines:
        if is_typed and not line.startswith("+"):
            yield block
            block = ""
        is_typed = line.startswith("+")
        block += line
    yield block


def _is_of(block: str, session: str, texts: Collection[str]) -> bool:
    lines = block.splitlines(keepends=True)
    typed = "".join(line[1:] for line in lines if line.startswith("+")).strip()
    return f"{_SESSION}{session}\n" in lines or typed in texts
