"""The models that a chat may switch to: names to complete, the list to choose from, and the check of one."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from zkchat.compose.models import survey_models, verify_model
from zkchat.compose.workspace import Workspace
from zkchat.model.prompt import ModelInfo
from zkchat.model.providers import ModelOverview

FRESH_SECONDS: Final = 60.0
"""How long the names of a list are completed before the servers are asked again."""


class ModelCatalogue:
    """Implements `repl.command_context.ModelCatalogue`. Names are kept from the last list."""

    def __init__(self, workspace: Callable[[], Workspace]) -> None:
        """`workspace` returns that of the present conversation."""
        self._workspace = workspace
        self._names: tuple[str, ...] = ()
        self._asked_at = -FRESH_SECONDS

    @property
    def names(self) -> Sequence[str]:
        """Those known so far. Asks nobody itself: a thread renews them, for the next time."""
        if time.monotonic() - self._asked_at >= FRESH_SECONDS:
            self._asked_at = time.monotonic()
            threading.Thread(target=self._renew, daemon=True).start()
        return self._names or ("quote", *self._workspace().settings.models)

    def _renew(self) -> None:
        with suppress(Exception):  # names are a convenience, and the chat may be ending
            asyncio.run(self.survey(None))

    async def survey(self, in_use: ModelInfo | None) -> ModelOverview:
        overview = await survey_models(self._workspace(), in_use)
        self._names = tuple(row.name for row in overview.rows)
        self._asked_at = time.monotonic()
        return overview

    async def verify(self, name: str) -> ModelInfo:
        return await verify_model(self._workspace(), name)
