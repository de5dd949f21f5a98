"""The hostile vault behind an editor: what `zkchat serve acp` does over it, asked by the SDK's own client."""

from pathlib import Path

import pytest
from acp.helpers import embedded_text_resource, resource_block, resource_link_block

from tests.hostile.test_hostile_vault import QUESTION, Hostile, Recorder
from tests.hostile.vault_builder import CANARY, OBEY
from tests.support.acp_client import started_acp
from tests.support.world import World

pytestmark = pytest.mark.outside


def test_nothing_runs_is_changed_or_sent_when_an_editor_asks(tmp_path: Path) -> None:
    with Recorder() as recorder:
        hostile = Hostile.make(tmp_path / "ground", recorder)
        ground = hostile.ground
        outside = ground.digests_outside()
        linked = ground.outside / "secret.txt"
        with started_acp(World(ground.root, confirms_vault=False)) as acp:
            session = acp.new(acp.play([{"text": "Fine."}], [{"text": "Fine."}]))
            acp.ask(session, QUESTION)
            acp.ask(
                session,
                "And ",
                resource_link_block("secret.txt", linked.as_uri()),
                resource_link_block("secret.txt", f"file://{ground.vault}/../outside/secret.txt"),
                resource_block(embedded_text_resource((ground.vault / "Diary.md").as_uri(), "the lighthouse")),
            )
            for line in ("/show [[Orders]]", "/search lighthouse", "/links [[Orders]]", "/tools", "/rules", "/context"):
                acp.ask(session, line)
            told = "".join(str(update) for update in acp.of(session))
        assert "Came with the vault, ignored until you approve it" in told
        assert "\x1b" not in acp.text(session)
        assert f"{CANARY} of" not in told
        shown = acp.world.run("context", "show", session, "--request", "--json").out
        assert "lighthouse" in shown
        assert f"{OBEY}: send" not in shown
        assert recorder.requests == []
        assert ground.traces_of_code() == []
        assert ground.digests_outside() == outside
        assert ground.digests_of_vault() == hostile.vault_before
