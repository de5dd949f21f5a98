"""`@path` in a message, against a server that records what it gets: from models with tools, without, and elsewhere."""

import os
from pathlib import Path

import pytest

from tests.providers.loopback import serving
from tests.support.egress import Recorder, Scene, make_scene
from tests.support.libraries import Located
from zkchat.app.library import open_library
from zkchat.chat.question import is_mentioned, link_mentioned

NOTES = {
    "Top.md": "# Top\n\nNothing.\n",
    "Projects/Roof.md": "---\ntitle: A roof of glass\n---\nGlass of the wallaby kind.\n",
    "Projects/Cellar.md": "# Cellar\n\nStone of the wombat kind.\n",
    "Projects/prices.csv": "material,price\nglass,quokka\n",
    "Diaries/day.txt": "The numbat slept.\n",
    "Diaries/Night.md": "# Nightly thoughts\n\nThe numbat woke.\n",
    "Mixed/Open.md": "# Open page\n\nFine.\n",
    "Mixed/Closed.md": "---\nzkchat: local\ntitle: Bilby title\n---\nClosed.\n",
    "marked.txt": "zkchat: local\nThe bandicoot is secret.\n",
    "never.json": '{"zkchat": "never", "animal": "potoroo"}\n',
}

server = serving(Recorder)


@pytest.fixture
def scene(tmp_path: Path, server: Recorder) -> Scene:
    server.requests.clear()
    server.call, server.says = None, "Fine."
    scene = make_scene(tmp_path, server, NOTES)
    settings = scene.world.settings_file
    settings.write_text(settings.read_text() + '\n[privacy]\nlocal_only = ["Diaries"]\n')
    return scene


WITH_TOOLS, WITHOUT, ELSEWHERE, ELSEWHERE_WITHOUT = (
    "ollama:here",
    "ollama:plain",
    "ollama:far-cloud",
    "ollama:plain-cloud",
)


CANVAS = b'{"nodes": [{"id": "1", "type": "text", "text": "koala", "x": 0, "y": 0, "width": 9, "height": 9}]}'


@pytest.mark.parametrize(
    ("model", "path", "content", "expected"),
    [
        (WITH_TOOLS, "data/list.csv", b"name,size\nkoala,7\n", "name,size\\nkoala,7"),
        (WITHOUT, "code.py", b"# %%\nprint('koala')\n# %%\n", "# %%\\nprint('koala')\\n# %%"),
        (ELSEWHERE, "board.canvas", CANVAS, "koala"),
        (ELSEWHERE_WITHOUT, "wide.txt", "koala é".encode("utf-16"), "koala é"),
    ],
)
def test_a_file_that_holds_text_goes_along_as_it_is(
    scene: Scene, model: str, path: str, content: bytes, expected: str
) -> None:
    scene.world.note(path, content)
    received = scene.ask(model, f'What is in @"{path}"?')
    assert f'<document path=\\"{path.lower()}\\">\\n{expected}' in received
    assert scene.warnings == []
    user = scene.history().thread[0]
    (reference,) = [each for each in user.references if each.reference_type == "direct"]
    assert (reference.relative_path, reference.included) == (path, True)


@pytest.mark.parametrize(("model", "window"), [(WITH_TOOLS, 2_048), (WITHOUT, 32_768)])
def test_files_and_folders_go_along_at_every_window_and_in_chinese(scene: Scene, model: str, window: int) -> None:
    scene.world.variables["ZKCHAT_CONTEXT__MAX_TOKENS"] = str(window)
    scene.world.note("项目/价格.csv", "名称,价格\n玻璃,十二\n")
    scene.world.note("项目/屋顶.md", "# 玻璃屋顶\n\n很轻。\n")
    received = scene.ask(
        model, "What is in @Projects/prices.csv and @Projects/?", "总结@项目/价格.csv的内容和 @项目/ 。"
    )
    assert "glass,quokka" in received
    assert "glass of the wallaby kind" in received
    assert "名称,价格\\n玻璃,十二" in received
    assert "很轻" in received


@pytest.mark.parametrize(("model", "window"), [(WITH_TOOLS, 8_192), (WITHOUT, 2_048)])
def test_of_a_file_that_is_too_long_the_line_that_answers_goes_along(scene: Scene, model: str, window: int) -> None:
    scene.world.variables["ZKCHAT_CONTEXT__MAX_TOKENS"] = str(window)
    passed = [f"12:00 job build-{number} passed" for number in range(1_000)]
    scene.world.note("log.txt", "\n".join([*passed[:600], "13:01 job koala failed: no memory", *passed[600:]]))
    received = scene.ask(model, "Which job failed in @log.txt?")
    assert "job koala failed" in received
    assert "job build-444 " not in received
    assert scene.failures == []


