"""A note that is to stay on this machine, and every way by which an MCP host could get something of it.

Each attempt is made in a vault with the note and in one without it. The host must get the same answer in both, and with
`--local` something of the note, or else the attempt proves nothing.
"""

import asyncio
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.egress import FILE, ID, OPEN, SECRET, embed_elsewhere, leaked
from tests.support.embedding_server import EmbeddingServer
from tests.support.mcp_attempts import requests_for
from tests.support.mcp_lines import answers, call, modern
from tests.support.world import World
from zkchat.app.workspace import load_workspace
from zkchat.core.errors import ConfigError, ExitCode
from zkchat.mcp.service import HostOptions, VaultService

CHANGED_AT: Final = 1_770_000_000
"""When the notes were changed, lest an answer tells how long the test took."""
NAMES: Final = {
    "id": ID,
    "title": "Wombattitle",
    "title in small letters": "wombattitle",
    "alias": "Numbatalias",
    "alias in capitals": "NUMBATALIAS",
    "file": f"{ID} Quokkafile",
    "path": FILE,
    "path in small letters": FILE.lower(),
    "rooted path": f"/{FILE}",
    "path round about": f"./Diaries/../{FILE}",
    "link": "[[Wombattitle]]",
    "displayed link": f"[[{ID}|it]]",
    "embed": f"![[{ID}]]",
    "Markdown link": f"[it](<{FILE}>)",
    "heading": "[[Numbatalias#Dunnartheading]]",
    "block": f"[[{ID}#^bettongblock]]",
    "misspelled": "Wombatitle",
}
QUERIES: Final = {
    "words": "lighthouse password",
    "secret": "Quollsecret",
    "phrase": '"lighthouse password is"',
    "prefix": "quollsec",
    "title": "Wombattitle",
    "alias": "Numbatalias",
    "heading": "Dunnartheading",
    "tag": "tag:bilbytag",
    "path": "path:Diaries",
    "wildcard": "path:D*",
    "date": "lighthouse after:2020-01-01",
    "without": "password -keeper",
}
ABOUT_VAULT: Final = (
    "How many notes do I have?",
    "Which notes did I change last?",
    "Which tags do I have?",
    "What is in my vault?",
    "Which notes have no links to them?",
    "Which links are broken?",
    "Which is my longest note?",
    "Which notes link to Open garden?",
    "Which notes are in the folder Diaries?",
    "Which notes have the tag bilbytag?",
)
READS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    **{f"read_document by {how}": ("read_document", {"path": name}) for how, name in NAMES.items()},
    **{f"fetch by {how}": ("fetch", {"id": name}) for how, name in NAMES.items()},
    "fetch by address": ("fetch", {"id": f"note:///{FILE.replace(' ', '%20')}"}),
    "fetch by address, escaped throughout": (
        "fetch",
        {"id": "note:///" + "".join(f"%{ord(letter):02X}" for letter in FILE)},
    ),
    "fetch from a place": ("fetch", {"id": ID, "offset": 20}),
    "read_document from a place": ("read_document", {"path": ID, "offset": 20}),
    **{
        f"{tool} by {how}": (tool, {"path": name, "wikilink": name})
        for tool in ("resolve_wikilink", "find_backlinks", "find_forward_links", "find_related")
        for how, name in NAMES.items()
    },
    **{
        f"{tool} for {how}": (tool, {"query": query})
        for tool in ("search", "find_excerpts", "find_documents")
        for how, query in QUERIES.items()
    },
    **{f"ask_vault by {how}": ("ask_vault", {"question": f"What is {name}?"}) for how, name in NAMES.items()},
    "ask_vault by its words": ("ask_vault", {"question": "What is the lighthouse password?", "limit": 20}),
    "ask_vault for its value": ("ask_vault", {"question": "Who has the mood Potoroovalue?"}),
    "ask_vault of a note that embeds it": ("ask_vault", {"question": "What grows in [[Open garden]]?"}),
    **{f"ask_vault: {question}": ("ask_vault", {"question": question}) for question in ABOUT_VAULT},
    "verify_quotes word for word": ("verify_quotes", {"text": "The lighthouse password is Quollsecret."}),
    "verify_quotes nearly": ("verify_quotes", {"text": "The password of the lighthouse is Quollsecret."}),
    "verify_quotes with another name": ("verify_quotes", {"text": "The lighthouse password is Numbatword."}),
    "find_backlinks of an open note": ("find_backlinks", {"path": "Open garden"}),
    "find_forward_links of an open note": ("find_forward_links", {"path": "Open garden"}),
    "find_related to an open note": ("find_related", {"path": "Open garden"}),
    "find_related to a note on the same": ("find_related", {"path": "Lighthouse"}),
    "list_documents": ("list_documents", {}),
    "recent": ("recent", {"limit": 200}),
    "recent of a time": ("recent", {"on": "since 2000"}),
    "tags": ("tags", {}),
    "tags that begin like its own": ("tags", {"prefix": "bilby"}),
    "list_documents of its folder": ("list_documents", {"folder": "Diaries"}),
    "list_documents of a folder above": ("list_documents", {"folder": "."}),
    "list_documents by a wildcard": ("list_documents", {"folder": "*"}),
    "list_documents with its tag": ("list_documents", {"tag": "bilbytag"}),
    "list_documents since a day": ("list_documents", {"modified_after": "2020-01-01"}),
    "read_document of its folder": ("read_document", {"path": "Diaries/"}),
    **requests_for(NAMES, f"{datetime.fromtimestamp(CHANGED_AT, UTC):%Y-%m-%d}"),
}
WRITES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    **{f"edit_section by {how}": ("edit_section", {"path": name, "text": "x"}) for how, name in NAMES.items()},
    **{f"delete_document by {how}": ("delete_document", {"path": name}) for how, name in NAMES.items()},
    "edit_document": ("edit_document", {"path": ID, "old": "lighthouse", "new": "tower"}),
    "edit_document of all": ("edit_document", {"path": ID, "old": "e", "new": "e"}),
    "edit_section of its heading": ("edit_section", {"path": ID, "section": "Dunnartheading", "text": "x"}),
    "edit_section, replaced": ("edit_section", {"path": ID, "section": "No", "position": "replace", "text": "x"}),
    "set_property": ("set_property", {"path": ID, "key": "mood", "value": "x"}),
    "set_property that opens it": ("set_property", {"path": ID, "key": "zkchat", "value": None}),
    "add_tag": ("add_tag", {"path": ID, "tag": "x"}),
    "rename_document": ("rename_document", {"path": ID, "new_name": "Open"}),
    "move_document": ("move_document", {"path": ID, "folder": "Public"}),
    "move_document of its folder": ("move_document", {"path": "Diaries", "folder": "Public"}),
    "rename_document of its folder": ("rename_document", {"path": "Diaries/", "new_name": "Public"}),
    "create_document in its place": ("create_document", {"path": FILE, "text": "x"}),
    "create_from_template of it": ("create_from_template", {"template": FILE, "title": "Copy"}),
    "create_from_template by its title": ("create_from_template", {"template": "Wombattitle", "title": "Copy"}),
    "rename_document of a note that it links to": ("rename_document", {"path": "Open garden", "new_name": "Plot"}),
}
UNKNOWN: Final = frozenset(
    {
        *(
            f"{tool} for {how}"
            for tool in ("search", "find_excerpts", "find_documents")
            for how in ("prefix", "wildcard")
        ),
        "list_documents by a wildcard",
        "ask_vault for its value",
        "ask_vault: Which notes have no links to them?",
        *(
            f"resource by {how}"
            for how in ("missing heading", "path round about", "rooted path", "title", "folder", "nothing")
        ),
    }
)
"""Attempts that find nothing of it anywhere, because there is no such way."""


