"""Five layers, each value with its origin, each mistake with a way out."""

import tracemalloc
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.config.loading import FlagValue, Loaded, Origin, load, parse_value
from zkchat.config.schema import FIELDS, Settings
from zkchat.core.choices import VaultItem
from zkchat.core.errors import ConfigError


class SettingsFiles:
    """A user's and a vault's settings file in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.user = folder / "home" / "config.toml"
        self.vault = folder / "vault" / ".zkchat" / "config.toml"
        self.user.parent.mkdir()
        self.vault.parent.mkdir(parents=True)

    def load(
        self,
        variables: Mapping[str, str] | None = None,
        flags: Mapping[str, FlagValue] | None = None,
        trusted: Callable[[VaultItem], bool] = lambda _: False,
    ) -> Loaded:
        return load(self.user, self.vault, variables or {}, flags or {}, trusted)


@pytest.fixture
def files(tmp_path: Path) -> SettingsFiles:
    return SettingsFiles(tmp_path)


def test_each_layer_wins_over_the_ones_before_it(files: SettingsFiles) -> None:
    layers: list[tuple[str, dict[str, str], dict[str, FlagValue]]] = [
        ("", {}, {}),
        ("user", {}, {}),
        ("vault", {}, {}),
        ("variable", {"ZKCHAT_MODEL": "variable"}, {}),
        ("flag", {"ZKCHAT_MODEL": "variable"}, {"model": "flag", "ui.width": None}),
    ]
    assert files.load().origins.keys() == FIELDS.keys()
    for model, variables, flags in layers:
        if model == "user":
            files.user.write_text('model = "user"')
        if model == "vault":
            files.vault.write_text('model = "vault"')
        loaded = files.load(variables, flags, trusted=lambda _: True)
        assert loaded.settings.model == model
        assert loaded.origins["model"].layer == (model or "default")
        assert loaded.origins["ui.width"] == Origin("default")
    assert files.load(flags={"context.max_tokens": "4096"}).settings.context.max_tokens == 4096


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("ZKCHAT_CONTEXT__MAX_TOKENS", "4096", "context.max_tokens", 4096),
        ("ZKCHAT_MODEL", "1234", "model", "1234"),
        ("ZKCHAT_VAULT__EXCLUDE", "Archive/**, *.tmp.md", "vault.exclude", ["Archive/**", "*.tmp.md"]),
        ("ZKCHAT_VAULT__EXCLUDE", '["a, b", "c"]', "vault.exclude", ["a, b", "c"]),
    ],
)
def test_a_variable_is_read_as_what_the_setting_takes(
    files: SettingsFiles, name: str, text: str, key: str, value: object
) -> None:
    loaded = files.load({name: text, "HOME": "/home/me"})
    assert parse_value(key, text) == value
    assert loaded.origins[key] == Origin("variable", name)


def test_the_variable_that_names_the_vault_is_no_setting(files: SettingsFiles) -> None:
    loaded = files.load({"ZKCHAT_VAULT": "/notes", "ZKCHAT_CONTEXT": "x", "ZKCHAT_SOMETHING_ELSE": "1"})
    assert loaded.settings == Settings()
    assert loaded.warnings == ()
    assert files.load({"ZKCHAT_MODLE": "quote"}).warnings == (
        "The variable ZKCHAT_MODLE is not a setting. Did you mean ZKCHAT_MODEL?",
    )


@pytest.mark.parametrize(
    ("text", "variables", "says", "hint"),
    [
        ("[context]\nmax_token = 5", {}, "'context.max_token' in {file}.", "Did you mean 'context.max_tokens'?"),
        ("max_tokens = 4096", {}, "'max_tokens' in {file}.", "Did you mean 'context.max_tokens'?"),
        ("qqq = 1", {}, "'qqq' in {file}.", "All settings: zkchat config show"),
        (
            "",
            {"ZKCHAT_CONTEXT__MAX_TOKEN": "5"},
            "'context.max_token' in the variable ZKCHAT_CONTEXT__MAX_TOKEN.",
            "Did you mean 'context.max_tokens'?",
        ),
    ],
)
def test_an_unknown_setting_is_named_with_its_place_and_the_nearest_valid_one(
    files: SettingsFiles, text: str, variables: dict[str, str], says: str, hint: str
) -> None:
    files.user.write_text(text)
    with pytest.raises(ConfigError) as caught:
        files.load(variables)
    assert caught.value.message == f"Unknown setting {says.format(file=files.user)}"
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[context]\nmessages_share = 0.8", r"add up to 1\.2, which is more than the whole window"),
        ("[context]\nmax_tokens = 512", r"'context\.reserve_tokens' \(512\) leaves nothing"),
        ('model = "quote"\n[context\nmax_tokens = 5', "config.toml is broken at line 2: "),
        ("model =", "is broken at its end: Invalid value"),
        ("context = 5", r"'context' in .* is a section"),
    ],
)
def test_a_broken_file_and_values_that_do_not_fit_together_are_told(files: SettingsFiles, text: str, says: str) -> None:
    files.user.write_text(text)
    with pytest.raises(ConfigError, match=says) as caught:
        files.load()
    assert caught.value.hint


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("context.max_tokens = 'many'", 'must be a whole number of at least 256, but it is the text "many".'),
        ("context.max_tokens = true", "must be a whole number of at least 256, but it is true."),
        ("context.max_tokens = 10", "must be a whole number of at least 256, but it is 10."),
        (
            f"limits.max_answer_seconds = 1{'0' * 400}",
            "must be a whole number of at least 1, but it is more than 1,000,000,000,000.",
        ),
        ("context.threshold = nan", "must be a number above 0 and up to 1, but it is nan."),
        ("context.threshold = {a = 1}", "must be a number above 0 and up to 1, but it is a table."),
        ("model = 2026-03-01", "must be a text, but it is 2026-03-01."),
        ("vault.exclude = ['a', 7]", "each), but it holds 7."),
        (f"vault.exclude = {['a'] * 201}", "must be a list of texts (at most 200, of up to 300 characters each), but"),
        (
            f"vault.exclude = ['{'a' * 301}']",
            "must be a list of texts (at most 200, of up to 300 characters each), but",
        ),
        ("ui.color = 'red'", 'must be "auto", "always" or "never", but it is the text "red".'),
        (
            "ollama.host = 'localhost'",
            "must be an address that begins with http:// or https://, such as http://127.0.0.1:11434, but it is",
        ),
    ],
)
def test_a_wrong_value_is_told_with_what_is_expected_and_what_was_found(
    files: SettingsFiles, line: str, says: str
) -> None:
    files.user.write_text(line)
    with pytest.raises(ConfigError) as caught:
        files.load()
    key = line.partition(" ")[0]
    assert caught.value.message.startswith(f"'{key}' in {files.user} ")
    assert says in caught.value.message
    assert caught.value.hint == f"Change it, or go back to the default: zkchat config unset {key} --scope user"


def test_a_key_put_where_its_name_belongs_is_never_repeated(files: SettingsFiles) -> None:
    files.user.write_text('[openai]\napi_key_env = "sk-secret"')
    with pytest.raises(ConfigError) as caught:
        files.load()
    assert "never the key itself" in caught.value.message
    assert "sk-secret" not in f"{caught.value.message} {caught.value.hint} {caught.value.__cause__}"


DEEP = {
    "lists": "model = " + "[" * 50_000,
    "a dotted key": ".".join("a" * 1_000) + " = 1",
    "a header": "[" + ".".join(["a", "'b.c'", '"d"'] * 400) + "]",
    "tables in tables": "a = " + "{ b.b.b.b = " * 150 + "1" + " }" * 150,
    "after a text that ends in quotes": 'x = { a = """it\'s\n""""", ' + ".".join("b" * 20) + " = 1 } # '",
    "after an escaped quote": 'x = "\\""\n' + ".".join("b" * 20) + ' = 1 # "',
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_a_file_nested_beyond_all_reason_is_refused_and_no_crash(files: SettingsFiles, text: str) -> None:
    files.user.write_text(text)
    with pytest.raises(ConfigError, match="cannot be used: it is nested more than 16 levels deep"):
        files.load()
    files.user.unlink()
    files.vault.write_text(text)
    tracemalloc.start()
    try:
        assert "nested more than 16 levels deep. Its settings are ignored." in files.load().warnings[0]
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_a_settings_file_may_be_long_but_not_without_end(files: SettingsFiles) -> None:
    files.user.write_text("#" * 256_000)
    assert files.load().settings == Settings()
    files.user.write_text("#" * 256_001)
    with pytest.raises(ConfigError):
        files.load()


