"""Clients of OpenAI's API: answers over the notes, with sources, and conversations that clients hold themselves."""

import json
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import openai
import pytest

pytest.importorskip("starlette")

from tests.support.acp_client import started_acp
from tests.support.images import picture
from tests.support.web_server import TOKEN, Web, events_of, served
from tests.support.world import World

pytestmark = [pytest.mark.outside, pytest.mark.skipif(sys.platform == "win32", reason="signals")]
TEXT = "Seven hours, says [[Sleep]]."
QUESTION = {"role": "user", "content": "How long should I [[Sleep]]?"}


@pytest.fixture
def world(world: World) -> World:
    world.note("Sleep (long).md", "# Sleep [long]\n\nSeven hours are enough.\n")
    world.note("Sleep.md", "# Sleep\n\nSeven hours are enough.\n")
    return world


@pytest.fixture
def web(world: World) -> Iterator[Web]:
    answer = [{"thinking": "Hm."}, {"text": "Seven hours, "}, {"text": "says [[Sleep]]."}]
    with served(world, world.script(answer, [{"text": "Because of [[Sleep (long)]]."}], sees_images=True)) as web:
        yield web


def completed(web: Web, *messages: dict[str, Any], **more: Any) -> Any:
    return web.post("/v1/chat/completions", {"model": "zkchat", "messages": [*messages], **more})


def sessions(web: Web) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = web.world.run("sessions", "list", "--all", "--json").json
    return found


def check_sources(text: str, annotations: list[dict[str, Any]], path: Path, title: str) -> None:
    (annotation,) = annotations
    citation = annotation["url_citation"]
    assert (annotation["type"], citation["url"], citation["title"]) == ("url_citation", path.as_uri(), title)
    link = text[citation["start_index"] : citation["end_index"]]
    assert link.startswith("[")
    assert link.endswith(f"]({path.as_uri().replace('(', '%28').replace(')', '%29')})")
    assert text.endswith(link)


def test_an_answer_that_is_cut_off_says_so(world: World) -> None:
    with served(world, world.script([{"text": "Seven and"}, {"finish": "length"}])) as web:
        assert completed(web, QUESTION)["choices"][0]["finish_reason"] == "length"


def test_no_more_than_twelve_sources_are_linked(world: World) -> None:
    names = [f"Nap {number}" for number in range(13)]
    for name in names:
        world.note(f"{name}.md", "Short.\n")
    links = ", ".join(f"[[{name}]]" for name in names)
    with served(world, world.script([{"text": f"See {links}."}])) as web:
        answer = completed(web, {"role": "user", "content": f"How long are {links}?"})
    assert len(answer["choices"][0]["message"]["annotations"]) == 12


def test_an_answer_has_its_sources_and_the_next_question_goes_on_in_its_session(web: Web) -> None:
    first = completed(web, {"role": "system", "content": "Speak like a pirate."}, QUESTION)
    (choice,) = first["choices"]
    assert (first["object"], first["model"], choice["finish_reason"]) == ("chat.completion", "zkchat", "stop")
    text = choice["message"]["content"]
    assert text.startswith(TEXT)
    assert choice["message"]["reasoning_content"] == "Hm."
    check_sources(text, choice["message"]["annotations"], web.world.vault / "Sleep.md", "Sleep")
    assert first["usage"]["total_tokens"] == first["usage"]["prompt_tokens"] + first["usage"]["completion_tokens"] > 0
    (session,) = sessions(web)
    assert not session["listed"]
    request = web.world.run("context", "show", session["id"], "--request", "--json").out
    assert "Speak like a pirate." in request
    question = {"role": "user", "content": "[[Sleep (long)]]: why?"}
    second = completed(web, QUESTION, {"role": "assistant", "content": text}, question)
    message = second["choices"][0]["message"]
    check_sources(message["content"], message["annotations"], web.world.vault / "Sleep (long).md", "Sleep [long]")
    assert "[Sleep \\[long\\]](" in message["content"]
    (same,) = sessions(web)
    assert (same["id"], same["message_count"], same["listed"]) == (session["id"], 4, True)


def test_a_conversation_goes_on_in_its_session_after_a_restart_unless_somebody_else_did(world: World) -> None:
    model = world.script(*([[{"text": f"Answer {number}, [[Sleep]]."}] for number in range(4)]))
    with served(world, model) as web:
        text = completed(web, QUESTION)["choices"][0]["message"]["content"]
    before = (QUESTION, {"role": "assistant", "content": text})
    with served(world, model) as web:
        more = completed(web, *before, {"role": "user", "content": "[[Sleep]], really?"})
        assert more["choices"][0]["message"]["content"].startswith("Answer 1")
        assert len(sessions(web)) == 1
        completed(web, *before, {"role": "user", "content": "[[Sleep]], why?"})
        assert [each["message_count"] for each in sessions(web)] == [4, 4]


