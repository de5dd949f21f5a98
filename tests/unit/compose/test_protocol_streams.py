import io
import os
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.world import World
from zkchat.core.environment import Lines, claimed_streams


def test_what_else_is_printed_goes_to_standard_error(world: World) -> None:
    (world.root / "in").write_text("typed\n")
    with (
        (world.root / "in").open() as stdin,
        (world.root / "out").open("w") as stdout,
        (world.root / "err").open("w") as stderr,
    ):
        environment = replace(world.environment(), stdin=stdin, stdout=stdout, stderr=stderr)
        with claimed_streams(environment) as channel:
            stdout.write("stray\n")
            os.write(stdout.fileno(), b"raw\n")
            assert os.read(stdin.fileno(), 10) == b""
            channel.write(b"message\n")
            assert channel.read(100) == b"typed\n"
        stdout.write("after\n")
    assert (world.root / "out").read_text() == "message\nafter\n"
    assert sorted((world.root / "err").read_text().split()) == ["raw", "stray"]


@settings(max_examples=50)
@given(pieces=st.lists(st.binary(min_size=1).map(lambda piece: piece.replace(b"a", b"\n"))))
def test_lines_are_the_same_however_they_arrive(pieces: list[bytes]) -> None:
    *whole, rest = b"".join(pieces).split(b"\n")
    lines = Lines(lambda _: pieces.pop(0) if pieces else b"", 1_000_000)
    assert [*iter(lines.next, None)] == whole + [rest] * bool(rest)


def test_a_line_that_is_too_long_is_no_message_and_the_next_is_read() -> None:
    pieces = [b"ok\n" + b"x" * 8, b"x" * 30, b"x\nnext\n"]
    assert [*iter(Lines(lambda _: pieces.pop(0) if pieces else b"", 10).next, None)] == [b"ok", b"x", b"next"]


def test_streams_in_memory_are_read_and_written_too(tmp_path: Path) -> None:
    out = io.StringIO()
    environment = replace(World(tmp_path).environment(), stdin=io.StringIO("a\nb"), stdout=out)
    with claimed_streams(environment) as channel:
        assert [*iter(Lines(channel.read, 100).next, None)] == [b"a", b"b"]
        channel.write(b"answer\n")
    assert out.getvalue() == "answer\n"