def test_dots_in_texts_and_comments_make_no_deep_key(files: SettingsFiles) -> None:
    dots = ".".join("a" * 50)
    files.user.write_text(f'# {dots}\nvault.exclude = [\'{dots}\', """\n{dots}\\"""", \'{dots}\'] # {dots}\n')
    assert files.load().settings.vault.exclude == (dots, f'{dots}"', dots)


@pytest.mark.parametrize(
    "content", ["[privacy\nlocal_only = ['Diary']", b"\xff\xfe", "x = 1\n" * 200_000], ids=range(3)
)
def test_of_a_vaults_file_that_cannot_be_read_it_is_not_known_what_it_keeps_back(
    files: SettingsFiles, content: str | bytes
) -> None:
    assert files.load().privacy_unknown == ""
    files.vault.write_bytes(content.encode() if isinstance(content, str) else content)
    loaded = files.load()
    assert loaded.settings == Settings()
    assert str(files.vault) in loaded.privacy_unknown
    assert loaded.warnings == (f"{loaded.privacy_unknown} Its settings are ignored.",)


def test_untrusted_endpoints_of_a_vault_are_left_out_and_the_rest_is_used(files: SettingsFiles) -> None:
    files.vault.write_text('model = "openai:x"\n[ui]\ncolor = "never"\n[ollama]\nhost = "http://evil.example"')
    loaded = files.load()
    assert loaded.settings.ollama.host == "http://127.0.0.1:11434"
    assert loaded.origins["ollama.host"] == Origin("default")
    assert loaded.settings.model == ""
    assert loaded.settings.ui.color == "never"
    files.user.write_text('[ollama]\nhost = "http://mine:1"')
    assert files.load().settings.ollama.host == "http://mine:1"
    files.vault.write_text('"ollama.host" = "http://evil.example"')
    assert files.load().settings.ollama.host == "http://mine:1", "a quoted key does not get around trust"
    assert loaded.every_warning == (
        "Settings of the vault, ignored until you approve them: model, ollama.host. To see and approve what comes with "
        "the vault: zkchat config trust",
    )


