"""The tools of MCP servers for one conversation: what may be called, what stays on this machine."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from zkchat.chat.local_texts import ConversationLocalTexts
from zkchat.chat.server_access import ServerAccess
from zkchat.tools.server_approval import CallApprovals, CallPolicy, CallReviewer
from zkchat.tools.server_tools import ServerTools

if TYPE_CHECKING:
    from zkchat.chat.privacy import ConversationPrivacy
    from zkchat.compose.live_settings import LiveSettings
    from zkchat.compose.workspace import Workspace
    from zkchat.ports.tool_servers import ToolServers
    from zkchat.vault.library import GuardedLibrary


class ServerParts(Struct, frozen=True, kw_only=True):
    """What the servers of a conversation are used with."""

    servers: "ToolServers"
    approvals: CallApprovals
    reviewer: CallReviewer | None = None
    """None where nobody can be asked."""
    allowed: Sequence[str] = ()
    """Servers and tools that the settings allow unasked, as they are now."""
    waits: bool = False
    """Whether answers wait until servers are connected."""

    @property
    def access(self) -> ServerAccess:
        return ServerAccess(servers=self.servers, waits=self.waits)

    def tools(self, privacy: "ConversationPrivacy", library: "GuardedLibrary") -> ServerTools:
        policy = CallPolicy(
            approvals=self.approvals,
            local=ConversationLocalTexts(privacy=privacy, library=library),
            reviewer=self.reviewer,
            allowed=self.allowed,
        )
        return ServerTools(servers=self.servers, policy=policy, library=library)


def server_parts(
    live: "LiveSettings", servers: "ToolServers", reviewer: CallReviewer | None, *, waits: bool
) -> ServerParts:
    from zkchat.config.call_approvals import StoredApprovals

    workspace = live.workspace
    allowed = [*workspace.settings.mcp.allow]

    def allow_anew(now: "Workspace") -> str:
        allowed[:] = now.settings.mcp.allow
        return ""

    live.follow(allow_anew)
    return ServerParts(
        servers=servers,
        approvals=StoredApprovals(workspace.paths.data / "mcp-approvals.json", workspace.paths.vault_key),
        reviewer=reviewer,
        allowed=allowed,
        waits=waits,
    )