NAME_NO_NOTE: Final = {"get_current_datetime", "append_daily"}


def world_with(folder: Path, secret: str | None = SECRET, **variables: str) -> World:
    folder.mkdir()
    world = World(folder, variables)
    notes = OPEN if secret is None else {**OPEN, FILE: secret}
    for number, (path, text) in enumerate(notes.items()):
        os.utime(world.note(path, text), (CHANGED_AT + number, CHANGED_AT + number))
    return world


def made(world: World, attempts: dict[str, tuple[str, dict[str, Any]]], *options: str) -> dict[str, str]:
    """The answer to each attempt, in small letters."""
    lines = [
        modern(number, asked, **given) if "/" in asked else call(number, asked, **given)
        for number, (asked, given) in enumerate(attempts.values())
    ]
    received = answers(world, *lines, options=options)
    return {name: json.dumps(received[number], ensure_ascii=False).lower() for number, name in enumerate(attempts)}


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return made(world_with(tmp_path_factory.mktemp("without") / "w", None), READS)


KINDS: Final[dict[str, tuple[str, tuple[str, ...], dict[str, str]]]] = {
    "local": (SECRET, (), {}),
    "never": (SECRET.replace("zkchat: local", "zkchat: never"), ("--local",), {}),
    "local folder": (SECRET.replace("zkchat: local\n", ""), (), {"ZKCHAT_PRIVACY__LOCAL_ONLY": "Diaries"}),
}


