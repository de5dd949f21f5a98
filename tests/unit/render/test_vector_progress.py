"""How far vectors are, in words."""

from msgspec.structs import replace

from zkchat.core.embeddings import EmbeddingProgress
from zkchat.render.phrases import method_label, vector_lines, vector_progress

HALF = EmbeddingProgress(
    done=1_240, total=5_300, method="ollama:nomic-embed-text#ab12cd34", active_method="wordllama-l2-256-sif"
)


def test_methods_are_called_by_their_models() -> None:
    assert method_label("ollama:nomic-embed-text:v1.5#ab12cd34") == "nomic-embed-text:v1.5"
    assert method_label("openai:text-embedding-3-small") == "text-embedding-3-small"
    assert method_label("wordllama-l2-256-sif") == "static vectors"


def test_the_bar_shows_what_is_not_done_yet() -> None:
    assert vector_progress(HALF) == "vectors 1,240/5,300 (nomic-embed-text)"
    assert vector_progress(replace(HALF, problem="It is away.")) == "vectors 1,240/5,300 (nomic-embed-text, waiting)"
    for nothing in (None, replace(HALF, done=5_300), replace(HALF, method="wordllama-l2-256-sif")):
        assert vector_progress(nothing) == ""


def test_a_report_says_what_the_search_uses_meanwhile() -> None:
    waiting = "vectors 1,240/5,300 (nomic-embed-text); until all are there, the search uses static vectors"
    assert vector_lines(HALF) == [waiting]
    assert vector_lines(replace(HALF, problem="It is away.")) == [waiting, "It is away."]
    done = replace(HALF, done=5_300, active_method=HALF.method)
    assert vector_lines(done) == ["vectors 5,300/5,300 (nomic-embed-text)"]
    assert vector_lines(None) == vector_lines(replace(HALF, method="wordllama-l2-256-sif")) == []
