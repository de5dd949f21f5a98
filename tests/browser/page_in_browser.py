"""The page of `zkchat serve` in a real browser. Run by `make browser`, not with the other tests."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.browser import axe
from tests.browser.chromium import Tab, tab
from tests.support.waiting import eventually
from tests.support.web_server import Web, served
from tests.support.world import GARDEN, World

Steps = list[dict[str, Any]]
LOOK: Steps = [{"thinking": "Where was it?"}, {"tool": "find_excerpts", "arguments": {"query": "hours of sleep"}}]
ANSWER: Steps = [
    {
        "text": "## Hours\n\nMost adults need seven to nine hours [[Sleep]].\n\n"
        "See **also** [[Sleep debt is not repaid in one weekend]].\n\n"
        "- [x] read\n- [ ] sleep\n\n| day | mood |\n|---|---:|\n| one | low |\n\n> A quote\n\n```\ncode\n```\n"
    }
]
CHANGE: Steps = [
    {
        "tool": "edit_document",
        "arguments": {
            "relative_path": "Reference/Sowing calendar.md",
            "old": "| courgettes | 20 April |",
            "new": "| courgettes | 27 April |",
        },
    }
]
PROPOSED: Steps = [{"text": "I propose the new date in the [[Sowing calendar]]."}]
REPORTS = (
    "window.reports = [];"
    "addEventListener('securitypolicyviolation', (event) => reports.push(event.violatedDirective + event.blockedURI));"
    "window.shifts = []; const seen = (list) => shifts.push("
    "...list.getEntries().filter((each) => !each.hadRecentInput).flatMap((each) => each.sources.map("
    "({ node, previousRect, currentRect }) => `${node?.id ?? node} from ${previousRect.y} to ${currentRect.y}`)));"
    "new PerformanceObserver(seen).observe({ type: 'layout-shift' });"
)
IS_IDLE = "!document.getElementById('send').hidden"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with tab(tmp_path_factory.mktemp("profile")) as opened:
        opened.call("Page.addScriptToEvaluateOnNewDocument", source=REPORTS)
        yield opened


@pytest.fixture
def world(world: World) -> World:
    shutil.copytree(GARDEN, world.vault, dirs_exist_ok=True)
    return world


@contextmanager
def page(browser: Tab, world: World, *answers: Steps, write: bool = False, width: int = 1280) -> Iterator[Web]:
    """The page over a model that says this, which in the end had nothing to complain of and asked nobody else."""
    calls = any("tool" in step for steps in answers for step in steps)
    with served(world, world.script(*answers, context_limit=16_384, calls_tools=calls), write=write) as web:
        browser.resize(width)
        browser.open(web.site.address)
        browser.wait("document.querySelector('#none:not([hidden]), #sessions li')")
        yield web
        reports = browser.value("reports")
        complaints, asked = browser.complaints, browser.asked_for
        browser.open("about:blank")
        assert (complaints, reports) == ([], [])
        assert [each for each in asked if not each.startswith(f"{web.base}/")] == []


def ask(browser: Tab, text: str) -> None:
    browser.value("document.getElementById('message').focus()")
    browser.type(text)
    browser.press("Enter")


def test_an_answer_streams_and_escape_stops_it(browser: Tab, world: World) -> None:
    slow: Steps = [{"text": "Seven to nine **hours**, says"}, {"delay": 60}, {"text": " nobody."}]
    with page(browser, world, slow) as web:
        place = "document.getElementById('composer').getBoundingClientRect().top"
        before = browser.value(place)
        ask(browser, "How much sleep do I need?")
        browser.wait("document.querySelector('.answer .text strong')")
        assert browser.texts(".question .text") == ["How much sleep do I need?"]
        assert browser.texts("#doing") == ["Writing …"]
        browser.wait("/\\d s/.test(document.getElementById('seconds').textContent)")
        assert browser.value(IS_IDLE) is False
        browser.press("Escape")
        browser.wait(IS_IDLE)
        assert browser.texts(".answer .text p") == ["Seven to nine hours, says", "Stopped."]
        assert browser.value(place) == before
        assert "Stopped." in browser.value("document.getElementById('said').textContent")
        (session,) = web.get("/api/sessions")
        assert web.get(f"/api/sessions/{session['id']}")["messages"][-1]["status"] == "unfinished"


def test_nothing_moves_while_an_answer_streams(browser: Tab, world: World) -> None:
    pieces: Steps = []
    for number in range(30):
        pieces += [{"text": f"Word {number} of it [[Sleep]].\n\n- a\n- b\n\n"}, {"delay": 0.04}]
    with page(browser, world, LOOK, pieces):
        browser.value("shifts.length = 0")
        ask(browser, "Tell me a lot.")
        browser.wait(f"document.querySelector('.answer footer a') && {IS_IDLE}")
        assert browser.value("shifts") == []


def test_who_reads_further_up_stays_there_while_an_answer_streams(browser: Tab, world: World) -> None:
    lines = "\n\n".join(f"Line {number}." for number in range(60))
    with page(browser, world, [{"text": lines}, {"delay": 60}]):
        ask(browser, "Tell me a lot.")
        browser.wait("document.querySelectorAll('.answer p').length === 60")
        log = "document.getElementById('log')"
        bottom = f"({log}.scrollHeight - {log}.scrollTop - {log}.clientHeight)"
        assert browser.value(bottom) < 2
        browser.value("document.getElementById('log').scrollTop = 100")
        browser.wait("!document.getElementById('latest').hidden")
        browser.click_on("#stop")
        browser.wait("document.querySelector('.remark')")
        assert browser.value("document.getElementById('log').scrollTop") == 100
        browser.click_on("#latest")
        browser.wait(f"{bottom} < 2")


def test_a_source_opens_beside_the_answer_and_its_links_can_be_followed_and_gone_back(
    browser: Tab, world: World
) -> None:
    with page(browser, world, LOOK, ANSWER):
        ask(browser, "How much sleep do I need?")
        browser.wait("document.querySelector('.answer footer a')")
        browser.wait(IS_IDLE)
        assert browser.texts(".answer .text h3")[0] == "Hours"
        assert browser.texts(".answer td") == ["one", "low"]
        assert browser.texts(".steps summary") == ["2 steps: Looking for passages on hours of sleep"]
        assert browser.texts("#filled")[0].endswith("% of 16,384 tokens")
        browser.point_at(".answer .text a.note")
        browser.wait("document.getElementById('note-title').textContent === 'Sleep'")
        browser.wait("document.querySelector('#note .passage')")
        assert "seven to nine hours" in browser.texts("#note .passage")[0]
        assert "Backlinks (3)" in browser.texts("#note > h3")
        browser.value("document.querySelector('#note a[data-note=\"Schlaf und Gedächtnis\"]').click()")
        browser.wait("document.getElementById('note-title').textContent === 'Schlaf und Gedächtnis'")
        browser.value("document.querySelector('#note .links a[data-path$=\"one weekend.md\"], #note .links a').click()")
        browser.wait("document.getElementById('note-title').textContent !== 'Schlaf und Gedächtnis'")
        browser.click_on("#back")
        browser.wait("document.getElementById('note-title').textContent === 'Schlaf und Gedächtnis'")
        browser.click_on("#back")
        browser.wait("document.querySelector('#note .passage')")
        assert browser.texts("#note-title") == ["Sleep"]
        assert browser.value("document.getElementById('back').disabled") is True


@pytest.mark.parametrize(("answer", "date"), [("yes", "27 April"), ("no", "20 April")])
def test_a_change_is_shown_as_a_diff_and_made_only_after_a_yes(
    browser: Tab, world: World, answer: str, date: str
) -> None:
    file = world.vault / "Reference" / "Sowing calendar.md"
    with page(browser, world, CHANGE, PROPOSED, write=True):
        ask(browser, "We sow courgettes a week later.")
        browser.wait("document.querySelector('.proposal button')")
        assert "| courgettes | 20 April |" in file.read_text()
        assert [each[:25] for each in browser.texts(".diff del, .diff ins")] == [
            "-| courgettes | 20 April ",
            "+| courgettes | 27 April ",
        ]
        assert browser.value("document.activeElement.className") == "proposal"
        browser.click_on(f".proposal button[value={answer}]")
        browser.wait(IS_IDLE)
        changed = "Changed: Reference/Sowing calendar.md. /undo takes it back."
        assert browser.texts(".decided") == [changed] if answer == "yes" else ["Not changed"]
        assert f"| courgettes | {date} |" in file.read_text()


def test_a_conversation_is_found_by_its_title_and_gone_on_with(browser: Tab, world: World) -> None:
    with page(browser, world, LOOK, ANSWER, [{"text": "Yes."}]) as web:
        ask(browser, "How much sleep do I need?")
        browser.wait(f"document.querySelector('.answer footer a') && {IS_IDLE}")
        browser.open(f"{web.base}/")
        browser.wait("document.querySelector('#sessions a')")
        assert browser.texts("#title") == ["New conversation"]
        browser.value("document.getElementById('search').focus()")
        browser.type("nothing")
        assert browser.texts("#none") == ["No title has these words."]
        browser.value("document.getElementById('search').select()")
        browser.type("SLEEP")
        browser.click_on("#sessions a")
        browser.wait("document.querySelector('.answer footer a')")
        assert browser.texts("#title") == ["How much sleep do I need?"]
        assert browser.value("document.querySelector('#sessions a').getAttribute('aria-current')") == "page"
        ask(browser, "Really?")
        browser.wait(f"document.querySelectorAll('.answer').length === 2 && {IS_IDLE}")
        browser.open(browser.value("location.href"))
        browser.wait("document.querySelectorAll('.answer').length === 2")
        assert browser.texts(".question .text") == ["How much sleep do I need?", "Really?"]


def test_everything_works_from_the_keyboard_alone(browser: Tab, world: World) -> None:
    with page(browser, world, LOOK, ANSWER):
        browser.type("Compare [[sle")
        browser.wait("!document.getElementById('choices').hidden")
        names = browser.texts("#choices b")
        assert names[0] == "Sleep"
        browser.press("ArrowDown")
        active = "document.getElementById(document.getElementById('message').getAttribute('aria-activedescendant'))"
        assert browser.value(f"{active}.querySelector('b').innerText") == names[1]
        assert browser.value(f"{active}.getAttribute('aria-selected')") == "true"
        browser.press("Tab")
        assert browser.value("document.getElementById('message').value") == f"Compare [[{names[1]}]]"
        browser.type(" and [[caff")
        browser.wait("!document.getElementById('choices').hidden")
        browser.press("Escape")
        assert browser.value("document.getElementById('choices').hidden") is True
        browser.press("Enter")
        browser.wait(f"document.querySelector('.answer footer a') && {IS_IDLE}")
        assert browser.value("document.activeElement.id") == "message"
        for _ in range(20):
            browser.press("Tab", shift=True)
            if browser.value("document.activeElement.matches('.answer footer a')"):
                break
        browser.press("Enter")
        browser.wait("document.activeElement.id === 'note-title'")
        browser.wait("document.getElementById('note-title').textContent !== 'Note'")
        for _ in range(5):
            browser.press("Tab")
        assert browser.value("document.activeElement.closest('#note a.note') !== null") is True


def test_commands_come_from_the_same_table(browser: Tab, world: World) -> None:
    with page(browser, world, [{"text": "Yes."}]):
        browser.type("/tod")
        browser.wait("!document.getElementById('choices').hidden")
        assert browser.texts("#choices b") == ["/today [DAYS]"]
        browser.press("Enter")
        browser.press("Enter")
        browser.wait(f"document.querySelector('.answer .text > div') && {IS_IDLE}")
        ask(browser, "/new")
        browser.wait("!document.getElementById('start').hidden")
        assert browser.texts("#examples b") == [
            "Ask in your own words",
            "Name a note: type [[",
            "See open tasks and changes",
        ]


def test_a_turn_in_a_terminal_appears(browser: Tab, world: World) -> None:
    with page(browser, world, [{"text": "From the page."}], [{"text": "From *the terminal*."}]) as web:
        ask(browser, "One?")
        browser.wait(f"document.querySelector('.answer .text p') && {IS_IDLE}")
        (session,) = web.get("/api/sessions")
        model = f"scripted:{world.root / 'play.json'}"
        assert world.run("ask", "Two?", "--session", session["id"], "--model", model).code == 0
        browser.wait("document.querySelectorAll('.answer').length === 2")
        assert browser.texts(".question .text") == ["One?", "Two?"]
        assert browser.texts(".answer .text") == ["From the page.", "From the terminal."]
        browser.wait("document.querySelectorAll('#sessions a').length === 1")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits(browser: Tab, world: World, width: int) -> None:
    wide = [{"text": f"{'wide ' * 40}\n\n```\n{'x' * 400}\n```\n\n| a | b |\n|---|---|\n| {'y' * 200} | [[Sleep]] |\n"}]
    with page(browser, world, wide, width=width):
        assert browser.value("document.documentElement.scrollWidth") == width
        ask(browser, f"{'long' * 60} [[Sleep]]")
        browser.wait(f"document.querySelector('.answer td a') && {IS_IDLE}")
        assert browser.value("document.documentElement.scrollWidth") == width
        log = "document.getElementById('log')"
        assert browser.value(f"{log}.scrollWidth === {log}.clientWidth") is True
        small = "[...document.querySelectorAll('button')].filter((each) => each.offsetParent && each.offsetHeight < 36)"
        assert browser.value(f"{small}.map((each) => each.id)") == []


def test_panels_are_drawers_on_a_phone(browser: Tab, world: World) -> None:
    with page(browser, world, LOOK, ANSWER, width=390):
        ask(browser, "How much sleep do I need?")
        browser.wait(f"document.querySelector('.answer footer a') && {IS_IDLE}")
        right = "document.getElementById('right').getBoundingClientRect()"
        assert browser.value(f"{right}.left") >= 390
        browser.value("document.querySelector('.answer footer a').scrollIntoView()")
        browser.click_on(".answer footer a")
        browser.wait(f"document.querySelector('#note .passage') && {right}.right <= 390")
        assert browser.value("document.getElementById('middle').inert") is True
        browser.press("Escape")
        browser.wait(f"{right}.left >= 390")
        browser.click_on("#show-left")
        browser.wait("document.getElementById('left').getBoundingClientRect().left === 0")
        browser.click_on("#new")
        browser.wait("document.getElementById('left').getBoundingClientRect().right <= 0")
        assert browser.value("document.activeElement.id") == "message"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(browser: Tab, world: World, width: int, scheme: str) -> None:
    script = axe.source()
    with page(browser, world, LOOK, ANSWER, CHANGE, PROPOSED, write=True, width=width):
        browser.resize(width, scheme=scheme)
        browser.call("Runtime.evaluate", expression=script)
        assert browser.value(axe.VIOLATIONS) == []
        ask(browser, "How much sleep do I need?")
        browser.wait(f"document.querySelector('.answer footer a') && {IS_IDLE}")
        browser.value("document.querySelector('.steps').open = document.getElementById('context').open = true")
        assert browser.value(axe.VIOLATIONS) == []
        browser.value("document.getElementById('context').open = false")
        browser.value("document.querySelector('.answer footer a').click()")
        browser.wait("document.querySelector('#note .passage')")
        assert browser.value(axe.VIOLATIONS) == []
        browser.press("Escape")
        browser.value("document.getElementById('message').focus()")
        browser.type("[[sle")
        browser.wait("!document.getElementById('choices').hidden")
        assert browser.value(axe.VIOLATIONS) == []
        browser.value("document.getElementById('message').value = ''")
        ask(browser, "We sow courgettes a week later.")
        browser.wait("document.querySelector('.proposal button')")
        assert browser.value(axe.VIOLATIONS) == []
        browser.click_on("#stop")
        browser.wait(IS_IDLE)


SHOWN = (
    (
        "a *b* **c** ~~d~~ ==e== `f` \\*g\\*",
        "<p>a <em>b</em> <strong>c</strong> <del>d</del> <mark>e</mark> <code>f</code> *g*</p>",
    ),
    ("snake_case_word and 2 * 3 * 4", "<p>snake_case_word and 2 * 3 * 4</p>"),
    ("# One\n### Three", "<h3>One</h3><h4>Three</h4>"),
    ("1. a\n   - b\n2. c", "<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>"),
    ("3) a\n4) b", '<ol start="3"><li>a</li><li>b</li></ol>'),
    ("> a\nb\n\nc", "<blockquote><p>a\nb</p></blockquote><p>c</p>"),
    ("> [!tip] Try\n> it", '<blockquote><p class="title">Try</p><p>it</p></blockquote>'),
    ("```python\n<b>*x*\n", "<pre><code>&lt;b&gt;*x*\n</code></pre>"),
    ("a  \nb<br>c<hr>", "<p>a<br>b<br>c&lt;hr&gt;</p>"),
    ("![x](https://a.example/b.png)", '<p><span class="image">image: x</span></p>'),
    ("a ^name", "<p>a</p>"),
    ("- - -", "<hr>"),
)


def test_markdown_becomes_nodes(browser: Tab, world: World) -> None:
    plain = (
        "(async () => { const { Rendered } = await import('/markdown.js');"
        " const shown = document.createElement('div'); new Rendered(shown).show(%s);"
        " const more = ['dir', 'tabindex', 'data-line', 'data-end'];"
        " for (const each of shown.querySelectorAll('*')) for (const name of more) each.removeAttribute(name);"
        " return shown.innerHTML.replaceAll(' class=\"\"', ''); })()"
    )
    with page(browser, world, [{"text": "Yes."}]):
        found = {text: browser.value(plain % json.dumps(text)) for text, _ in SHOWN}
    assert found == dict(SHOWN)


PIECES = (
    "<script>window.hit = 1</script>",
    '<img src=x onerror="window.hit = 2">',
    "<svg onload=window.hit=3><iframe src=javascript:window.hit=4></svg>",
    "[a](javascript:window.hit=5) [b](JaVa\tScRiPt:window.hit=6) [c](<java script:window.hit=7>)",
    "[d](data:text/html,<script>window.hit=8</script>) [e](//evil.example/x) [f](file:///etc/passwd)",
    "![pixel](https://evil.example/pixel.png) ![[https://evil.example/p.png]]",
    "[[javascript:window.hit=9]] [[<img src=x onerror=window.hit=10>|label]]",
    '<a href="javascript:window.hit=11" style="position:fixed;inset:0">x</a><style>*{display:none}</style>',
    '[ok](https://example.org/"onmouseover="window.hit=12)',
    "| <b onclick=window.hit=13>x</b> | `<script>` |\n|---|---|\n| [x](vbscript:x) | \u202egnp.exe\u202c |",
    "<https://example.org/><javascript:window.hit=14>",
    "\u202e\u2066 turned \u2069 text \u200f",
)
NESTS = (
    f"{'> ' * 2000}deep",
    "\n".join(f"{'  ' * depth}- item" for depth in range(200)),
    "*" * 3000 + "a" + "*" * 2999,
    "**a " * 1500 + "_b " * 1500,
    "[" * 4000 + "]" * 4000 + "(x)" * 500,
    "`" * 300 + "x" + " `" * 1500,
    "#" * 3000 + " x\n" + "# " + " " * 3000 + "#",
    "|" * 3000 + "\n" + "|-" * 1500,
)


def hostile_markdown() -> str:
    text = "\n\n".join([*PIECES, *NESTS])
    return text + "\n\n" + "\n\n".join(PIECES) * ((50_000 - len(text)) // len("\n\n".join(PIECES)) + 1)


def test_fifty_kilobytes_of_hostile_markdown_do_nothing(browser: Tab, world: World) -> None:
    text = hostile_markdown()
    assert len(text) >= 50_000
    world.note("Hostile.md", text)
    with page(browser, world, [{"text": text[: len(text) // 2]}, {"text": text[len(text) // 2 :]}]) as web:
        ask(browser, f"What is in [[Hostile]]? {PIECES[1]} {PIECES[5]}")
        browser.wait(f"document.querySelector('.answer .text > div') && {IS_IDLE}")
        browser.value("document.querySelector('.question a.note').click()")
        browser.wait("document.querySelectorAll('#note blockquote').length > 0")
        assert browser.value("window.hit") is None
        strange = "#messages :is(script, img, svg, iframe, style, object, embed, form, b, link, base, [style])"
        assert browser.value(f"document.querySelectorAll({strange!r}).length") == 0
        assert browser.value(f"document.querySelectorAll({strange.replace('messages', 'note')!r}).length") == 0
        links = browser.value("[...document.querySelectorAll('main a[href], aside a[href]')].map((each) => each.href)")
        starts = (f"{web.base}/?note=", "https://example.org/")
        assert [each for each in links if not each.startswith(starts)] == []
        handlers = "[...document.querySelectorAll('*')].flatMap((each) => each.getAttributeNames())"
        assert browser.value(f"{handlers}.filter((name) => name.startsWith('on'))") == []
        assert "<script>window.hit = 1</script>" in browser.value("document.querySelector('.answer').textContent")
        assert [each for each in browser.events if each.get("method") == "Page.javascriptDialogOpening"] == []
        assert browser.value("document.documentElement.scrollWidth") == 1280


def test_an_empty_vault_shows_three_things_to_do(browser: Tab, tmp_path: Path) -> None:
    with page(browser, World(tmp_path), [{"text": "Hello."}]):
        assert len(browser.texts("#examples button")) == 3
        assert browser.texts("#none") == ["Your conversations will be listed here."]
        browser.click_on("#examples button")
        assert browser.value("document.getElementById('message').value") == "What did I write last week?"


def test_a_server_that_is_gone_is_told(browser: Tab, world: World) -> None:
    with page(browser, world, [{"text": "Hello."}]) as web:
        pass
    browser.open("about:blank")
    with served(world, "quote") as web:
        browser.open(web.site.address)
        browser.wait("document.querySelector('#sessions')")
    eventually(lambda: "does not answer" in "".join(browser.texts("#problem")))
