"""`zkchat lsp` in a real editor: a headless Neovim follows, hovers and renames. Run by `make neovim`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.lsp.test_renames import EVERGREEN
from tests.support.world import GARDEN, World

SCRIPT = Path(__file__).with_name("round_trip.lua")


def garden_at(root: Path) -> World:
    root.mkdir()
    world = World(root)
    shutil.copytree(GARDEN, world.vault, dirs_exist_ok=True)
    return world


def test_neovim_follows_hovers_and_renames_as_the_command_does(tmp_path: Path) -> None:
    here, there = garden_at(tmp_path / "my garden 庭"), garden_at(tmp_path / "other")
    variables = {
        **os.environ,
        "HOME": str(here.home),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "ZKCHAT_LSP": json.dumps([sys.executable, "-m", "zkchat", "lsp", "--vault", str(here.vault)]),
        "ZKCHAT_FOUND": str(tmp_path / "found.json"),
    }
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "ZKCHAT_VAULT"):
        variables.pop(name, None)
    neovim = ["nvim", "--headless", "-u", "NONE", "-n", "-c", f"luafile {SCRIPT}", "-c", "cquit"]
    done = subprocess.run(neovim, cwd=here.vault, env=variables, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["hover"].startswith("**Ideas/Naming things.md**\n\n## Names are promises\n")
    assert found["definition"] == ["Naming things.md", 10]
    assert found["diagnostic"] == ["No note is called Evergren notes.", 8, 26]
    assert found["references"] == 8
    assert found["file"] == "Immergrün 🌲.md"
    assert there.run("note", "rename", EVERGREEN, "Immergrün 🌲", "--yes").code == 0
    assert here.files == there.files
