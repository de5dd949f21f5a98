"""Imports: conversations and facts from files that others wrote; what is exported is imported as it was."""

import json
import sqlite3
from contextlib import closing
from io import BytesIO
from random import Random
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from tests.fuzz import mutation
from tests.fuzz.case import Case, Folders, Target, require
from tests.fuzz.worlds import FuzzWorld, Worlds
from zkchat.render.sanitize import sanitize_line

TYPED = "/history\n/refs\n/context\n/stats\n/compact\n/uncompact\n/why\n/expand 1\n/branch 1\n/retry\n/pin 1\nhello\n"
ROLES = ("user", "assistant", "system", "tool", "human", "ai", "king", "", 7)


def message(rng: Random) -> Any:
    content: Any = mutation.text(rng, 3_000)
    if rng.random() < 0.3:
        content = [{"type": rng.choice(("text", "image_url", "tool_use", "x")), "text": content}]
    calls = [{"id": "1", "type": "function", "function": {"name": "find", "arguments": mutation.line(rng)}}]
    more = {"tool_calls": calls} if rng.random() < 0.2 else {}
    return {
        "role": rng.choice(ROLES[:4]) if rng.random() < 0.98 else rng.choice(ROLES),
        "content": content,
        **more,
    }


def foreign(rng: Random) -> Any:
    """The export of another program, with several conversations."""
    said = [message(rng) for _ in range(rng.randint(1, 4))]
    ids = [str(number) for number in range(len(said))]
    nodes = {
        id_: {
            "parent": ids[number - 1] if number else None,
            "children": ids[number + 1 : number + 2],
            "message": {
                "author": {"role": each["role"]},
                "content": {"content_type": "text", "parts": [each["content"]]},
            },
        }
        for number, (id_, each) in enumerate(zip(ids, said, strict=True))
    }
    return rng.choice(
        (
            [{"title": "A", "mapping": nodes, "current_node": ids[-1]}, {"mapping": {}}],
            [{"uuid": "c", "name": "B", "chat_messages": [{**each, "sender": each["role"]} for each in said]}],
            {"s1": {"messages": said, "created_at": "2026-01-01T00:00:00"}, "s2": {"messages": said[:1]}},
            {"input": said, "output": [{"type": "function_call", "call_id": "1", "name": "find", "arguments": "{}"}]},
        )
    )


def archive(rng: Random, text: str) -> bytes:
    data = BytesIO()
    with ZipFile(data, "w", ZIP_DEFLATED) as made:
        made.writestr(rng.choice(("conversations.json", "x/conversations-001.json", "other.json")), text)
        made.writestr("chat.html", "<p>")
    return data.getvalue()


def database(case: Case) -> bytes:
    """A log of llm."""
    rng, file = case.rng, case.folder / "made.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE conversations (id, name, model)")
        connection.execute(
            "CREATE TABLE responses (id, model, prompt, system, response, conversation_id, datetime_utc)"
        )
        for number in range(rng.randint(1, 4)):
            texts = [mutation.text(rng, 500).encode(errors="replace").decode() for _ in range(3)]
            connection.execute("INSERT INTO responses VALUES (?, 'm', ?, ?, ?, 'c', '2026-01-01')", (number, *texts))
        connection.commit()
    return file.read_bytes()


def conversation(rng: Random, exported: Any) -> str:
    """Our own JSON, `{"messages": […]}`, a list, an export of another program, Markdown, or anything."""
    listed: Any = [message(rng) for _ in range(rng.randint(1, 4))]
    match rng.randrange(10):
        case 8 | 9:
            return mutation.json_text(rng, mutation.mutated_json(rng, foreign(rng), 0.02))
        case 0 | 1:
            return mutation.json_text(rng, mutation.mutated_json(rng, exported, 0.02))
        case 6 | 7:
            return json.dumps(mutation.crossed_json(rng, exported))
        case 2:
            return mutation.json_text(rng, mutation.mutated_json(rng, {"title": "T", "messages": listed}, 0.03))
        case 3 | 4:
            return mutation.json_text(rng, mutation.mutated_json(rng, listed, 0.005))
        case _:
            return mutation.text(rng, 20_000)


