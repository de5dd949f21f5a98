"""MCP servers of the user as the chat knows them: how each is reached, what it offers, and what it answered."""

import json
from hashlib import sha256
from typing import Any, Literal

from msgspec import field

from zkchat.model.values import Value

ServerState = Literal["waiting", "connecting", "ready", "lost", "failed", "disabled"]
"""`lost`: it was ready, and its connection ended; what it offered stays listed, and a call tries to connect again."""
ServerOrigin = Literal["user", "vault"]


class ServerDefinition(Value, frozen=True, kw_only=True):
    """How a server is started or reached, as it is written in the settings; variables are not expanded yet."""

    name: str
    command: str = ""
    """Of a server that is started as a process and speaks over its standard streams; else empty."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    """Of a server that is reached over HTTP; else empty."""
    headers: dict[str, str] = field(default_factory=dict)
    is_local: bool = False
    """Whether the user declared that nothing sent to it leaves this machine."""
    is_enabled: bool = True
    call_seconds: float = 60.0
    """How long a call may take."""
    origin: ServerOrigin = "user"

    def __repr__(self) -> str:
        """Without arguments, variables, address and headers, which may hold keys."""
        return f"{type(self).__name__}(name={self.name!r}, origin={self.origin!r})"


class ServerTool(Value, frozen=True, kw_only=True):
    """A tool as a server describes it."""

    server: str
    name: str
    """The server's own."""
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    is_read_only: bool = False
    """Whether the server says that a call changes nothing."""

    @property
    def digest(self) -> str:
        """Of all that the server says of it: an approval of a tool is for that."""
        said = [self.name, self.description, self.parameters, self.is_read_only]
        return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


class ServerResource(Value, frozen=True, kw_only=True):
    server: str
    uri: str
    name: str = ""
    description: str = ""
    media_type: str = ""


class PromptArgument(Value, frozen=True, kw_only=True):
    name: str
    description: str = ""
    is_required: bool = False


class ServerPrompt(Value, frozen=True, kw_only=True):
    server: str
    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


class ServerStatus(Value, frozen=True, kw_only=True):
    """Where the connection to a server stands, and what the server offers."""

    definition: ServerDefinition
    state: ServerState = "waiting"
    problem: str = ""
    """Why it failed, as a sentence."""
    version: str = ""
    """What the server calls itself."""
    protocol: str = ""
    """The revision of the protocol that both speak."""
    log: str = ""
    """The file with what its process wrote beside the protocol; empty for a server that is reached over HTTP."""
    tools: tuple[ServerTool, ...] = ()
    resources: tuple[ServerResource, ...] = ()
    prompts: tuple[ServerPrompt, ...] = ()

    @property
    def name(self) -> str:
        return self.definition.name


class ServerAnswer(Value, frozen=True, kw_only=True):
    """What a call, a resource or a prompt gave, as text; it is data."""

    text: str
    uris: tuple[str, ...] = ()
    """Of the resources that it names."""
    failed: bool = False
    hint: str = ""
    """Where the user finds more about a fault: a path of this machine, so it is not for the model."""
