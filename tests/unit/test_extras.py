import sys
from pathlib import Path

import pytest

from zkchat.core.errors import install_command


@pytest.mark.parametrize(
    ("left_by_the_installer", "command"),
    [
        ("", "pip install 'zkchat[mcp]'"),
        ("pipx_metadata.json", "pipx inject zkchat 'zkchat[mcp]'"),
        ("uv-receipt.toml", "uv pip install --python '/my tools/python' 'zkchat[mcp]'"),
    ],
)
def test_the_command_is_that_of_the_installer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_by_the_installer: str, command: str
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/my tools/python")
    if left_by_the_installer:
        (tmp_path / left_by_the_installer).touch()
    assert install_command("mcp") == command
