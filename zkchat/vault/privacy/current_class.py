"""The class of a note as its file has it now, whatever the index knows: a note may have been marked a moment ago."""

from collections.abc import Sequence

from zkchat.errors import NoteNotFound, VaultError
from zkchat.model.note import PrivacyClass
from zkchat.ports import NoteFiles
from zkchat.vault.privacy.classes import privacy_of_text
from zkchat.vault.privacy.declarations import STRICTNESS


class CurrentClasses:
    """Reads a file again only where it may have changed since it was read here."""

    def __init__(self, files: NoteFiles, local_only: Sequence[str]) -> None:
        self._files = files
        self._local_only = local_only
        self._known: dict[str, tuple[object, PrivacyClass]] = {}

    def of(self, path: str) -> PrivacyClass | None:
        """The class now; None where there is no such file any more. One that cannot be read may say anything."""
        identity = self._files.identity(path)
        known = self._known.get(path)
        if known and identity is not None and known[0] == identity:
            return known[1]
        try:
            text = self._files.read(path)
        except NoteNotFound:
            return None
        except VaultError:
            return "local"
        privacy = self.of_text(text, path)
        if identity is not None:
            self._known[path] = identity, privacy
        return privacy

    def of_text(self, text: str, path: str) -> PrivacyClass:
        """The class of a note that has just been read, by the place that a link leads to too."""
        places = {path, *(self._files.linked([path]).values() if self._local_only else ())}
        classes: list[PrivacyClass] = [privacy_of_text(text, place, self._local_only) for place in places]
        return max(classes, key=STRICTNESS.__getitem__)
