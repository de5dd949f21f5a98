from tests.support.world import World

NOTES = {
    "a/Tea.md": "# Tea\n\nSee [[../Water]].\n",
    "Water.md": "[[tea]], [[a/Tea|Tea]] and [brewed](a/Tea.md#Tea 'Tea').\r\n`[[Tea]]`",
    "b/Green tea.md": "[[Tea]]",
}


def test_links_follow_a_rename_and_come_back_with_it(world: World) -> None:
    for path, text in NOTES.items():
        world.note(path, text)
    assert world.run("note", "rename", "Tea", "Black tea", "--yes").code == 0
    assert (world.vault / "Water.md").read_bytes().decode() == (
        "[[Black tea]], [[a/Black tea|Tea]] and [brewed](a/Black%20tea.md#Tea 'Tea').\r\n`[[Tea]]`"
    )
    assert world.run("note", "move", "Black tea", "b", "--yes").code == 0
    assert world.run("note", "rename", "b/", "c", "--yes").code == 0
    assert (world.vault / "c/Black tea.md").read_text() == NOTES["a/Tea.md"]
    for command in (("rename", "c/", "b"), ("move", "Black tea", "a"), ("rename", "Black tea", "Tea")):
        assert world.run("note", *command, "--yes").code == 0
    assert {path: (world.vault / path).read_bytes().decode() for path in NOTES} == NOTES
