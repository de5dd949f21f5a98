"""What others take for the same: obsidiantools, and zk-chat as far as it runs without a model.

Each is installed into a virtual environment of its own and asked in a process of its own, with a limit on its time.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PEER_NOTES = 2_000
"""They are asked about so many notes only: they take minutes for them."""
_SECONDS = 600.0

_OBSIDIANTOOLS = """
import json, sys, time
from pathlib import Path
from obsidiantools.api import Vault
times = {}
def timed(name, work):
    start = time.process_time(); result = work(); times[name] = time.process_time() - start; return result
vault = timed("index", lambda: Vault(Path(sys.argv[1])).connect().gather())
timed("backlinks", lambda: vault.get_backlinks(Path(sys.argv[2]).stem))
print(json.dumps(times))
"""
_ZK_CHAT = """
import json, logging, sys, time
import structlog
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
from zk_chat.markdown.markdown_filesystem_gateway import MarkdownFilesystemGateway
from zk_chat.services.link_traversal_service import LinkTraversalService
links = LinkTraversalService(MarkdownFilesystemGateway(sys.argv[1]))
start = time.process_time(); links.find_backlinks(sys.argv[2])
print(json.dumps({"backlinks": time.process_time() - start}))
"""


@dataclass(frozen=True)
class Peer:
    name: str
    packages: tuple[tuple[str, ...], ...]
    """Arguments of `pip install`, one call after the other."""
    script: str

    def asked(self, environments: Path, vault: Path, note: str) -> dict[str, float] | str:
        """CPU seconds for reading the vault and for the backlinks of a note, or why there are none."""
        folder = environments / self.name
        try:
            python = self._installed(folder)
        except (OSError, subprocess.SubprocessError) as error:
            return f"not installed: {_reason(error)}"
        try:
            done = _run([python, "-c", self.script, str(vault), note], _SECONDS)
        except subprocess.TimeoutExpired:
            return f"not finished after {_SECONDS:.0f} s"
        except (OSError, subprocess.SubprocessError) as error:
            return f"failed: {_reason(error)}"
        times: dict[str, float] = json.loads(done.splitlines()[-1])
        return times

    def _installed(self, folder: Path) -> str:
        python = str(folder / "bin" / "python")
        ready = folder / "ready"
        if not ready.exists():
            _run([sys.executable, "-m", "venv", str(folder)], _SECONDS)
            for packages in self.packages:
                _run([python, "-m", "pip", "install", "--quiet", *packages], _SECONDS)
            ready.touch()
        return python


PEERS = (
    Peer("obsidiantools", (("obsidiantools",),), _OBSIDIANTOOLS),
    # All it depends on is a gigabyte, of which its links need these.
    Peer("zk-chat", (("--no-deps", "zk-chat"), ("mojentic", "structlog", "pydantic", "pyyaml")), _ZK_CHAT),
)


def _run(command: list[str], seconds: float) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=seconds).stdout


def _reason(error: Exception) -> str:
    """The last line of what the process said."""
    said = error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error)
    return (said or str(error)).strip().splitlines()[-1]
