"""What was typed before, in this session and others. Keys and passwords are not kept."""

import os
import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from prompt_toolkit.history import FileHistory

from zkchat.export.secrets import holds_secret
from zkchat.repl.paste import Pastes

_NAMED_SECRET: Final = re.compile(
    r"""(?:pass(?:word|wd|phrase)?|secret|token|api[ _-]?key|credentials?)["']?\s{0,3}[:=]\s{0,3}\S|://[^\s/:@]+:[^\s/@]+@""",
    re.IGNORECASE,
)
"""A password told in words, or one in an address. A line too many that is not kept does no harm."""


def looks_secret(text: str, keys: Iterable[str] = ()) -> bool:
    return holds_secret(text, keys) or _NAMED_SECRET.search(text) is not None


class SharedHistory(FileHistory):
    """One file for all sessions, which only its owner can read. Without a disk to write to there is no history."""

    def __init__(self, file: Path, pastes: Pastes, *, keys: Collection[str] = ()) -> None:
        super().__init__(str(file))
        self._pastes = pastes
        self._keys = keys

    def load_history_strings(self) -> Iterable[str]:
        with suppress(OSError):
            return [self._pastes.folded(text) for text in super().load_history_strings()]
        return []

    def append_string(self, string: str) -> None:
        if not looks_secret(self._pastes.whole(string), self._keys):
            super().append_string(string)

    def store_string(self, string: str) -> None:
        file = Path(os.fsdecode(self.filename))
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.touch(mode=0o600)
            super().store_string(self._pastes.whole(string))
