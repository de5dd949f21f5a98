import stat
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from tests.support.world import Result, World


@pytest.fixture
def talk(world: World) -> World:
    world.note("Sleep.md", "# Sleep\n\nAdults need seven hours.\n")
    model = world.script([{"thinking": "Hmm, secretly."}, {"text": "Seven hours, says [[Sleep]]."}])
    assert world.run("ask", "How long is [[Sleep]]?", "--model", model).code == 0
    return world


def messages(world: World, session: str) -> list[dict[str, Any]]:
    shown = world.run("sessions", "show", session, "--json").json["messages"]
    return [{**message, "session_id": ""} for message in shown]


def imported(world: World, text: str) -> Result:
    return world.run("context", "import", "--file", "-", stdin=text)


def test_an_export_is_imported_as_the_same_session(talk: World) -> None:
    exported = talk.run("context", "export")
    assert (exported.code, exported.err) == (0, "")
    result = talk.run("context", "import", "--file", "-", "--json", stdin=exported.out)
    assert result.json["messages"] == 2
    session = result.json["session"]
    assert session != exported.json["session"]["id"]
    assert messages(talk, session) == messages(talk, exported.json["session"]["id"])
    model = talk.script([{"text": "Seven."}], [{"text": "Still seven."}])
    went_on = talk.run("ask", "Still?", "--model", model, "--session", session)
    assert (went_on.out, went_on.err, len(messages(talk, session))) == ("Still seven.\n", "", 4)


def test_the_schema_of_exports_is_printed_and_an_export_fits_it(talk: World) -> None:
    schema, exported = talk.run("context", "export", "--schema").json, talk.run("context", "export").json
    jsonschema.validate(exported, schema)
    exported["messages"][0]["role"] = "king"
    with pytest.raises(jsonschema.ValidationError, match="'king' is not one of"):
        jsonschema.validate(exported, schema)


def test_a_file_says_by_its_name_what_it_wants_to_be(talk: World) -> None:
    for name, beginning in (("a.md", "---\n"), ("a.json", "{\n")):
        result = talk.run("context", "export", "--output", name)
        file = talk.vault / name
        assert (result.code, result.out) == (0, "")
        assert str(file) in result.err
        assert file.read_text().startswith(beginning)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    told = talk.run("context", "export", "--output", "b.md", "--json").json
    assert (talk.vault / told["file"]).read_text().startswith("{\n")


def test_a_file_that_is_there_is_written_over_only_after_a_yes(talk: World) -> None:
    file = talk.note("talk.md", "mine")
    refused = talk.run("context", "export", "--output", "talk.md", stdin="")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert file.read_text() == "mine"
    assert talk.run("context", "export", "--output", "talk.md", "--yes").code == 0
    assert file.read_text() != "mine"


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("talk.json", '[{"role": "king", "content": "Hi"}]', "talk.json: Message 1 has the role 'king'"),
        ("talk.json", "[", "talk.json: The file is not JSON: Expecting value at line 1, column 2."),
        ("talk.json", b"\xff\xfe\x00", "talk.json: The file is not UTF-8 text"),
        ("gone.json", "", "gone.json cannot be read: no such file or directory.\n        Give another file, or -"),
    ],
)
def test_a_file_that_cannot_be_imported_is_told_and_nothing_is_stored(
    world: World, file: str, content: str | bytes, told: str
) -> None:
    world.note("talk.json", content)
    result = world.run("context", "import", "--file", file)
    assert result.code in {2, 5}
    assert told in result.err
    assert world.run("sessions", "list", "--all", "--json").json == []


def test_keys_of_the_user_are_in_no_export(talk: World) -> None:
    talk.variables["EXAMPLE_API_KEY"] = "canary-in-plain-words"
    model = talk.script([{"text": "Your key canary-in-plain-words is safe, and sk-abcdefghij0123456789 too."}])
    talk.run("ask", "Is canary-in-plain-words safe?", "--model", model)
    for format_ in ("json", "markdown"):
        out = talk.run("context", "export", "--format", format_).out
        assert "[redacted]" in out
        assert "canary" not in out
        assert "sk-abc" not in out


def test_a_disk_that_fills_up_leaves_no_half_session(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from zkchat.core.errors import StorageFull

    def refuse(*_: object) -> None:
        raise StorageFull("The disk is full.")

    monkeypatch.setattr("zkchat.sessions.store.insert_entries", refuse)
    assert imported(world, '[{"role": "user", "content": "Hi"}]').code == 8
    assert world.run("sessions", "list", "--all", "--json").json == []


def test_an_export_into_the_vault_is_taken_back_by_undo(talk: World) -> None:
    talk.note("Kept.md", "mine")
    assert "zkchat undo reverts it." in talk.run("context", "export", "--output", "Kept.md", "--yes").err
    assert "Seven hours" in (talk.vault / "Kept.md").read_text()
    assert talk.run("undo", "--yes").code == 0
    assert (talk.vault / "Kept.md").read_text() == "mine"
    assert "undo" not in talk.run("context", "export", "--output", ".hidden.json").err
    assert (talk.vault / ".hidden.json").is_file()


def test_a_folder_is_no_file_to_export_to(talk: World) -> None:
    result = talk.run("context", "export", "--output", ".")
    assert (result.code, "is a folder" in result.err) == (2, True)
