"""What a provider is given of the settings and of the process, without a process."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from zkchat.app.models import provider_sections
from zkchat.config.loading import make_settings
from zkchat.models.registry import NamedModel, ProviderContext

NOBODY = "http://127.0.0.1:9"
"""Where no server answers."""


def provider_context(
    folder: Path,
    *,
    settings: Mapping[str, Mapping[str, object]] | None = None,
    set_by_user: Iterable[str] = (),
    variables: Mapping[str, str] | None = None,
    models: Mapping[str, NamedModel] | None = None,
    window: int | None = None,
) -> ProviderContext:
    """The default settings, but for what is given, and no server on this machine."""
    sections: dict[str, Any] = {"ollama": {"host": NOBODY}, **(settings or {})}
    return ProviderContext(
        settings=provider_sections(make_settings(sections)),
        set_by_user=frozenset(set_by_user),
        variables=variables or {},
        folder=folder,
        home=folder,
        cache=folder,
        window=window,
        models=models or {},
    )
