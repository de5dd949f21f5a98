"""What every provider of the registry promises before a model of it is asked."""

import asyncio
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.providers.players import REAL_MODELS_ONLY, SPEAKERS
from tests.support.provider_contexts import provider_context
from zkchat.core.errors import ConfigError
from zkchat.core.prompt import PROVIDERS, ModelListing, ProviderStatus
from zkchat.models.registry import ProviderContext, ProviderDescriptor, create, descriptor_of, descriptors

HEAVY = {"openai", "ollama", "xllamacpp", "httpx", "tiktoken", "numpy"}


@pytest.fixture(params=PROVIDERS)
def descriptor(request: pytest.FixtureRequest) -> ProviderDescriptor:
    return descriptor_of(request.param)


@pytest.fixture
def context(tmp_path: Path) -> ProviderContext:
    return provider_context(tmp_path)


def test_the_suite_knows_every_provider() -> None:
    assert {*SPEAKERS, *REAL_MODELS_ONLY} == set(PROVIDERS), "tests/providers/players.py needs a row for each"


def test_a_descriptor_has_the_name_of_its_module_and_cannot_be_changed(descriptor: ProviderDescriptor) -> None:
    assert [each.name for each in descriptors()] == list(PROVIDERS)
    assert f"`{descriptor.name}" in descriptor.usage
    with pytest.raises(AttributeError):
        descriptor.name = "other"  # type: ignore[misc]


def test_a_model_that_does_not_exist_is_refused_with_how_models_of_each_provider_are_named(
    descriptor: ProviderDescriptor, context: ProviderContext
) -> None:
    wrong = f"{descriptor.name}:" if descriptor.takes_id else f"{descriptor.name}:x"
    with pytest.raises(ConfigError, match="There is no model") as caught:
        create(wrong, context)
    assert descriptor.usage in caught.value.hint


def test_a_client_library_is_one_that_is_installed(descriptor: ProviderDescriptor) -> None:
    assert not descriptor.library or find_spec(descriptor.library)


def test_without_settings_keys_and_servers_nothing_of_a_provider_fails(
    descriptor: ProviderDescriptor, context: ProviderContext
) -> None:
    assert descriptor.key(context).value == ""
    assert isinstance(asyncio.run(descriptor.list_models(context)), ModelListing | None)
    assert isinstance(descriptor.status(context), ProviderStatus | None)
    choice = descriptor.choose((), context)
    assert choice is None or choice.model == "quote"


def test_a_model_that_is_offered_is_one_that_can_be_created(
    descriptor: ProviderDescriptor, context: ProviderContext
) -> None:
    choice = descriptor.choose(["some"], context)
    if choice and descriptor.name not in REAL_MODELS_ONLY:
        assert create(choice.model, context).info.provider == descriptor.name


def test_descriptors_import_no_client_library() -> None:
    code = "import sys; from zkchat.models.registry import descriptors; assert [*descriptors()]; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name.partition(".")[0] for name in run.stdout.split()} & HEAVY == set()