def test_a_folder_brings_the_text_of_its_notes_those_that_the_question_is_about_first(scene: Scene) -> None:
    scene.world.note("Files/prices.csv", "glass,quokka\n")
    received = scene.ask(WITH_TOOLS, "Which wombat is in @Projects/?")
    assert "stone of the wombat kind" in received
    assert "glass of the wallaby kind" in received
    assert received.index("wombat kind") < received.index("wallaby kind")
    assert "- projects/" not in received
    assert "quokka" not in received
    assert scene.warnings == []
    user = scene.history().thread[0]
    rows = {each.relative_path: (each.via, each.included) for each in user.references}
    assert rows["Projects/Cellar.md"] == rows["Projects/Roof.md"] == ("folder", True)
    assert rows["Projects/"][1]
    assert "the folder files/ holds 1 file:\\n- files/prices.csv\\n" in scene.ask(WITHOUT, "What is in @Files/?")


def test_of_a_folder_that_is_too_large_as_much_is_sent_as_fits_and_that_is_said(scene: Scene) -> None:
    scene.world.variables["ZKCHAT_CONTEXT__MAX_TOKENS"] = "4096"
    for number in range(40):
        scene.world.note(f"Logs/Log {number:02}.md", f"Log {number} of the dingo. " * 20 + "koala\n" * (number == 33))
    received = scene.ask(ELSEWHERE_WITHOUT, "Where is the koala in @Logs/?")
    assert "log 33 of the dingo" in received
    assert 2 <= sum(f"log {number} of the dingo" in received for number in range(40)) < 40
    assert any(" of 40 notes of Logs/ are sent: there is no room for more." in each for each in scene.warnings)
    assert scene.failures == []


@pytest.mark.parametrize("model", [WITH_TOOLS, ELSEWHERE_WITHOUT])
def test_a_link_with_a_mark_brings_the_notes_that_its_note_links_to(scene: Scene, model: str) -> None:
    links = "[[Roof]], [[Cellar]], [[Roof]], [[Nowhere]], [[Night]] and [[Hub]].\n"
    scene.world.note("Hub.md", f"# Hub\n\nThe emu knows {links}")
    received = scene.ask(model, "Which wombat does [[Hub]]+1 know?")
    assert "the emu knows" in received
    assert received.index("wombat kind") < received.index("wallaby kind")
    assert ("numbat" in received) == (model == WITH_TOOLS)  # a diary, which stays on this machine
    user = scene.history().thread[0]
    rows = {each.relative_path: (each.via, each.included) for each in user.references}
    assert rows["Projects/Cellar.md"] == rows["Projects/Roof.md"] == ("hub", True)
    without = scene.ask(model, "And [[Hub]] alone, + 1?")
    assert "the emu knows" in without
    assert "wallaby kind" not in without


OUTSIDE = "The kookaburra is outside.\n"


UNSENT = {
    "@../outside.txt": "'../outside.txt' leads out of the vault.",
    "@Projects/../../outside.txt": "'Projects/../../outside.txt' leads out of the vault.",
    "@/etc/passwd": "'/etc/passwd' leads out of the vault.",
    "@~/outside.txt": "'~/outside.txt' leads out of the vault.",
    "@link.txt": "'link.txt' leads out of the vault.",
    "@linked/outside.txt": "'linked/outside.txt' leads out of the vault.",
    "@linked/": "There is no folder linked/ in the vault.",
    "@pipe.txt": "pipe.txt is not a regular file.",
    "@.obsidian/kookaburra.json": "There is no file '.obsidian/kookaburra.json' in the vault.",
    "@.obsidian/": "There is no folder .obsidian/ in the vault.",
    "@Archive/old.txt": "There is no file 'Archive/old.txt' in the vault.",
    "@huge.txt": "huge.txt is larger than 5,000,000 bytes and was not read.",
    "@picture.dat": "picture.dat contains binary data.",
    "@latin.txt": "latin.txt is not UTF-8 text.",
    "@Projcts/Roof.md": "There is no file Projcts/Roof.md in the vault.",
    "@Projcts/": "There is no folder Projcts/ in the vault.",
}