def test_an_answer_can_be_streamed(web: Web) -> None:
    body = {"messages": [QUESTION], "stream": True, "stream_options": {"include_usage": True}}
    with web.client() as client, client.stream("POST", "/v1/chat/completions", json=body) as answer:
        lines = [*answer.iter_lines()]
    assert lines[-2:] == ["data: [DONE]", ""]
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-2] if line.startswith("data: ")]
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["total_tokens"]
    deltas = [chunk["choices"][0] for chunk in chunks[:-1]]
    assert (deltas[0]["delta"], deltas[-1]["finish_reason"]) == ({"role": "assistant", "content": ""}, "stop")
    text = "".join(each["delta"].get("content", "") for each in deltas)
    check_sources(text, deltas[-2]["delta"]["annotations"], web.world.vault / "Sleep.md", "Sleep")
    assert "".join(each["delta"].get("reasoning_content", "") for each in deltas) == "Hm."


@pytest.mark.parametrize(("more", "private"), [({}, False), ({"store": False}, True)])
def test_what_was_said_elsewhere_is_the_history_of_a_new_session(web: Web, more: Any, private: bool) -> None:
    before = [{"role": "user", "content": "I like tea."}, {"role": "assistant", "content": "Fine."}]
    parts = [
        {"type": "text", "text": "How long should I [[Sleep]]?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(picture()).decode()}"}},
    ]
    assert "choices" in completed(web, *before, {"role": "user", "content": parts}, **more)
    (session,) = sessions(web)
    assert web.ask("/help", session=session["id"])[0]["private"] is private
    shown = web.world.run("sessions", "show", session["id"], "--json").json["messages"]
    assert [each["parts"][0]["text"] for each in shown[:3]] == ["I like tea.", "Fine.", "How long should I [[Sleep]]?"]
    assert "image" in {part["kind"] for part in shown[2]["parts"]}
    assert "I like tea." in web.world.run("context", "show", session["id"], "--request", "--json").out


def test_what_cannot_be_answered_is_refused_and_not_asked_again(web: Web) -> None:
    bodies: list[dict[str, Any]] = [
        {},
        {"messages": []},
        {"messages": "Hello"},
        {"messages": [{"role": "system", "content": "Hello"}]},
        {"messages": [QUESTION, {"role": "assistant", "content": "Fine."}]},
        {"messages": [{"role": "user", "content": 5}]},
        {"messages": [{"role": "user", "content": ""}]},
        {"messages": [QUESTION], "n": 2},
        {"messages": [QUESTION], "model": "nobody:nothing"},
        {"messages": [QUESTION], "model": "agent:nobody", "stream": True},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.y/z"}}]}]},
    ]
    with web.client() as client:
        for body in bodies:
            answer = client.post("/v1/chat/completions", json=body)
            assert answer.status_code == 400, answer.text
            assert answer.json()["error"]["message"]
            assert answer.headers["x-should-retry"] == "false"


def test_a_model_that_fails_is_an_error(world: World) -> None:
    failing = world.script([{"error": "No room.", "hint": "Wait."}], [{"text": "Seven"}, {"error": "Gone."}])
    with served(world, failing) as web, web.client() as client:
        failed = client.post("/v1/chat/completions", json={"messages": [QUESTION]})
        assert (failed.status_code, failed.json()["error"]["message"]) == (502, "No room.")
        assert failed.json()["error"]["hint"] == "Wait."
        body = {"messages": [QUESTION], "stream": True}
        world.script([{"text": "Seven"}, {"error": "Gone."}])
        with client.stream("POST", "/v1/chat/completions", json=body) as answer:
            assert [*events_of(answer)][-1]["error"]["message"] == "Gone."


def test_a_client_that_leaves_stops_the_answer(world: World) -> None:
    with (
        served(world, world.script([{"text": "Seven "}, {"delay": 60}])) as web,
        web.client() as client,
        client.stream("POST", "/v1/chat/completions", json={"messages": [QUESTION], "stream": True}) as answer,
    ):
        next(chunk for chunk in events_of(answer) if chunk["choices"][0]["delta"].get("content"))
    (session,) = world.run("sessions", "list", "--all", "--json").json
    shown = world.run("sessions", "show", session["id"], "--json").json["messages"]
    assert (shown[-1]["parts"][0]["text"], shown[-1]["status"]) == ("Seven ", "unfinished")


def test_models_and_agents_are_listed(web: Web) -> None:
    names = [each["id"] for each in web.get("/v1/models")["data"]]
    assert {"zkchat", "agent:default", "agent:research", "quote"} <= {*names}
    quoted = completed(web, {"role": "user", "content": "How many hours are enough?"}, model="quote")
    assert "Seven hours are enough." in quoted["choices"][0]["message"]["content"]
    by_agent = completed(web, QUESTION, model="agent:research")
    assert by_agent["choices"][0]["message"]["content"].startswith(TEXT)


def test_texts_are_embedded_as_the_notes_are(web: Web) -> None:
    found = web.post("/v1/embeddings", {"model": "any", "input": ["sleep", "tea"]})
    assert [each["index"] for each in found["data"]] == [0, 1]
    packed = web.post("/v1/embeddings", {"input": "sleep", "encoding_format": "base64"})["data"][0]["embedding"]
    assert len(b64decode(packed)) == 4 * len(found["data"][0]["embedding"])
    assert len(web.post("/v1/embeddings", {"input": ["x"] * 2_048, "encoding_format": "base64"})["data"]) == 2_048
    for wrong in (None, [], [5], ["x"] * 2_049):
        assert web.post("/v1/embeddings", {"input": wrong})["error"]["type"] == "UsageError"


