"""`[models.NAME]`: models by names of the user's own."""

import tomllib
from pathlib import Path
from typing import get_args

import pytest

from zkchat.config.edit import set_value, unset
from zkchat.config.files import read_vault_file
from zkchat.config.loading import Loaded, Origin, load
from zkchat.config.schema import value_of
from zkchat.config.sections import Model
from zkchat.core.errors import ConfigError
from zkchat.core.prompt import ProviderName

*_MOST, _LAST = (f'"{name}"' for name in get_args(ProviderName))
PROVIDER_CHOICES = f"{', '.join(_MOST)} or {_LAST}"

FAST = """\
[models.fast]  # for the train
provider = "ollama"
id = "qwen3:4b"
context_limit = 8192
temperature = 0
options = { top_p = 0.9, stop = ["END"] }
"""


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    file = tmp_path / "vault" / ".zkchat" / "config.toml"
    file.parent.mkdir(parents=True)
    return file


def loaded(user: Path, vault: Path | None = None, *, trusted: bool = False, **variables: str) -> Loaded:
    return load(user, vault, variables, {}, lambda _: trusted)


def refused(user: Path, text: str) -> ConfigError:
    user.write_text(text)
    with pytest.raises(ConfigError) as caught:
        loaded(user)
    return caught.value


def test_a_table_describes_a_model_and_each_of_its_values_has_an_origin(user: Path) -> None:
    user.write_text(FAST)
    found = loaded(user)
    assert found.settings.models == {
        "fast": Model(
            provider="ollama",
            id="qwen3:4b",
            context_limit=8192,
            temperature=0,
            options={"top_p": 0.9, "stop": ["END"]},
        )
    }
    assert found.origins["models.fast.id"] == Origin("user", str(user))
    assert found.origins["models.fast.calls_tools"] == Origin("default")
    assert value_of(found.settings, "models.fast.options") == {"top_p": 0.9, "stop": ["END"]}


def test_a_vaults_tables_count_only_after_approval_and_then_beside_the_users_own(user: Path, vault: Path) -> None:
    user.write_text(FAST)
    vault.write_text('[models.fast]\nid = "evil"\n[models.slow]\nprovider = "openai"\nid = "big"\n')
    before = loaded(user, vault)
    assert before.settings.models["fast"].id == "qwen3:4b"
    assert "slow" not in before.settings.models
    assert before.unapproved == ("models.fast.id", "models.slow.id", "models.slow.provider")
    assert set(read_vault_file(vault).requests) == {"models.fast.id", "models.slow.id", "models.slow.provider"}
    after = loaded(user, vault, trusted=True).settings.models
    assert {name: model.id for name, model in after.items()} == {"fast": "evil", "slow": "big"}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("provider = 'olama'", f'{PROVIDER_CHOICES}, but it is the text "olama".'),
        ("context_limit = '8k'", 'a whole number of at least 256, but it is the text "8k".'),
        ("temperature = 3", "a number of at least 0 and up to 2, but it is 3."),
        ("calls_tools = 'yes'", 'true or false, but it is the text "yes".'),
        ("options = 'x'", 'a table, but it is the text "x".'),
        ("id = ''", 'the name that the provider knows it by, but it is the text "".'),
    ],
)
def test_a_wrong_value_is_told_with_its_model(user: Path, line: str, says: str) -> None:
    field = line.partition(" ")[0]
    rest = "".join(row for row in FAST.splitlines(keepends=True) if not row.startswith(f"{field} "))
    error = refused(user, f"{rest}{line}\n")
    assert error.message.startswith(f"'models.fast.{field}' in {user} must be ")
    assert says in error.message


def test_a_model_without_a_provider_is_told_as_such(user: Path) -> None:
    error = refused(user, '[models.fast]\nid = "x"\n')
    assert error.message == f"The model 'models.fast' in {user} has no 'provider'."
    assert error.hint == f"Set 'models.fast.provider'. It must be {PROVIDER_CHOICES}."


@pytest.mark.parametrize("name", ["ollama:mine", "my model", "quote", ""])
def test_what_could_be_taken_for_something_else_is_no_name(user: Path, name: str) -> None:
    error = refused(user, FAST.replace("models.fast", f'models."{name}"'))
    assert f"'{name}' in {user} cannot be the name of a model." in error.message


def test_a_model_can_be_made_and_changed_by_command_and_comments_stay(user: Path) -> None:
    user.write_text(FAST)
    set_value(user, "models.fast.context_limit", "4096")
    assert user.read_text() == FAST.replace("8192", "4096")
    set_value(user, "models.slow.provider", "openai")
    set_value(user, "models.slow.id", "big")
    set_value(user, "models.slow.options", '{ reasoning_effort = "low" }')
    set_value(user, "models.slow.calls_tools", "false")
    slow = loaded(user).settings.models["slow"]
    assert slow == Model(provider="openai", id="big", calls_tools=False, options={"reasoning_effort": "low"})


def test_a_whole_model_can_be_removed(user: Path) -> None:
    user.write_text(f'model = "quote"\n{FAST}')
    assert unset(user, "models.fast")
    assert tomllib.loads(user.read_text()) == {"model": "quote"}
    assert not unset(user, "models.fast.id")
