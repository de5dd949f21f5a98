from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat.core.prompt import TextChunk
from zkchat.models.completions import PartialCall, ThinkingSplitter

QUIET = settings(max_examples=80, deadline=None)


def split(*pieces: str) -> tuple[str, str]:
    """The thinking and the answer, put together again."""
    splitter = ThinkingSplitter()
    chunks = [chunk for piece in pieces for chunk in splitter.feed(piece)]
    chunks += splitter.end()
    assert all(chunk.text for chunk in chunks)
    answer = "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))
    return "".join(chunk.text for chunk in chunks if not isinstance(chunk, TextChunk)), answer


def test_thinking_is_told_apart_wherever_the_text_is_cut() -> None:
    whole = "\n<think>Is 3 < 4? </ yes </think>\n\nYes: 3 < 4."
    for position in range(len(whole) + 1):
        assert split(whole[:position], whole[position:]) == ("Is 3 < 4? </ yes ", "Yes: 3 < 4.")
    assert split("<think>a</think>\n<think>b</think>\nc") == ("ab", "c"), "a model may think twice"
    assert split(*"an answer without tags") == ("", "an answer without tags")


@given(st.text(alphabet="<think/> \nab", max_size=30), st.text(alphabet="<think/> \nab", max_size=30), st.data())
@QUIET
def test_how_a_text_is_cut_makes_no_difference(thinking: str, rest: str, data: st.DataObject) -> None:
    whole = f"<think>{thinking}</think>{rest}"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert split(*pieces) == split(whole) == split(*whole)


def test_words_are_not_held_back() -> None:
    splitter = ThinkingSplitter()
    assert list(splitter.feed("Hello")) == [TextChunk(text="Hello")]
    assert list(splitter.feed(" <")) == [TextChunk(text=" <")]


def test_white_space_is_not_waited_out_for_ever() -> None:
    splitter = ThinkingSplitter()
    assert any([*splitter.feed("\n" * 1_000)] for _ in range(20))
    assert split("\n" * 20_000, "<think>") == split("\n" * 20_000 + "<think>") == ("", "\n" * 20_000 + "<think>")


def test_thinking_that_is_closed_is_not_told_as_unclosed() -> None:
    splitter = ThinkingSplitter()
    list(splitter.feed("<think>a</think>b"))
    assert splitter.unclosed == ""
    splitter = ThinkingSplitter()
    list(splitter.feed("<think>a</think><think>b"))
    list(splitter.end())
    assert splitter.unclosed == "b"


def test_of_the_arguments_of_a_call_no_more_is_taken_once_they_are_too_long() -> None:
    call = PartialCall(name="find")
    for piece in ("x" * 100_000, "y", "z"):
        call.add(piece)
    assert call.chunk.call.arguments == "x" * 100_000 + "y"
