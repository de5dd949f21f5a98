import sys

import pytest

from tests.support.world import World
from zkchat.core.errors import ExitCode


def test_without_its_package_the_command_says_what_to_install(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "acp", None)
    result = world.run("acp", stdin="")
    assert (result.code, result.out) == (ExitCode.CONFIG, "")
    assert "pip install 'zkchat[acp]'" in result.err


def test_a_folder_that_is_not_there_is_told_before_a_client_speaks(world: World) -> None:
    result = world.run("acp", "--vault", "nowhere", stdin="")
    assert (result.code, result.out) == (ExitCode.VAULT, "")
