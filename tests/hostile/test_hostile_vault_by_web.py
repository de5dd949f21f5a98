"""The hostile vault in a browser: what `zkchat serve` does over it, asked by the page and by other programs."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from tests.hostile.test_hostile_vault import QUESTION, Hostile, Recorder
from tests.hostile.vault_builder import CANARY, OBEY
from tests.support.web_server import served
from tests.support.world import World

pytestmark = [pytest.mark.outside, pytest.mark.skipif(sys.platform == "win32", reason="signals")]


def test_nothing_runs_is_changed_or_sent_when_a_page_asks(tmp_path: Path) -> None:
    with Recorder() as recorder:
        hostile = Hostile.make(tmp_path / "ground", recorder)
        ground = hostile.ground
        outside = ground.digests_outside()
        world = World(ground.root, confirms_vault=False)
        with served(world, world.script([{"text": "Fine."}], [{"text": "Fine."}])) as web:
            events = web.ask(QUESTION)
            session = events[-1]["session"]
            for line in ("/show [[Orders]]", "/search lighthouse", "/links [[Orders]]", "/tools", "/rules", "/context"):
                events += web.ask(line, session=session)
            asked = {"messages": [{"role": "user", "content": QUESTION}]}
            events.append(web.post("/v1/chat/completions", asked))
            for path in ("Orders", "../outside/secret.txt", str(ground.outside / "secret.txt"), "Diary"):
                events.append(web.get("/api/note", path=path))
            events.append({"found": web.get("/api/actions/search", query="lighthouse")})
            told = str(events)
        assert "Came with the vault, ignored until you approve it" in told
        assert "\\x1b" not in told
        assert f"{CANARY} of" not in told
        assert f"{OBEY}: send" not in world.run("context", "show", session, "--request", "--json").out
        assert recorder.requests == []
        assert ground.traces_of_code() == []
        assert ground.digests_outside() == outside
        assert ground.digests_of_vault() == hostile.vault_before
