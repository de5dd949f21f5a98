"""The chat as an agent of the Agent Client Protocol."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.acp.agent import serve
else:
    __getattr__ = lazy_names(__name__, __file__)
