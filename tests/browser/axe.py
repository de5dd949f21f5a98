"""axe-core, which finds what keeps people from using a page: fetched once from npm, kept in the user's cache folder."""

import base64
import shutil
import subprocess
import tarfile
import tempfile
from hashlib import sha512
from pathlib import Path
from typing import Final

from tests.providers.weights import CACHE

PACKAGE: Final = "axe-core@4.14.0"
DIGEST: Final = "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ=="
FETCH_SECONDS: Final = 120
VIOLATIONS: Final = (
    "axe.run().then(({ violations }) => violations.flatMap("
    "({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`)))"
)


class NoAxe(Exception):
    """It cannot be had; the sentence says why."""


def source() -> str:
    """The script, in the version named above."""
    file = CACHE / "browser" / f"{PACKAGE}.js"
    if not file.exists():
        script = _fetched()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(script)
    return file.read_text()


def _fetched() -> bytes:
    npm = shutil.which("npm")
    if not npm:
        raise NoAxe("There is no npm: apt install npm")
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", "--ignore-scripts", PACKAGE]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=FETCH_SECONDS)
        archives = [*Path(folder).glob("*.tgz")]
        if done.returncode or not archives:
            raise NoAxe(f"{PACKAGE} cannot be fetched: {done.stderr.strip()[-300:]}")
        (archive,) = archives
        assert base64.b64encode(sha512(archive.read_bytes()).digest()).decode() == DIGEST
        with tarfile.open(archive) as content:
            script = content.extractfile("package/axe.min.js")
            assert script
            return script.read()