def test_approval_is_asked_about_the_values_and_not_about_the_rest_of_the_file(files: SettingsFiles) -> None:
    asked: list[str] = []

    def remember(item: VaultItem) -> bool:
        asked.append(item.digest)
        return True

    for text in (
        '[ollama]\nhost = "http://a:1"',
        '# comment\n[ollama]\nhost = "http://a:1"\n[ui]\ncolor = "never"',
        '[ollama]\nhost = "http://b:1"',
        '[ui]\ncolor = "never"',
    ):
        files.vault.write_text(text)
        files.load(trusted=remember)
    first, same, other = asked
    assert first == same != other


def test_a_vaults_file_that_links_out_of_the_vault_is_not_followed(files: SettingsFiles) -> None:
    outside = files.user.parent / "outside.toml"
    outside.write_text('model = "outside"')
    files.vault.symlink_to(outside)
    loaded = files.load()
    assert loaded.settings.model == ""
    assert loaded.warnings == (f"{files.vault} cannot be read: it is a symbolic link. Its settings are ignored.",)


@pytest.mark.parametrize("key", ["storage.location", "context.max_tokens", "memory.learn", "vault.max_note_bytes"])
def test_every_setting_that_is_not_harmless_waits_for_approval(files: SettingsFiles, key: str) -> None:
    section, name = key.split(".")
    files.vault.write_text(f'[{section}]\n{name} = "of the wrong kind"')
    loaded = files.load()
    assert loaded.settings == Settings()
    assert loaded.unapproved == (key,)


def test_a_setting_of_the_future_waits_for_approval_and_is_then_left_out_with_a_warning(files: SettingsFiles) -> None:
    files.vault.write_text('[plugins.x]\ncommand = "rm"\n[ui]\ncolor = "never"\nsound = true')
    loaded = files.load()
    assert (loaded.settings.ui.color, loaded.unapproved, loaded.warnings) == ("never", ("plugins", "ui.sound"), ())
    warnings = files.load(trusted=lambda _: True).warnings
    assert [warning.partition(" in ")[0] for warning in warnings] == [
        "Unknown setting 'plugins'",
        "Unknown setting 'ui.sound'",
    ]


@pytest.mark.parametrize(
    "text", ['[privacy]\nlocal_onyl = ["a"]', 'local_only = ["a"]', "privacy = 5", '[vault]\nlocal_only = ["a"]']
)
def test_a_misspelt_wish_for_privacy_is_never_passed_over(files: SettingsFiles, text: str) -> None:
    files.vault.write_text(text)
    with pytest.raises(ConfigError, match="Unknown setting"):
        files.load()


def test_a_vault_adds_to_what_the_user_leaves_out_and_takes_nothing_away(files: SettingsFiles) -> None:
    files.user.write_text('[vault]\nexclude = ["Diary/**"]')
    files.vault.write_text('[vault]\nexclude = ["Archive/**"]')
    assert files.load().settings.vault.exclude == ("Diary/**", "Archive/**")


@given(st.sampled_from(sorted(FIELDS)), st.text() | st.just("\udcff"))
@settings(deadline=None, max_examples=100)
def test_any_text_in_any_variable_gives_settings_or_a_config_error(key: str, text: str) -> None:
    variable = "ZKCHAT_" + key.upper().replace(".", "__")
    with suppress(ConfigError):
        load(Path("/nowhere/config.toml"), None, {variable: text}, {}, lambda _: False)
