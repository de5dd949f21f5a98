"""The vault as a language server for editors."""

from typing import TYPE_CHECKING

from zkchat.lazy import lazy_names

if TYPE_CHECKING:
    from zkchat.lsp.server import serve
else:
    __getattr__ = lazy_names(__name__, __file__)
