"""The chat in a browser, and the vault for programs that speak HTTP."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.web.chats import WebOptions
    from zkchat.web.server import Site, is_loopback
else:
    __getattr__ = lazy_names(__name__, __file__)