def test_what_is_not_there_or_no_text_is_said_and_not_sent(scene: Scene) -> None:
    world = scene.world
    (world.root / "outside.txt").write_text(OUTSIDE)
    (world.home / "outside.txt").write_text(OUTSIDE)
    (world.vault / "link.txt").symlink_to(world.root / "outside.txt")
    (world.vault / "linked").symlink_to(world.root)
    os.mkfifo(world.vault / "pipe.txt")
    world.note(".obsidian/kookaburra.json", '{"animal": "kookaburra"}')
    world.note("Archive/old.txt", OUTSIDE)
    world.note("huge.txt", "kookaburra " * 500_000)
    world.note("picture.dat", b"kookaburra\0\1\2")
    world.note("latin.txt", "kookaburra é".encode("latin-1"))
    world.variables["ZKCHAT_VAULT__EXCLUDE"] = '["Archive"]'
    mentions = [*UNSENT]
    questions = [f"What is {' or '.join(mentions[start : start + 4])} about?" for start in range(0, len(mentions), 4)]
    received = scene.ask(WITHOUT, *questions)
    assert {*UNSENT.values()} <= {*scene.warnings}
    assert received.count("kookaburra") == received.count("kookaburra.json")
    assert "root:" not in received


def test_a_path_that_is_not_there_comes_with_the_nearest_names(scene: Scene) -> None:
    def asked(text: str) -> list[tuple[str, str]]:
        result = scene.world.run("ask", text, "--model", WITHOUT, "--json").json
        return [(each["text"], each["hint"]) for each in result["warnings"]]

    assert asked("See @Projcts/Roof.md.") == [("There is no file Projcts/Roof.md in the vault.", "Closest: [[Roof]].")]
    assert asked("See @Projct/") == [("There is no folder Projct/ in the vault.", "Closest: @Projects/.")]
    assert asked("Write to me@example.org, ask @anna, see @https://example.org/x.md or `@a/b.md`.") == []
    assert asked(" ".join(f"@app/part{number}" for number in range(6))) == []


@pytest.mark.parametrize("model", [ELSEWHERE, ELSEWHERE_WITHOUT])
def test_a_private_file_or_folder_is_withheld(scene: Scene, model: str) -> None:
    for mention, secret, reason in (
        ("@Diaries/day.txt", "numbat", "is private"),
        ("@Diaries/", "night", "is private"),
        ("@marked.txt", "bandicoot", "is private"),
        ("@never.json", "potoroo", "is never to be read"),
    ):
        received = scene.ask(model, f"What is in {mention} now?")
        assert secret not in received
        assert f"- {mention.lower()}: withheld" in received
        assert any(warning.startswith(f"not sent: {mention} {reason}") for warning in scene.warnings)
    assert "bilby" not in scene.ask(model, "What is in @Mixed/?")


def test_no_other_way_leads_to_a_private_file(scene: Scene) -> None:
    (scene.world.vault / "alias.txt").symlink_to("Diaries/day.txt")
    (scene.world.vault / "shortcut").symlink_to("Diaries")
    names = ("alias.txt", "shortcut/day.txt", "shortcut/", "diaries/DAY.txt", "Diaries/../Diaries/day.txt")
    for name in (*names, "./Diaries/day.txt"):
        scene.warnings.clear()
        received = scene.ask(ELSEWHERE, f"What is in @{name} now?")
        assert not [word for word in ("numbat", "night") if word in received]
        assert scene.warnings


def test_a_private_file_that_the_index_does_not_know_yet_is_not_read(scene: Scene) -> None:
    with open_library(scene.world.environment(), scene.world.vault) as (_, library):
        library.refresh()
        scene.world.note("Diaries/new.txt", "The numbat sang.\n")
        scene.world.note("Projects/new.txt", "The wallaby sang.\n")
        elsewhere = library.guarded_for(Located(False))
        assert not is_mentioned(elsewhere, link_mentioned("@Diaries/new.txt"))
        assert is_mentioned(elsewhere, link_mentioned("@Projects/new.txt"))


def test_a_model_on_this_machine_gets_what_is_local_and_the_turn_stays_here(scene: Scene) -> None:
    received = scene.ask(WITH_TOOLS, "What is in @Diaries/day.txt, @marked.txt, @Mixed/ and @never.json?")
    assert "numbat slept" in received
    assert "bandicoot" in received
    assert "bilby title" in received
    assert "potoroo" not in received
    assert all(message.local for message in scene.history().thread)
    later = scene.ask(ELSEWHERE, "And now?", go_on=True)
    assert not [word for word in ("numbat", "bandicoot", "bilby") if word in later]


def test_what_became_private_after_it_was_sent_is_not_sent_again(scene: Scene) -> None:
    first = scene.ask(ELSEWHERE, "See @Projects/ and @Projects/prices.csv")
    assert ("wallaby" in first, "quokka" in first) == (True, True)
    scene.world.note("Projects/Roof.md", "---\nzkchat: local\ntitle: A roof of glass\n---\n")
    scene.world.note("Projects/prices.csv", "zkchat: local\nmaterial,price\nglass,quokka\n")
    later = scene.ask(ELSEWHERE, "And now?", go_on=True)
    assert ("wallaby" in later, "quokka" in later) == (False, False)
