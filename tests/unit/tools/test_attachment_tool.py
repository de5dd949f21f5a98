import asyncio
import json

import pytest

from zkchat.chat.tools.readings import attachment_tools
from zkchat.core.ports import ToolOutcome

LINES = [f"2026-03-04 12:{n % 60:02} INFO step {n} of the nightly run is done" for n in range(1_000)]
LINES[600] = "2026-03-04 12:00 WARN the certificate of the mail gateway expires in May"
LOG = "\n".join(LINES)


def call(*texts: str, **arguments: object) -> ToolOutcome:
    (tool,) = attachment_tools(lambda: texts)
    return asyncio.run(tool.call(json.dumps(arguments)))


def test_pages_give_the_whole_text_and_nothing_else() -> None:
    offset, pages = 0, []
    while True:
        outcome = call(f"Which job failed?\n\n{LOG}", offset=offset)
        page, _, more = outcome.text.partition("\n(To go on, call read_attachment with offset ")
        pages.append(page)
        assert len(page) <= 8_000
        assert outcome.summary == f"{len(page):,} of {len(LOG):,} characters"
        if not more:
            break
        offset = int(more.partition(";")[0])
    assert "".join(pages) == LOG
    assert all(page.endswith("\n") for page in pages[:-1])


def test_a_query_gives_what_matches_with_the_lines_around_it_and_where_they_stand() -> None:
    outcome = call(f"What is this?\n\n{LOG}", query="certificate expires")
    around = "\n".join(LINES[599:602])
    assert outcome.text == f"(at offset {LOG.index(around)})\n{around}"
    assert outcome.summary == "1 place"
    nothing = call(f"What is this?\n\n{LOG}", query="penguins")
    assert nothing.text.startswith(f"Nothing in its {len(LOG):,} characters matches.")
    assert not nothing.failed
    assert call(f"What is this?\n\n{LOG}", offset=10**9).text == f"(The text ends at character {len(LOG):,}.)"


def test_of_many_matches_a_page_is_given() -> None:
    lines = [f"retry {n} of the mail gateway" if n % 5 == 0 else line for n, line in enumerate(LINES)]
    outcome = call("What is this?\n\n" + "\n".join(lines), query="gateway retry")
    assert 8_000 < len(outcome.text) < 16_000
    offsets = [line for line in outcome.text.splitlines() if line.startswith("(at offset ")]
    assert len(offsets) == len({*offsets}) > 10


@pytest.mark.parametrize("texts", [(), (LOG,)])
def test_a_text_that_is_not_there_is_told(texts: tuple[str, ...]) -> None:
    outcome = call(*texts, number=2)
    assert outcome.failed
    assert "no such text" in outcome.text
