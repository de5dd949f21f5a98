"""How far the embedding of a vault's passages has come, in words."""

from zkchat.model.embeddings import EmbeddingProgress


def method_label(method: str) -> str:
    """A method as users know it: the name of the model, without its server and the marks of how it is used."""
    model = method.partition("#")[0].partition(":")[2]
    return model or "static vectors"


def vector_progress(progress: EmbeddingProgress | None) -> str:
    """In a few words for a bar: `vectors 1,240/5,300 (nomic-embed-text)`; empty when all is done."""
    if progress is None or progress.is_complete or not _uses_server(progress):
        return ""
    away = ", waiting" if progress.problem else ""
    return f"vectors {progress.done:,}/{progress.total:,} ({method_label(progress.method)}{away})"


def vector_lines(progress: EmbeddingProgress | None) -> list[str]:
    """In sentences for a report: how many vectors of a server there are, and what they wait for; none without one."""
    if progress is None or not _uses_server(progress):
        return []
    lines = [f"vectors {progress.done:,}/{progress.total:,} ({method_label(progress.method)})"]
    if progress.active_method != progress.method:
        lines[0] += f"; until all are there, the search uses {method_label(progress.active_method)}"
    return [*lines, progress.problem] if progress.problem else lines


def _uses_server(progress: EmbeddingProgress) -> bool:
    return ":" in progress.method
