"""The settings in force for a vault, and what that vault may not do without the user's approval."""

from typing import TYPE_CHECKING

from zkchat.compose.paths import Paths
from zkchat.compose.trust import VaultTrust
from zkchat.environment import Environment
from zkchat.errors import ConfigError

if TYPE_CHECKING:
    from zkchat.config.load import Loaded
    from zkchat.model.profile import Agent
    from zkchat.model.trust import TrustState, VaultItem


def load_settings(
    environment: Environment, paths: Paths, *, model: str | None = None, agent: "Agent | None" = None
) -> "Loaded":
    """The settings in force, with the model that the user named and what an agent changes."""
    from zkchat.config.load import load

    flags = {f"context.{name}": value for name, value in agent.context.items()} if agent else {}
    chosen = model or (agent.model if agent else "") or None
    return load(
        paths.user_config,
        paths.vault_config,
        environment.variables,
        {"model": chosen, **flags},
        VaultTrust(paths).is_approved,
    )


def trust_states(environment: Environment, paths: Paths) -> "list[tuple[VaultItem, TrustState]]":
    """All that comes with the vault, with the user's decisions; databases too, where they are to be used."""
    try:
        in_vault = load_settings(environment, paths).settings.storage.location == "vault"
    except ConfigError:
        in_vault = False  # approved settings may be wrong: then this is how to take the approval back
    return VaultTrust(paths).states(in_vault=in_vault)
