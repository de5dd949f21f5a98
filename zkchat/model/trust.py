"""What comes with a vault and acts only after the user's approval, named by its content."""

import hashlib
from typing import Final, Literal

from zkchat.model.values import Value

ItemKind = Literal["settings", "agent", "rule", "page", "server", "database"]
TrustState = Literal["approved", "declined", "changed", "new"]
"""`changed`: other content of the same name was approved or declined before."""

PAGES: Final = ("ZKCHAT.md", "AGENTS.md")
"""Files at the vault's root with instructions for every conversation; the first of them that is there counts."""
HOW_TO_APPROVE: Final = "To see and approve what comes with the vault: zkchat trust"


class VaultItem(Value, frozen=True, kw_only=True):
    """One thing that comes with a vault. An approval holds for exactly this content."""

    kind: ItemKind
    name: str
    digest: str
    content: str = ""
    """What it says; of a database only its size in bytes."""

    @property
    def subject(self) -> str:
        """What it is, whatever its content."""
        return f"{self.kind} {self.name}"


def vault_item(kind: ItemKind, name: str, content: str) -> VaultItem:
    return VaultItem(kind=kind, name=name, digest=_digest(kind, name, content), content=content)


def database_item(name: str, size: int = 0) -> VaultItem:
    """Databases change with every use, so an approval is for the name."""
    return VaultItem(kind="database", name=name, digest=_digest("database", name, ""), content=str(size))


def _digest(kind: ItemKind, name: str, content: str) -> str:
    return hashlib.sha256(f"{kind}\0{name}\0{content}".encode("utf-8", "surrogatepass")).hexdigest()