def test_the_client_of_openai_is_content(web: Web) -> None:
    client: Any = openai.OpenAI(base_url=f"{web.base}/v1", api_key=TOKEN)
    assert "zkchat" in [model.id for model in client.models.list()]
    whole = client.chat.completions.create(model="zkchat", messages=[QUESTION])
    assert whole.choices[0].message.annotations[0].url_citation.title == "Sleep"
    stream = client.chat.completions.create(model="zkchat", messages=[QUESTION], stream=True)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert text == whole.choices[0].message.content
    assert len(client.embeddings.create(model="any", input=["sleep"]).data[0].embedding) > 10
    with pytest.raises(openai.BadRequestError, match="There is no agent"):
        client.chat.completions.create(model="agent:nobody", messages=[QUESTION])
    with pytest.raises(openai.AuthenticationError):
        openai.OpenAI(base_url=f"{web.base}/v1", api_key="wrong").models.list()


def test_responses_go_on_with_each_other_as_often_as_a_client_likes(world: World) -> None:
    with served(world, world.script(*([[{"text": f"Answer {number}, [[Sleep]]."}] for number in range(4)]))) as web:
        client: Any = openai.OpenAI(base_url=f"{web.base}/v1", api_key=TOKEN)
        first = client.responses.create(model="zkchat", instructions="Speak like a pirate.", input="[[Sleep]]?")
        assert (first.status, first.output[0].role) == ("completed", "assistant")
        assert first.usage.total_tokens == first.usage.input_tokens + first.usage.output_tokens > 0
        (annotation,) = first.output[0].content[0].annotations
        citation = {"type": annotation.type, "url_citation": annotation.model_dump(exclude={"type"})}
        check_sources(first.output_text, [citation], world.vault / "Sleep.md", "Sleep")
        (session,) = sessions(web)
        assert "like a pirate" in world.run("context", "show", session["id"], "--request", "--json").out
        go_on = {"model": "zkchat", "previous_response_id": first.id}
        asked = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "[[Sleep]], why?"}]}]
        second = client.responses.create(input=asked, **go_on)
        assert [each["message_count"] for each in sessions(web)] == [4]
        client.responses.create(input="[[Sleep]], really?", model="zkchat", previous_response_id=second.id)
        assert [each["message_count"] for each in sessions(web)] == [6]
        assert client.responses.create(input="[[Sleep]], how?", **go_on).output_text.startswith("Answer 1")
        assert sorted(each["message_count"] for each in sessions(web)) == [4, 6]
        with pytest.raises(openai.BadRequestError, match="resp_0 is no longer known"):
            client.responses.create(model="zkchat", input="Why?", previous_response_id="resp_0")
        for wrong in (5, [], [5], ""):
            assert web.post("/v1/responses", {"input": wrong})["error"]["type"] == "UsageError"


def test_a_response_can_be_streamed_and_tells_what_failed(world: World) -> None:
    model = world.script(
        [{"text": "Seven hours, "}, {"text": "says [[Sleep]]."}], [{"text": "Eight"}, {"error": "Gone."}]
    )
    with served(world, model) as web:
        client: Any = openai.OpenAI(base_url=f"{web.base}/v1", api_key=TOKEN)
        with client.responses.stream(model="zkchat", input="How long should I [[Sleep]]?") as stream:
            kinds = [event.type for event in stream]
            whole = stream.get_final_response()
        assert whole.output_text.startswith(TEXT)
        assert kinds[:3] == ["response.created", "response.output_item.added", "response.content_part.added"]
        assert kinds[-3:] == ["response.content_part.done", "response.output_item.done", "response.completed"]
        assert {"response.output_text.delta", "response.output_text.annotation.added"} <= {*kinds}
        failed = client.responses.create(model="zkchat", input="Why?", stream=True, previous_response_id=whole.id)
        last = [*failed][-1]
        assert (last.type, last.response.error.message) == ("response.failed", "Gone.")


def test_clients_of_two_protocols_and_the_command_line_use_one_vault_at_once(web: Web) -> None:
    client: Any = openai.OpenAI(base_url=f"{web.base}/v1", api_key=TOKEN)

    def complete(_: int) -> str:
        stream = client.chat.completions.create(model="zkchat", messages=[QUESTION], stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in stream)

    with started_acp(web.world) as editor, ThreadPoolExecutor() as pool:
        completing = pool.map(complete, range(4))
        session = editor.new(model="quote")
        asked = [editor.ask(session, "How many hours are enough?") for _ in range(3)]
        told = [web.world.run("ask", "How many hours are enough?", "--model", "quote").out for _ in range(3)]
        assert all(text.startswith(TEXT) for text in completing)
    assert asked == ["end_turn"] * 3
    assert editor.text(session).count("Seven hours are enough.") >= 3
    assert all("Seven hours are enough." in each for each in told)
