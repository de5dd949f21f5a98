"""What comes with a vault and acts only after the user's approval; files of agents and rules."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from zkchat import chat
from zkchat.app.paths import Paths
from zkchat.chat import Profiles, build_profiles
from zkchat.config import TrustStore, read_vault_file, read_vault_servers, server_item, server_of
from zkchat.core import (
    PAGES,
    ConfigError,
    ProfileFile,
    ProfileKind,
    ProfileProblem,
    Scope,
    TrustState,
    UsageError,
    VaultError,
    VaultItem,
    counted,
    database_item,
    describe_for_approval,
    shorten,
    vault_item,
)
from zkchat.storage import DATABASES, ProfileFolders, VaultFiles

_EXCERPT_LENGTH = 100
"""Characters of a text that the user is asked about."""


class VaultTrust(Struct, frozen=True):
    """Approvals hold for one vault and for exactly the content that was seen."""

    paths: Paths

    def states(self, *, in_vault: bool = False) -> list[tuple[VaultItem, TrustState]]:
        """All that comes with the vault; with `in_vault`, or if the vault asks for it, the databases in it too."""
        return self._store.states(self.paths.vault_key, self._items(in_vault=in_vault))

    def is_approved(self, item: VaultItem) -> bool:
        return self._store.is_approved(self.paths.vault_key, item)

    def approved(self) -> frozenset[tuple[str, str]]:
        """All that is approved, also of what is not there now."""
        return self._store.approved(self.paths.vault_key)

    def takes_back(self, approved: Iterable[tuple[str, str]]) -> bool:
        """Whether something that `approved` named before is not approved any more."""
        return self._store.takes_back(self.paths.vault_key, approved)

    def approve(self, items: Iterable[VaultItem]) -> None:
        self._store.decide(self.paths.vault_key, items, "approved")

    def decline(self, items: Iterable[VaultItem]) -> None:
        self._store.decide(self.paths.vault_key, items, "declined")

    def revoke(self) -> None:
        self._store.revoke(self.paths.vault_key)

    def approve_own(self, before: VaultItem | None, after: VaultItem) -> bool:
        """Approve what the user just wrote, unless it holds something that was there before and is not approved.

        `before` is None where nothing was there. Whether it is approved now.
        """
        if before is not None and not self.is_approved(before):
            return False
        self.approve([after])
        return True

    def profiles(self, folders: ProfileFolders) -> Iterator[ProfileFile]:
        """The files of agents and rules; those of the vault say whether they are approved."""
        files = list(folders.files())
        items = {file.path: profile_item(file) for file in files if file.origin == "vault" and not file.read_error}
        states = dict(self._store.states(self.paths.vault_key, items.values()))
        for file in files:
            item = items.get(file.path)
            yield file if item is None else replace(file, is_approved=states[item] == "approved")

    @property
    def _store(self) -> TrustStore:
        return TrustStore(self.paths.trust)

    def _items(self, *, in_vault: bool) -> Iterator[VaultItem]:
        try:
            requested = read_vault_file(self.paths.vault_config)
        except ConfigError:
            requested = None  # its settings are left out, with a warning
        if requested and requested.requests:
            yield requested.item
            in_vault = in_vault or requested.requests.get("storage.location") == "vault"
        for file in ProfileFolders(vault=self.paths.vault, config=self.paths.user_config.parent).files():
            if file.origin == "vault" and not file.read_error:
                yield profile_item(file)
        for name in PAGES:
            text = page_text(self.paths.vault, name)
            if text is not None:
                yield page_item(name, text)
        with suppress(ConfigError):  # then none of them counts, and `zkchat config servers list` says why
            yield from map(server_item, read_vault_servers(self.paths.vault).definitions)
        for name in DATABASES if in_vault else ():
            with suppress(OSError):
                yield database_item(name, (self.paths.vault / ".zkchat" / name).lstat().st_size)


def page_text(vault: Path, name: str) -> str | None:
    """As much of the vault's page as can ever be used; None where there is none that can be read."""
    try:
        return VaultFiles(vault, exclude=(), max_note_bytes=20 * chat.MAX_FILE_CHARS).read(name)[: chat.MAX_FILE_CHARS]
    except VaultError:
        return None


