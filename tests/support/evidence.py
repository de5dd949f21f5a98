from zkchat.core.message import Evidence, LineRange


def passage(text: str, *, note: str = "Sleep", heading: str = "", linked: bool = False, score: float = 1.0) -> Evidence:
    return Evidence(
        text=text,
        relative_path=f"{note}.md",
        title=note,
        wikilink=f"[[{note}]]",
        heading=heading,
        lines=LineRange(first=1, last=1 + text.count("\n")),
        score=score,
        linked=linked,
    )