@pytest.mark.parametrize(("secret", "options", "variables"), KINDS.values(), ids=KINDS.keys())
def test_a_note_that_is_kept_back_is_answered_for_as_if_it_were_not_there(
    tmp_path: Path, without: dict[str, str], secret: str, options: tuple[str, ...], variables: dict[str, str]
) -> None:
    attempts = READS if secret == SECRET else dict([*READS.items()][::3])
    given = made(world_with(tmp_path / "w", secret, **variables), attempts, *options)
    assert {name: answer for name, answer in given.items() if answer != without[name]} == {}
    assert {name: found for name in given if (found := leaked(given[name], json.dumps(READS[name][1])))} == {}


def test_each_of_these_attempts_finds_it_where_the_model_is_on_this_machine(
    tmp_path: Path, without: dict[str, str]
) -> None:
    given = made(world_with(tmp_path / "w"), READS, "--local")
    assert {name for name in READS if given[name] == without[name]} == UNKNOWN


def test_no_tool_that_changes_notes_tells_or_touches_it(tmp_path: Path) -> None:
    world = world_with(tmp_path / "w")
    given = made(world, WRITES, "--write")
    assert {name: found for name in WRITES if (found := leaked(given[name], json.dumps(WRITES[name][1])))} == {}
    assert (world.vault / FILE).read_text() == SECRET
    assert [path.name for path in (world.vault / FILE).parent.iterdir()] == [Path(FILE).name]


@pytest.mark.parametrize("options", [(), ("--local",)], ids=["elsewhere", "here"])
def test_no_tool_has_a_word_of_it_embedded_elsewhere(tmp_path: Path, options: tuple[str, ...]) -> None:
    world = world_with(tmp_path / "w")
    attempts = {**READS, **WRITES}
    listed = answers(world, modern(1, "tools/list"), options=["--write"])[1]["tools"]
    assert {tool["name"] for tool in listed} - {tool for tool, _ in attempts.values()} == NAME_NO_NOTE
    saying_nothing = {name: each for name, each in attempts.items() if not leaked(json.dumps(each).lower())}
    with EmbeddingServer() as embedder:
        embed_elsewhere(world, embedder)
        made(world, dict([*attempts.items()][::3]) if options else saying_nothing, "--write", *options)
        assert leaked(str(embedder.embedded).lower()) == set()


def test_while_it_is_not_known_which_notes_are_local_none_is_served(world: World) -> None:
    world.note("Open.md", "# Open\n")
    world.note(".zkchat/config.toml", '[privacy]\nlocal_only = ["Diaries"')
    refused = world.run("mcp", stdin="")
    assert refused.code == ExitCode.CONFIG
    assert "So zkchat cannot tell which notes are private, and serves none." in refused.err
    assert answers(world, call(1, "list_documents"), options=["--local"])[1]["content"]


def test_a_folder_that_is_made_local_while_the_vault_is_served_stays_here(world: World) -> None:
    world.note("Diaries/Day.md", "# Day\n\nQuollsecret.\n")
    service = VaultService(load_workspace(world.environment(), world.vault), HostOptions())

    def read() -> str:
        return asyncio.run(service.use(lambda vault: vault.read("read_document", '{"path": "Diaries/Day.md"}'))).text

    try:
        assert "Quollsecret" in read()
        settings = world.note(".zkchat/config.toml", '[privacy]\nlocal_only = ["Diaries"]\n')
        assert "Quollsecret" not in read()
        settings.write_text("")
        assert "Quollsecret" in read()
        settings.write_text("[privacy")
        assert "Quollsecret" not in read(), "what it says is not known"
        settings.write_text('[privacy]\nlocal_only = "Diaries"\n')
        with pytest.raises(ConfigError, match="cannot be used, so no note is served") as refused:
            read()
        assert "Diaries" not in refused.value.message
    finally:
        service.close()
