"""The loggers of the SDK: what they warn of is said by us, in a sentence; on the terminal it would be noise."""

import logging
from typing import Final

_LOGGERS: Final = ("mcp", "client", "httpx2", "httpcore2", "anyio")


def silence_loggers() -> None:
    """Keep their records from the terminal; handlers that somebody installs still get them."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(handler, logging.NullHandler) for handler in logger.handlers):
            logger.addHandler(logging.NullHandler())
