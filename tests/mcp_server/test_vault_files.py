"""Resources and completions at their limits: pages, sizes, names, and attachments of notes that are kept back."""

import os
from datetime import datetime
from typing import Any

from tests.support.mcp_lines import answers, handshake, modern, request
from tests.support.world import World

LOCAL = "---\nzkchat: local\n---\n"


def asked(world: World, *requests: tuple[str, dict[str, Any]], options: tuple[str, ...] = ()) -> list[Any]:
    lines = [modern(number, method, **params) for number, (method, params) in enumerate(requests)]
    received = answers(world, *lines, options=options)
    return [received[number] for number in range(len(requests))]


def read(path: str) -> tuple[str, dict[str, Any]]:
    return "resources/read", {"uri": f"note:///{path}"}


def completed(typed: str) -> tuple[str, dict[str, Any]]:
    ref = {"type": "ref/resource", "uri": "note:///{+path}"}
    return "completion/complete", {"ref": ref, "argument": {"name": "path", "value": typed}}


def names(page: dict[str, Any]) -> list[str]:
    return [each["name"] for each in page["resources"]]


def test_a_cursor_goes_on_where_the_page_ended_whatever_became_of_the_notes(world: World) -> None:
    for number in range(250):
        world.note(f"{number:03}.md", "x\n")
    (first,) = asked(world, ("resources/list", {}))
    assert names(first) == [f"{number:03}.md" for number in range(100)]
    for number in (0, 99, 100):
        (world.vault / f"{number:03}.md").unlink()
    world.note("000a.md", "x\n")
    (second,) = asked(world, ("resources/list", {"cursor": first["nextCursor"]}))
    assert names(second) == [f"{number:03}.md" for number in range(101, 201)]
    search: tuple[str, dict[str, Any]] = ("tools/call", {"name": "search", "arguments": {"query": "x"}})
    third, found, hits = asked(world, ("resources/list", {"cursor": second["nextCursor"]}), completed(""), search)
    assert len(hits["structuredContent"]["results"]) == 10
    assert names(third) == [f"{number:03}.md" for number in range(201, 250)]
    assert "nextCursor" not in third
    assert len(found["completion"]["values"]) == 100
    assert (found["completion"]["total"], found["completion"]["hasMore"]) == (248, True)


def test_a_file_that_is_too_large_is_refused_with_a_sentence(world: World) -> None:
    world.note("small.bin", b"\0" * 8_000_000)
    world.note("large.bin", b"\0" * 8_000_001)
    small, large = asked(world, read("small.bin"), read("large.bin"))
    assert small["contents"][0]["mimeType"] == "application/octet-stream"
    assert large["message"] == "large.bin is larger than 8,000,000 bytes and was not read."


def test_text_is_text_by_what_it_is(world: World) -> None:
    world.note("a.svg", "<svg/>")
    world.note("b.txt", "plain\n")
    world.note("c.txt", b"caf\xe9")
    world.note("d.unknown", "what\n")
    contents = [each["contents"][0] for each in asked(world, *map(read, ("a.svg", "b.txt", "c.txt", "d.unknown")))]
    assert [(each["mimeType"], "text" in each) for each in contents] == [
        ("image/svg+xml", False),
        ("text/plain", True),
        ("text/plain", False),
        ("text/plain", True),
    ]


def test_a_note_is_read_without_its_comments(world: World) -> None:
    world.note("Tea.md", "Green.\n%% not for others %%\nBlack.\n")
    (note,) = asked(world, read("Tea.md"))
    assert note["contents"][0]["text"] == "Green.\n\nBlack.\n"


def test_the_other_form_of_a_letter_finds_the_file(world: World) -> None:
    world.note("Caf\u00e9.md", "Coffee.\n")
    (note,) = asked(world, read("Cafe%CC%81.md"))
    assert note["contents"][0]["text"] == "Coffee.\n"


