"""What servers share: conversations whose user is elsewhere, and HTTP for whoever has the token."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.hosting.conversations import (
        ASKED_AGAIN,
        BUSY,
        HELP,
        NOT_OFFERED,
        REPLACED,
        ChatOptions,
        HostedChat,
        HostedInterface,
        MarkdownSurface,
        Worker,
        cleaned,
        fenced,
        offered_commands,
    )
    from zkchat.hosting.http import (
        ADDRESS,
        NAMES,
        SECONDS_FOR_TOKEN,
        AccessToken,
        Gate,
        Headers,
        access_token,
        hosts_of,
        listen,
        port_of,
        serve_app,
    )
    from zkchat.hosting.vault import NoteService, VaultThread, arguments_of
else:
    __getattr__ = lazy_names(__name__, __file__)
