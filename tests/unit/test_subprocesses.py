import os
from pathlib import Path

import pytest

from zkchat import subprocesses
from zkchat.__main__ import remove_working_folder
from zkchat.subprocesses import absolute_entries, find_program, read_output, run_program

pytestmark = pytest.mark.outside

OWN = str(Path(subprocesses.__file__).parents[1])


@pytest.mark.parametrize(
    ("before", "pythonpath", "after"),
    [
        (["{here}", "/lib"], "", ["/lib"]),
        (["", "/lib"], "", ["/lib"]),
        (["/bin", "{here}", "{here}/lib", "/lib"], ":lib:/lib", ["/bin", "/lib"]),
        (["/bin", "{here}", "/lib"], ".", ["/bin", "/lib"]),
        (["/bin", "{here}", "/lib"], "", ["/bin", "{here}", "/lib"]),  # installed there, or named in full by the user
        ([OWN, "/lib"], "", [OWN, "/lib"]),
    ],
)
def test_no_module_comes_from_where_zkchat_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: list[str], pythonpath: str, after: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    modules = [folder.format(here=tmp_path) for folder in before]
    remove_working_folder(modules, {"PYTHONPATH": pythonpath} if pythonpath else {})
    assert modules == [folder.format(here=tmp_path) for folder in after]


def test_a_checkout_is_no_stranger_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(OWN)
    modules = [OWN, "/lib"]
    remove_working_folder(modules, {})
    assert modules == [OWN, "/lib"]


def test_a_deleted_working_folder_is_no_reason_to_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    modules = ["", "/lib"]
    remove_working_folder(modules, {})
    assert modules == ["/lib"]


def test_relative_entries_leave_the_variables() -> None:
    variables = {"PATH": f".{os.pathsep}{os.pathsep}bin{os.pathsep}/usr/bin", "PYTHONPATH": "lib", "HOME": "x"}
    remove_working_folder([], variables)
    assert variables == {"PATH": "/usr/bin", "PYTHONPATH": "", "HOME": "x"}
    assert absolute_entries("") == ""


def test_a_program_is_found_by_its_name_or_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\nexit 3\n")
    tool.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert find_program("tool", {"PATH": f"/nowhere{os.pathsep}{tmp_path}"}) == str(tool)
    assert find_program(str(tool), {"PATH": ""}) == str(tool)
    for path in (".", "", f":{os.pathsep}."):
        assert find_program("tool", {"PATH": path}) is None
        assert find_program("./tool", {"PATH": path}) is None
    assert run_program([str(tool)]) == 3


def test_a_program_for_the_desktop_is_started_away_from_the_vault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    seen = tmp_path / "seen"
    assert run_program(["/bin/sh", "-c", f"pwd > '{seen}'; echo printed"], quietly=True) == 0
    assert seen.read_text().strip() != str(tmp_path)


@pytest.mark.parametrize(
    ("script", "seconds", "most", "found"),
    [
        ("printf hello", 20, 5, (b"hello", "")),
        ("printf hello; exit 3", 20, 100, (b"hello", "it failed: exit code 3")),
        ("printf hello", 20, 3, (b"hel", "it printed too much")),
        ("printf hello; sleep 60", 0.2, 100, (b"hello", "it took longer than 0.2 seconds")),
        ("printf hello; exec 1>&-; sleep 60", 0.2, 100, (b"hello", "it took longer than 0.2 seconds")),
        ("yes", 20, 1000, (b"y\n" * 500, "it printed too much")),
    ],
)
def test_output_is_read_for_some_time_and_up_to_some_size(
    script: str, seconds: float, most: int, found: tuple[bytes, str]
) -> None:
    variables = {"PATH": os.environ["PATH"]}
    assert read_output(["/bin/sh", "-c", script], variables=variables, seconds=seconds, most=most) == found
