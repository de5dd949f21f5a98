"""`[models.NAME]`: models by names of the user's own."""

import tomllib
from pathlib import Path
from typing import get_args

import pytest

from zkchat.config.edit import set_value, unset
from zkchat.config.files import read_vault_file
from zkchat.config.loading import Loaded, Origin, load
from zkchat.config.schema import as_key, value_of
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
            provider="ollama", id="qwen3:4b", context_limit=8192, temperature=0, options={"top_p": 0.9, "stop": ["END"]}
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
        ("temperature = 3", "a number of at least 0 and up to 2, but it is 3."),
        ("options = 'x'", 'a table, but it is the text "x".'),
        ("id = ''", 'the model\'s name at the provider, but it is the text "".'),
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


@pytest.mark.parametrize("name", ["ollama:mine", "quote", "", " x", "http://x", "a.id", "a\\tb"])
def test_what_could_be_taken_for_something_else_is_no_name(user: Path, name: str) -> None:
    error = refused(user, FAST.replace("models.fast", f'models."{name}"'))
    assert f"in {user} cannot be the name of a model." in error.message
    assert error.hint.startswith("Choose one line")


NAMES = ("Claude Sonnet 4.5", "gpt-4.1", "anthropic/claude", "Ann's", "qwen3:8b", "id", "größer")


@pytest.mark.parametrize(("name", "quote"), [*((name, "") for name in NAMES), ("gpt-4.1", '"'), ("gpt-4.1", "'")])
def test_any_other_line_is_a_name_with_or_without_quotes_in_a_key(user: Path, name: str, quote: str) -> None:
    key = as_key(f"models.{quote}{name}{quote}")
    set_value(user, f"{key}.provider", "openai")
    set_value(user, as_key(f"models.{quote}{name}{quote}.id"), "m")
    set_value(user, f"{key}.id", "n")
    found = loaded(user)
    assert found.settings.models == {name: Model(provider="openai", id="n")}
    assert tomllib.loads(user.read_text()) == {"models": {name: {"provider": "openai", "id": "n"}}}
    assert found.origins[f"models.{name}.id"].layer == "user"
    assert unset(user, f"{key}.id")
    assert unset(user, key)
    assert loaded(user).settings.models == {}


def test_a_name_with_dots_that_lacks_its_quotes_is_told_how_to_get_them(user: Path) -> None:
    error = refused(user, FAST.replace("models.fast", "models.gpt-4.1"))
    assert error.hint == 'A name with dots needs quotes: [models."gpt-4.1"]'
    assert unset(user, "models.gpt-4.1")
    error = refused(user, FAST.replace("models.fast", 'models."gpt-4.1"') + "tempature = 1\n")
    assert error.hint == "Did you mean 'models.gpt-4.1.temperature'?"


@pytest.mark.parametrize(
    ("headers", "is_valid"),
    [
        ('{ Authorization = "Token ${MY_KEY}", X-Title = "zkchat" }', True),
        ('{ api-key = "abc" }', False),
        ('{ api-key = "${MY_KEY:-abc}" }', False),
        ('{ X-Title = "sk-proj-aaaabbbbccccdddd11112222" }', False),
        ('{ Host = "example.org" }', False),
        ('{ "X Y" = "a" }', False),
        ('{ X-A = "a\\nb" }', False),
        ("{ X-A = 1 }", False),
    ],
)
def test_a_header_is_one_that_can_be_sent_and_a_key_in_it_comes_from_a_variable(
    user: Path, headers: str, is_valid: bool
) -> None:
    text = f"{FAST}headers = {headers}\n"
    if is_valid:
        user.write_text(text)
        assert loaded(user).settings.models["fast"].headers
        return
    error = refused(user, text)
    assert "'models.fast.headers'" in error.message
    assert "abc" not in error.message


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
