"""Search results as rows of a numbered list."""

from zkchat.model.note import Passage, line_place, page_of
from zkchat.render.numbered_rows import NumberedRow, Place
from zkchat.render.sanitize import sanitize_line


def passage_row(passage: Passage, preview: str, repetitions: int = 0) -> NumberedRow:
    """Title, location and text of a passage, and how many others have the same text."""
    repeated = f" · and {repetitions:,} more with the same text" if repetitions else ""
    page = page_of(passage.path, passage.heading_path)
    where = f"{passage.path}#page={page}" if page else line_place(passage.path, passage.first_line)
    place = f"{where} · {passage.why}{repeated}"
    title = passage_title(passage)
    to = Place(path=passage.path, line=passage.first_line, name=title)
    return NumberedRow(name=title, place=place, text=preview, to=to)


def passage_title(passage: Passage) -> str:
    """The title of the note and the headings of the passage, without a heading that repeats the title."""
    headings = passage.heading_path[passage.heading_path[:1] == (passage.title,) :]
    return " › ".join(sanitize_line(text) for text in (passage.title, *headings))