def test_an_attachment_of_notes_that_are_kept_back_is_kept_back_with_them(world: World) -> None:
    world.note("Secret.md", f"{LOCAL}![[scan.png]] ![[both.png]] ![[both.zip]] ![[scan.zip]]\n")
    world.note("Open.md", "![[both.png]] ![[both.zip]]\n")
    for name in ("scan.png", "both.png", "free.png", "both.zip", "scan.zip"):
        world.note(name, b"\x89PNG")
    everything: tuple[str, dict[str, Any]] = ("resources/list", {})
    requests = everything, read("scan.png"), read("none.png"), completed("scan"), read("both.zip"), read("both.png")
    listed, scan, none, found, both, image = asked(world, *requests)
    assert names(listed) == ["Open.md", "both.zip", "free.png"]  # of an image the strictest of its notes decides
    assert (scan["code"], scan["message"]) == (none["code"], none["message"])
    assert image["code"] == none["code"]
    assert found["completion"] == {"values": [], "total": 0, "hasMore": False}
    assert both["contents"][0]["mimeType"] == "application/zip"
    listed, scan, *_ = asked(world, *requests, options=("--local",))
    assert "scan.png" in names(listed)
    assert scan["contents"][0]["mimeType"] == "image/png"


def test_a_note_that_became_local_just_now_is_gone_from_lists(world: World) -> None:
    file = world.note("Diary.md", "# Diary\n")
    assert names(asked(world, ("resources/list", {}))[0]) == ["Diary.md"]
    file.write_text(f"{LOCAL}# Diary\n")
    listed, found = asked(world, ("resources/list", {}), completed("di"))
    assert (names(listed), found["completion"]["values"]) == ([], [])


def test_what_is_no_cursor_no_template_and_too_long_is_answered_in_the_earlier_revision_too(world: World) -> None:
    world.note("Tea.md", "x\n")
    long = "note:///" + "x" * 20_000
    lines = [
        request(1, "resources/list", cursor="????"),
        request(2, "resources/list", cursor="é"),
        request(3, "resources/read", uri=long),
        request(
            4,
            "completion/complete",
            ref={"type": "ref/resource", "uri": "x:///{y}"},
            argument={"name": "y", "value": ""},
        ),
        request(5, *completed("x" * 10_001)[:1], **completed("x" * 10_001)[1]),
        request(6, "prompts/get", name="ask", arguments={"question": "x" * 10_001}),
        request(7, "prompts/list", cursor="x"),
        request(8, "resources/templates/list", cursor="x"),
        request(9, "prompts/get", name="x" * 101),
        request(10, "prompts/get", name="ask", arguments={"question": "x" * 10_000}),
    ]
    found = answers(world, *handshake(), *lines)
    assert {number: found[number]["code"] for number in (1, 2, 3, 4, 6, 7, 8)} == {
        **dict.fromkeys((1, 2, 4, 6, 7, 8), -32602),
        3: -32002,
    }
    assert found[5]["completion"]["values"] == []
    assert len(found[3]["data"]["uri"]) == 10_000
    assert found[9]["message"] == f"Unknown prompt: {'x' * 99}…"
    assert found[10]["messages"]


def test_a_prompt_has_the_beginnings_of_the_eight_latest_notes_and_days_are_offered_for_two_weeks(world: World) -> None:
    for number in range(9):
        world.note(f"{number}.md", f"{number} {'x' * 5_000}\n")
    ref = {"type": "ref/prompt", "name": "daily_review"}
    changed, days = asked(
        world,
        ("prompts/get", {"name": "what_changed", "arguments": {"since": "2d"}}),
        ("completion/complete", {"ref": ref, "argument": {"name": "date", "value": ""}}),
    )
    begun = [message["content"]["resource"]["text"] for message in changed["messages"][2:]]
    assert [len(text) for text in begun] == [4_000] * 8
    assert len(days["completion"]["values"]) == 2 + 14


def test_a_days_review_has_its_daily_note_and_its_open_tasks(world: World) -> None:
    file = world.note("Daily/2026-03-01.md", "# Sunday\n\n- [ ] water the <b>tea</b>\n- [x] sleep\n")
    changed = datetime(2026, 3, 1, 12, 30).astimezone().timestamp()
    os.utime(file, (changed, changed))
    (review,) = asked(world, ("prompts/get", {"name": "daily_review", "arguments": {"date": "2026-03-01"}}))
    task, report, note = (message["content"] for message in review["messages"])
    assert "The daily note is [[2026-03-01]]." in task["text"]
    assert report["text"] == (
        "<vault_report>\nopen tasks without a date:\n- [[2026-03-01]]: water the &lt;b&gt;tea&lt;/b&gt;\n\nchanged "
        "notes, the latest first:\n- 2026-03-01 [[2026-03-01]]\n</vault_report>"
    )
    assert note["resource"]["uri"] == "note:///Daily/2026-03-01.md"
