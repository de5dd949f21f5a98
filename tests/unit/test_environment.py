import io
import os
import sys
from datetime import UTC
from pathlib import Path

import pytest
from msgspec.structs import replace

from zkchat.core.environment import Environment


def environment(**variables: str) -> Environment:
    return Environment(
        stdin=io.StringIO(),
        stdout=io.StringIO(),
        stderr=io.StringIO(),
        variables=variables,
        cwd=Path("/work"),
        home=Path("/home/ada"),
    )


def test_folders_follow_the_xdg_rules() -> None:
    plain = environment()
    assert plain.config_dir == Path("/home/ada/.config/zkchat")
    assert plain.data_dir == Path("/home/ada/.local/share/zkchat")
    assert plain.cache_dir == Path("/home/ada/.cache/zkchat")
    assert environment(XDG_DATA_HOME="/data").data_dir == Path("/data/zkchat")
    assert environment(XDG_DATA_HOME="not/absolute").data_dir == Path("/home/ada/.local/share/zkchat")


def test_streams_in_memory_are_no_terminal_but_can_be_piped() -> None:
    plain = environment()
    assert [plain.stdin_is_tty, plain.stdout_is_tty, plain.stderr_is_tty] == [False, False, False]
    assert plain.stdin_is_piped


def test_a_closed_stream_is_neither_terminal_nor_pipe() -> None:
    closed = environment()
    closed.stdin.close()
    assert not closed.stdin_is_tty
    assert not closed.stdin_is_piped


def test_only_pipes_and_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    read, write = os.pipe()
    os.close(write)
    with os.fdopen(read) as pipe, (tmp_path / "file").open() as file, Path(os.devnull).open() as null:
        piped = [replace(environment(), stdin=stream).stdin_is_piped for stream in (pipe, file, null)]
    assert piped == [True, True, False]


def test_this_process_has_a_clock_ids_and_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZKCHAT_MODEL", "quote")
    here = Environment.of_this_process()
    assert here.variables["ZKCHAT_MODEL"] == "quote"
    assert here.now().tzinfo is UTC
    assert len({here.new_id() for _ in range(100)}) == 100
    assert here.stdout is sys.stdout
    assert "ZKCHAT_MODEL" not in repr(here)
