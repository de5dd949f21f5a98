"""Approvals of servers' tools on disk: by definition and tool, and by vault where the definition came with one."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from zkchat.config.call_approvals import StoredApprovals
from zkchat.model.tool_server import ServerDefinition

WEB = ServerDefinition(name="web", command="serve", args=("--all",))


def test_an_approval_holds_for_the_definition_and_the_tool(tmp_path: Path) -> None:
    file = tmp_path / "approvals.json"
    StoredApprovals(file, "/notes").approve(WEB, "send")
    again = StoredApprovals(file, "/other")
    assert again.is_approved(WEB, "send")
    assert not again.is_approved(WEB, "delete")
    assert not again.is_approved(replace(WEB, name="mail"), "send")
    assert not again.is_approved(replace(WEB, args=("--more",)), "send")
    assert not again.is_approved(replace(WEB, env={"TOKEN": "x"}), "send")
    assert file.stat().st_mode & 0o077 == 0


def test_an_approval_of_a_vaults_server_holds_in_that_vault(tmp_path: Path) -> None:
    of_vault = replace(WEB, origin="vault")
    file = tmp_path / "approvals.json"
    StoredApprovals(file, "/notes").approve(of_vault, "send")
    assert StoredApprovals(file, "/notes").is_approved(of_vault, "send")
    assert not StoredApprovals(file, "/other").is_approved(of_vault, "send")
    assert not StoredApprovals(file, "/notes").is_approved(WEB, "send")


@pytest.mark.parametrize("content", [b"", b"[]", b'{"tools": 7}', b"\x00", b'{"tools": {"\xff": ""}}'])
def test_a_file_that_cannot_be_understood_approves_nothing(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "approvals.json"
    file.write_bytes(content)
    assert not StoredApprovals(file, "").is_approved(WEB, "send")


def test_a_file_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    StoredApprovals(tmp_path / "file" / "approvals.json", "").approve(WEB, "send")
