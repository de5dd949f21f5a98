"""The folders of a vault for completion step by step: what is in the one that was typed, and nothing below that."""

from collections.abc import Iterable

from zkchat.repl.note_names import NamedNote, NameMatch, normalize_name


class FolderNames:
    """An immutable index of documents and folders (whose paths end in a slash) by the folder that they are in."""

    def __init__(self, documents: Iterable[NamedNote] = ()) -> None:
        self._inside: dict[str, list[tuple[str, NamedNote]]] = {}
        normalized: dict[str, str] = {}
        for document in documents:
            folder, _, name = document.path.rstrip("/").rpartition("/")
            if folder:
                if folder not in normalized:
                    normalized[folder] = normalize_name(folder)
                self._inside.setdefault(normalized[folder], []).append((normalize_name(name), document))

    def find(self, typed: str, *, limit: int = 40) -> list[NameMatch]:
        """What is in the folder before the last slash and contains what comes after it; folders first, then by name.

        Empty if there is no such folder, or nothing in it matches.
        """
        folder, slash, rest = normalize_name(typed).rpartition("/")
        if not slash:
            return []
        found = [(name, document) for name, document in self._inside.get(folder, ()) if rest in name]
        found.sort(key=lambda each: (not each[0].startswith(rest), not each[1].path.endswith("/"), each[0]))
        return [NameMatch(note=document, name=document.path) for _, document in found[:limit]]
