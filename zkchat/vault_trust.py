"""What comes with a vault and acts only after the user's approval: the one inventory, and what of it is approved."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zkchat.model.trust import TrustState, VaultItem, vault_item
from zkchat.places import Paths

if TYPE_CHECKING:
    from zkchat.config.trust import TrustStore
    from zkchat.model.profile import ProfileFile
    from zkchat.storage.profile_files import ProfileFolders

_SHOWN = 100
"""Characters of a text that the user is asked about."""


@dataclass(frozen=True)
class VaultTrust:
    """Approvals hold for one vault and for exactly the content that was seen."""

    where: Paths

    def states(self, *, in_vault: bool = False) -> list[tuple[VaultItem, TrustState]]:
        """All that comes with the vault; with `in_vault`, or if the vault asks for it, the databases in it too.

        Raises `ConfigError` if the vault's settings file is broken.
        """
        return self._store.states(self.where.vault_key, self._items(in_vault=in_vault))

    def is_approved(self, item: VaultItem) -> bool:
        return self._store.is_approved(self.where.vault_key, item)

    def approve(self, items: Iterable[VaultItem]) -> None:
        self._store.decide(self.where.vault_key, items, "approved")

    def decline(self, items: Iterable[VaultItem]) -> None:
        self._store.decide(self.where.vault_key, items, "declined")

    def revoke(self) -> None:
        self._store.revoke(self.where.vault_key)

    def approve_own(self, before: VaultItem | None, after: VaultItem) -> bool:
        """Approve what the user just wrote, unless it holds something that was there before and is not approved.

        `before` is None where nothing was there. Tells whether it is approved now.
        """
        if before is not None and not self.is_approved(before):
            return False
        self.approve([after])
        return True

    def page_is_approved(self, name: str, text: str) -> bool:
        return self.is_approved(page_item(name, text))

    def profiles(self, folders: "ProfileFolders") -> "Iterator[ProfileFile]":
        """The files of agents and rules; those of the vault say whether they are approved."""
        files = list(folders.files())
        items = {file.path: profile_item(file) for file in files if file.origin == "vault" and not file.trouble}
        states = dict(self._store.states(self.where.vault_key, items.values()))
        for file in files:
            item = items.get(file.path)
            yield file if item is None else file.model_copy(update={"is_approved": states[item] == "approved"})

    @property
    def _store(self) -> "TrustStore":
        from zkchat.config.trust import TrustStore

        return TrustStore(self.where.trust)

    def _items(self, *, in_vault: bool) -> Iterator[VaultItem]:
        from zkchat.config.toml_file import UnreadableFile
        from zkchat.config.vault_file import read_vault_file
        from zkchat.storage.profile_files import ProfileFolders

        try:
            requested = read_vault_file(self.where.vault_config)
        except UnreadableFile:
            requested = None  # its settings are left out, with a warning
        if requested and requested.requests:
            yield requested.item
            in_vault = in_vault or requested.requests.get("storage.location") == "vault"
        for file in ProfileFolders(vault=self.where.vault, config=self.where.user_config.parent).files():
            if file.origin == "vault" and not file.trouble:
                yield profile_item(file)
        yield from self._pages()
        if in_vault:
            yield from database_items(self.where.vault)

    def _pages(self) -> Iterator[VaultItem]:
        from zkchat.memory.project import FILES

        for name in FILES:
            text = page_text(self.where.vault, name)
            if text is not None:
                yield page_item(name, text)


def page_text(vault: Path, name: str) -> str | None:
    """As much of the vault's page as can ever be used; None where there is none that can be read."""
    from zkchat.errors import VaultError
    from zkchat.memory.project import LARGEST
    from zkchat.storage.vault_files import VaultFiles

    try:
        return VaultFiles(vault, exclude=(), max_note_bytes=20 * LARGEST).read(name)[:LARGEST]
    except VaultError:
        return None


def page_item(name: str, text: str) -> VaultItem:
    from zkchat.memory.project import imports_of

    imported = imports_of(text)
    imports = (f"brings in {', '.join(imported)}"[: 2 * _SHOWN],) if imported else ()
    return vault_item("page", name, text, (_size(text), *imports, _beginning(text)))


def profile_item(file: "ProfileFile") -> VaultItem:
    from zkchat.agents.profiles import built_in
    from zkchat.agents.reading import agent_of
    from zkchat.model.profile import Agent

    about = [_size(file.text)]
    profile = agent_of(file) if file.kind == "agent" else None
    if isinstance(profile, Agent):
        about += [f"asks for the model {profile.model}"] * bool(profile.model)
        about += [f"context.{name} = {value}" for name, value in profile.context.items()]
        if any(each.name == file.name.casefold() for each in built_in()):
            about.append("takes the place of the agent of this name that comes with zkchat")
    body = profile.text if isinstance(profile, Agent) else file.text
    return vault_item(file.kind, file.name, file.text, (*about, _beginning(body)))


def database_items(vault: Path) -> Iterator[VaultItem]:
    """The databases in the vault. They change with every use, so an approval is for the name."""
    from zkchat.storage.locations import DATABASES

    for name in DATABASES:
        try:
            size = (vault / ".zkchat" / name).lstat().st_size
        except OSError:
            continue
        yield database_item(name, (f"{size:,} bytes",))


def database_item(name: str, about: tuple[str, ...] = ()) -> VaultItem:
    return vault_item("database", name, "", about)


def _size(text: str) -> str:
    count = len(text)
    return f"{count:,} character{'s' * (count != 1)}"


def _beginning(text: str) -> str:
    line = " ".join(text[: 5 * _SHOWN].split())
    return f"“{line[:_SHOWN]}{'…' * (len(line) > _SHOWN or len(text) > 5 * _SHOWN)}”"