def shown(world: FuzzWorld, session: str) -> list[Any]:
    messages = world.checked("sessions", "show", session, "--json").json["messages"]
    return [{**each, "session_id": ""} for each in messages]


class Imports:
    def __init__(self, folders: Folders) -> None:
        self._exported: Any = None
        self._worlds = Worlds(folders, self._export)

    def _export(self, world: FuzzWorld) -> None:
        world.checked("context", "compact", "--model", "quote", "--keep", "0")
        world.checked(
            "chat", "--model", "quote", "--continue", stdin="/pin 1\n/branch 1\nWhat of tea?\n/add rule brief\n"
        )
        self._exported = world.checked("context", "export").json

    def run(self, case: Case) -> None:
        world = self._worlds.fresh(case)
        match case.rng.randrange(4):
            case 0:
                self._facts(case, world)
            case 1:
                self._there_and_back(case, world)
            case _:
                self._conversation(case, world)

    def _conversation(self, case: Case, world: FuzzWorld) -> None:
        text = conversation(case.rng, self._exported)
        data = text.encode(errors=case.rng.choice(("replace", "surrogatepass")))
        match case.rng.randrange(10):
            case 0:
                data = archive(case.rng, data.decode(errors="replace"))
            case 1:
                data = database(case)
        case.note("talk.json", data if case.rng.random() < 0.9 else mutation.mutated_bytes(case.rng, data))
        result = world.checked("context", "import", "--file", str(case.folder / "talk.json"), "--json")
        again = world.checked("context", "import", str(case.folder / "talk.json"), "--json")
        require(again.code == result.code, "a file can be imported again, or not again", again.err)
        if result.code == 0:
            require(again.json["added"] == 0, "what was imported is known when it is imported again", again.out)
            session = result.json["conversations"][0]["session"]
            shown(world, session)
            world.checked("sessions", "show", session)
            world.checked("context", "export", session, "--format", "markdown")
            world.checked("context", "show", session)
            world.checked("context", "stats", session, "--model", "quote")
            world.checked("context", "compact", session, "--model", "quote")
            world.checked("chat", "--model", "quote", "--session", session, stdin=TYPED)
            world.checked("sessions", "search", "sleep")
            world.checked("ask", "And now?", "--model", "quote", "--session", session)

    def _there_and_back(self, case: Case, world: FuzzWorld) -> None:
        talk = [
            {"role": chance_role, "content": mutation.text(case.rng, 3_000)} for chance_role in ("user", "assistant")
        ]
        case.note("talk.json", json.dumps(talk))
        first = world.checked("context", "import", "--file", str(case.folder / "talk.json"), "--json")
        if first.code:
            return
        session = first.json["session"]
        exported = world.checked("context", "export", session)
        again = world.checked("context", "import", "--file", "-", "--json", stdin=exported.out)
        require(again.code == 0, "what was exported can be imported", again.err)
        require(shown(world, again.json["session"]) == shown(world, session), "what was exported is imported as it was")

    def _facts(self, case: Case, world: FuzzWorld) -> None:
        items = [f"- {mutation.line(case.rng)[:300]}\n" for _ in range(case.rng.randrange(4))]
        text = "".join([*items, mutation.text(case.rng, 5_000)])
        name = case.rng.choice(("facts.md", "a b.md", "facts.txt"))
        world.note(name, text.encode(errors="surrogatepass"))
        case.note("facts.md", text)
        world.checked("memory", "import", case.rng.choice((f"@{name}", name, f"@../{name}")))
        listed = world.checked("memory", "list", "--json")
        require(listed.code == 0, "facts can be listed after any import", listed.err)
        world.checked("memory", "search", mutation.line(case.rng).replace("\0", ""))
        exported = world.checked("memory", "export")
        world.note("again.md", exported.out)
        again = world.checked("memory", "import", "@again.md", "--json")
        # What would act on a terminal is exported as it is shown, and is another fact then.
        if again.code == 0 and all(fact["text"] == sanitize_line(fact["text"]) for fact in listed.json):
            require(again.json["new"] == 0, "facts that were exported are known when they are imported", again.out)


def make(folders: Folders) -> Target:
    return Imports(folders)
