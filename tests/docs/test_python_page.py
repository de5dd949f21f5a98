"""docs/python.md: its examples run and print what it says, and it lists the API as it is.

When the list differs, the public API has changed: put the expected one between the markers.
"""

import contextlib
import inspect
import io
import re

import pytest

import zkchat
from tests.support.doc_examples import DOCS
from tests.support.world import World
from zkchat import api
from zkchat.core.errors import ZkchatError
from zkchat.version import __version__

PAGE = (DOCS / "python.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
FUNCTIONS = ("open_vault", "to_plain")
BEGIN, END = "<!-- api -->\n", "<!-- /api -->"


@pytest.fixture(autouse=True)
def _own_home(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "ZKCHAT_VAULT", "ZKCHAT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.setenv("ZKCHAT_OLLAMA__HOST", "http://127.0.0.1:9")
    monkeypatch.chdir(DOCS.parent)


def test_every_example_says_what_it_prints() -> None:
    assert len(EXAMPLES) == PAGE.count("```python") == 7


@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_an_example_prints_what_the_page_says(code: str, printed: str) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "docs/python.md", "exec"), {"__name__": "example"})
    assert out.getvalue() == printed


def listed() -> str:
    lines = [f"- `{_signature(name, getattr(api, name))}`" for name in FUNCTIONS]
    fields = [name for name in api.Vault.__struct_fields__ if not name.startswith("_")]
    members = [name for name in vars(api.Vault) if not name.startswith("_") and name not in fields]
    for name in (*fields, *members):
        member = inspect.getattr_static(api.Vault, name, None)
        lines.append(f"- `{_signature(f'Vault.{name}', member) if inspect.isfunction(member) else f'Vault.{name}'}`")
    values = sorted(set(api.__all__) - {*FUNCTIONS, "Vault"})
    errors = [name for name in values if _is_error(name)]
    lines.append(f"- values: {', '.join(f'`{name}`' for name in values if name not in errors)}")
    lines.append(f"- errors: {', '.join(f'`{name}`' for name in errors)}")
    return "\n".join(lines) + "\n"


def _signature(name: str, function: object) -> str:
    """The name and its parameters with their defaults, without types."""
    assert callable(function)
    signature = inspect.signature(function)
    parameters = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    shown = signature.replace(parameters=[each for each in parameters if each.name != "self"])
    return f"{name}{shown.replace(return_annotation=inspect.Signature.empty)}"


def _is_error(name: str) -> bool:
    value = getattr(api, name)
    return isinstance(value, type) and issubclass(value, ZkchatError)


def test_the_page_lists_the_api() -> None:
    assert PAGE.partition(BEGIN)[2].partition(END)[0] == listed()


def test_the_version_is_offered() -> None:
    assert zkchat.__version__ == __version__


def test_an_answer_is_not_waited_for_in_an_event_loop(world: World) -> None:
    import asyncio

    async def ask() -> None:
        with api.open_vault(world.vault, model="quote") as vault:
            vault.answer("Anything?")

    with pytest.raises(api.UsageError, match="event loop"):
        asyncio.run(ask())


def test_a_turn_that_fails_raises_an_error_of_its_kind(world: World) -> None:
    world.note("Sleep.md", "# Sleep\n\nEight hours.\n")
    model = world.script([{"error": "The server is gone."}])
    with api.open_vault(world.vault) as vault, pytest.raises(api.ProviderError):
        vault.answer("How long is [[Sleep]]?", model=model)
    with api.open_vault(world.vault) as vault, pytest.raises(api.UsageError):
        vault.answer("  ")
    world.configure("[context]\nauto_compact = false\n")
    with api.open_vault(world.vault) as vault, pytest.raises(api.UsageError, match="context is full"):
        vault.answer("Why? " * 5_000, model=world.script([], context_limit=4096))


def test_an_answer_without_a_word_raises_what_a_user_would_read(world: World) -> None:
    world.note("Sleep.md", "Adults need seven hours of sleep.\n")
    with api.open_vault(world.vault) as vault, pytest.raises(api.NoAnswer, match="answered nothing") as caught:
        vault.answer("How long?", model=world.script([{"thinking": "Hm."}]))
    assert "choose another model" in caught.value.hint
