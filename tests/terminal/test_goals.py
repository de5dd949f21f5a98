"""Goals on a real terminal: the question about the plan, Ctrl-C, going on; and a run that is killed."""

import os
import signal
import subprocess
import sys
from typing import Any

from tests.support.ptys import Terminal
from tests.support.waiting import eventually
from tests.support.world import World
from zkchat.core.errors import ExitCode

PLAN = [{"text": "1. Count the sheep.\n2. Rest."}]
SLOW: list[dict[str, Any]] = [{"text": "One sheep. "}, {"delay": 60}, {"text": "Two."}]
REST = ([{"text": "Two sheep.\nDONE: two"}], [{"text": "Rested."}], [{"text": "All sheep are counted."}])


def test_a_goal_in_a_chat_is_asked_about_stopped_shown_and_gone_on_with(world: World) -> None:
    world.note("Tea.md", "# Tea\n\nGreen.\n")
    world.variables["EDITOR"] = f"{sys.executable} -c \"import sys; open(sys.argv[1], 'a').write('3. Wake.')\""
    with Terminal(
        world, "--model", world.script(PLAN, SLOW, *REST[:2], [{"text": "Awake."}], REST[2]), height=60
    ) as terminal:
        terminal.wait_for_prompt()
        terminal.type("/goal Count\r")
        terminal.wait_for("☐ 2. Rest.", "Start this plan?")
        terminal.type("e")
        terminal.wait_for("☐ 3. Wake.")
        terminal.wait_until(lambda: terminal.text.count("Start this plan?") == 2, "the second question")
        terminal.type("y")
        terminal.wait_for("Step 1 of 3: Count the sheep.", "One sheep.")
        terminal.type("\x03")
        terminal.wait_for("(Stopped. What arrived is kept.)")
        terminal.wait_for_prompt()
        terminal.type("/goal\r")
        terminal.wait_for("Stopped: It was interrupted.", "/goal resume continues it.")
        terminal.wait_for_prompt()
        terminal.type("/goal resume\r")
        terminal.wait_until(lambda: terminal.text.count("Start this plan?") == 3, "the question, as no step is done")
        terminal.type("y")
        terminal.wait_for("☑ 2. Rest.", "All sheep are counted.", "Finished (3 of 3 steps")
        terminal.wait_for_prompt()


def test_a_run_that_is_killed_or_interrupted_goes_on_from_its_first_open_step(world: World) -> None:
    world.note("Tea.md", "# Tea\n\nGreen.\n")
    killed = stopped_in_the_second_step(world, signal.SIGKILL, "Count", "--model", world.script(PLAN, REST[0], SLOW))
    assert killed.returncode == -signal.SIGKILL
    world.script(PLAN, REST[0], SLOW, SLOW)
    interrupted = stopped_in_the_second_step(world, signal.SIGINT, "--resume")
    assert interrupted.returncode == ExitCode.INTERRUPTED
    assert "done: 1. Count the sheep.\n" in interrupted.stderr
    assert "open: 2. Rest.\n" in interrupted.stderr
    assert "Stopped: It was interrupted. (1 of 2 steps" in interrupted.stderr
    assert "To continue: zkchat ask --goal --resume" in interrupted.stderr
    world.script(PLAN, REST[0], SLOW, *REST[1:])
    result = world.run("agent", "run", "--resume", stdin="")
    assert (result.code, result.out) == (ExitCode.OK, "All sheep are counted.\n")
    assert "Step 1 of 2" not in result.err


def stopped_in_the_second_step(
    world: World, number: signal.Signals, *arguments: str
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(world.home), "ZKCHAT_OLLAMA__HOST": "http://127.0.0.1:9"}
    command = [sys.executable, "-m", "zkchat", "agent", "run", *arguments, "--vault", str(world.vault)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        errors = run.stderr
        eventually(lambda: "Step 2 of 2" in errors.readline())
        run.send_signal(number)
        out, rest = run.stdout.read(), errors.read()
    return subprocess.CompletedProcess(command, run.returncode, out, rest)
