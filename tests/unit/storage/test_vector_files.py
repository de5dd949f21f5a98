"""Vectors in files: what is added is there for every process, and damage costs no more than what is damaged."""

from pathlib import Path

import pytest

from tests.support.embedders import stored_vectors
from zkchat.core.index import NOTHING_KNOWN
from zkchat.index.vector_files import VectorFiles

VECTOR, SKETCH = 16, 8


def digest(number: int) -> bytes:
    return number.to_bytes(16, "big")


def vector(number: int) -> bytes:
    return bytes([number % 256]) * VECTOR


@pytest.fixture
def files(tmp_path: Path) -> VectorFiles:
    return VectorFiles(tmp_path / "index.db")


def add(files: VectorFiles, *numbers: int, method: str = "m") -> None:
    digests = [digest(number) for number in numbers]
    files.add(method, digests, bytes(SKETCH * len(numbers)), b"".join(map(vector, numbers)))


def stored(files: VectorFiles, method: str = "m") -> list[int]:
    """The numbers of what is stored, each with its own vector."""
    found = stored_vectors(files, method)
    numbers = [int.from_bytes(digest, "big") for digest, _ in found]
    assert [kept for _, kept in found] == [*map(vector, numbers)]
    return numbers


def file_of(tmp_path: Path) -> Path:
    (file,) = tmp_path.glob("index.*.vectors")
    return file


def test_vectors_are_kept_by_method_for_whoever_reads_them(files: VectorFiles, tmp_path: Path) -> None:
    add(files, 1, 2)
    add(files, 3)
    add(files, 1, method="n")
    assert files.active() == ""
    files.activate("m")
    other = VectorFiles(tmp_path / "index.db")
    assert (stored(other), stored(other, "n"), stored(other, "o")) == ([1, 2, 3], [1], [])
    assert (sorted(other.methods()), other.active()) == (["m", "n"], "m")


def test_only_what_was_added_since_is_read(files: VectorFiles) -> None:
    add(files, 1, 2)
    first = files.read("m")
    assert first
    assert first.is_new
    add(files, 3)
    second = files.read("m", first.position)
    assert second
    assert not second.is_new
    assert [block.digests for block in second.blocks] == [digest(3)]


def test_what_another_process_has_added_since_is_not_added_again(files: VectorFiles, tmp_path: Path) -> None:
    add(files, 1)
    known = files.read("m")
    assert known
    add(VectorFiles(tmp_path / "index.db"), 2, 3)
    files.add("m", [digest(3), digest(4)], bytes(2 * SKETCH), vector(3) + vector(4), known.position)
    assert stored(files) == [1, 2, 3, 4]


@pytest.mark.parametrize("cut", [1, 2 * VECTOR + 1, 2 * (VECTOR + SKETCH + 16), 2 * (VECTOR + SKETCH + 16) + 15])
def test_what_a_killed_writer_left_is_overwritten(files: VectorFiles, tmp_path: Path, cut: int) -> None:
    add(files, 1)
    add(files, 2, 3)
    file = file_of(tmp_path)
    file.write_bytes(file.read_bytes()[:-cut])
    assert stored(files) == [1]
    add(files, 4)
    assert stored(files) == [1, 4]
    add(files, 5)
    assert stored(files) == [1, 4, 5]


def test_a_block_that_changed_on_disk_is_left_out_and_the_others_are_used(files: VectorFiles, tmp_path: Path) -> None:
    add(files, 1)
    add(files, 2)
    add(files, 3)
    file = file_of(tmp_path)
    content = file.read_bytes()
    for damaged in (digest(2), vector(2)):
        file.write_bytes(content.replace(damaged, bytes([9]) * len(damaged)))
        assert files.retain("m", [digest(each) for each in (1, 2, 3)]) == 2
        assert stored(files) == [1, 3]


@pytest.mark.parametrize("content", [b"", b"x" * 10_000, bytes(10_000), None])
def test_what_is_no_file_of_vectors_is_replaced(files: VectorFiles, tmp_path: Path, content: bytes | None) -> None:
    add(files, 1)
    file = file_of(tmp_path)
    if content is None:
        file.unlink()
        file.mkdir()
    else:
        file.write_bytes(content)
    assert stored(files) == []
    add(files, 2)
    assert stored(files) == [2]


def test_vectors_of_another_size_take_the_place_of_those_that_are_there(files: VectorFiles) -> None:
    add(files, 1, 2)
    files.add("m", [digest(3)], bytes(SKETCH), bytes(2 * VECTOR))
    found = files.read("m")
    assert found
    assert found.vector_bytes == 2 * VECTOR
    assert [block.digests for block in found.blocks] == [digest(3)]


def test_what_is_retained_is_read_anew_and_what_was_mapped_stays(files: VectorFiles) -> None:
    add(files, 1, 2)
    add(files, 3)
    before = files.read("m")
    assert before
    assert files.retain("m", [digest(3), digest(1), digest(7)]) == 2
    assert stored(files) == [1, 3]
    again = files.read("m", before.position)
    assert again
    assert again.is_new
    start = before.blocks[0].start
    assert bytes(before.data[start : start + 2 * VECTOR]) == vector(1) + vector(2)


def test_one_process_at_a_time_embeds_by_a_method(files: VectorFiles, tmp_path: Path) -> None:
    other = VectorFiles(tmp_path / "index.db")
    with files.claim("m") as ours:
        assert ours
        with other.claim("m") as theirs:
            assert not theirs
        with other.claim("n") as theirs:
            assert theirs
    with other.claim("m") as theirs:
        assert theirs


def test_a_method_that_is_removed_has_nothing_left(files: VectorFiles, tmp_path: Path) -> None:
    add(files, 1)
    with files.claim("m"):
        pass
    files.remove("m")
    assert files.methods() == []
    assert files.read("m", NOTHING_KNOWN) is None
    assert [*tmp_path.glob("index.*.vectors*")] == []