def page_item(name: str, text: str) -> VaultItem:
    return vault_item("page", name, text)


def profile_item(file: ProfileFile) -> VaultItem:
    return vault_item(file.kind, file.name, file.text)


def describe_item(item: VaultItem) -> Iterator[str]:
    """Describe an item in lines that the user reads before deciding."""
    match item.kind:
        case "settings":
            for key, value in json.loads(item.content).items():
                yield shorten(f"{key} = {json.dumps(value, ensure_ascii=False)}", 2 * _EXCERPT_LENGTH)
        case "database":
            yield f"{int(item.content):,} bytes"
        case "agent":
            yield counted(len(item.content), "character")
            yield from _describe_agent(item)
        case "page":
            yield counted(len(item.content), "character")
            if imported := chat.imports_of(item.content):
                yield shorten(f"includes the text of {', '.join(imported)}", 2 * _EXCERPT_LENGTH)
            yield _excerpt(item.content)
        case "rule":
            yield counted(len(item.content), "character")
            yield _excerpt(item.content)
        case "server":
            yield from describe_for_approval(server_of(item))


def _describe_agent(item: VaultItem) -> Iterator[str]:
    agent = chat.parse_agent(
        ProfileFile(kind="agent", name=item.name, origin="vault", path=item.name, text=item.content)
    )
    if isinstance(agent, ProfileProblem):
        yield _excerpt(item.content)
        return
    if not agent.enabled:
        yield "is switched off"
    if agent.model:
        yield shorten(f"asks for the model {agent.model}", 2 * _EXCERPT_LENGTH)
    for name, value in agent.context.items():
        yield shorten(f"context.{name} = {value}", 2 * _EXCERPT_LENGTH)
    if item.name.casefold() in chat.BUILT_IN:
        yield "replaces zkchat's built-in agent of this name"
    yield _excerpt(agent.text)


def _excerpt(text: str) -> str:
    line = " ".join(text[: 5 * _EXCERPT_LENGTH].split())
    return f"“{line[:_EXCERPT_LENGTH]}{'…' * (len(line) > _EXCERPT_LENGTH or len(text) > 5 * _EXCERPT_LENGTH)}”"


def left_out_sentence(left_out: Sequence[tuple[VaultItem, TrustState]]) -> str:
    """That these items are not used, and what to do about it."""
    names = [f"{item.kind} {item.name}" for item, _ in left_out[:3]]
    more = f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
    return f"Came with the vault, ignored until you approve it: {', '.join(names)}{more}. Review: zkchat config trust"


class ProfileStore(Struct, frozen=True):
    """Reads and writes the files. What the user writes into the vault is approved by writing it."""

    paths: Paths

    def load(self) -> Profiles:
        """The agents and rules in use, and why others are not."""
        return build_profiles(VaultTrust(self.paths).profiles(self._folders))

    def files(self) -> list[ProfileFile]:
        return list(self._folders.files())

    def create(self, scope: Scope, kind: ProfileKind, name: str, text: str) -> ProfileFile:
        """Write a file that is not there yet. Raises `UsageError` where one is."""
        file = self._folders.path_of(scope, kind, name)
        if os.path.lexists(file):
            raise UsageError(f"{file} already exists.", hint="Open it in your editor, or choose another name.")
        created = ProfileFile(kind=kind, name=name, origin=scope, path=str(file), text=text)
        self.write(created, text, None)
        return created

    def write(self, file: ProfileFile, text: str, before: ProfileFile | None) -> bool:
        """Write a file, and approve it as `approve_own` does. Whether it is used."""
        assert file.origin != "built-in"
        self._folders.write(file.origin, Path(file.path), text)
        return self.approve_own(replace(file, text=text), before)

    def approve_own(self, after: ProfileFile, before: ProfileFile | None) -> bool:
        """Approve a file of the vault that the user just wrote, unless what was there `before` was not approved."""
        if after.origin != "vault":
            return True
        return VaultTrust(self.paths).approve_own(profile_item(before) if before else None, profile_item(after))

    @property
    def _folders(self) -> ProfileFolders:
        return ProfileFolders(vault=self.paths.vault, config=self.paths.user_config.parent)
