"""Imports: conversations and facts from files that others wrote; what is exported is imported as it was."""

import json
from random import Random
from typing import Any

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
    return {"role": rng.choice(ROLES[:4]) if rng.random() < 0.98 else rng.choice(ROLES), "content": content, **more}


def conversation(rng: Random, exported: Any) -> str:
    """Our own JSON, `{"messages": […]}`, a list, Markdown, or anything; properties try what other programs export."""
    listed: Any = [message(rng) for _ in range(rng.randint(1, 4))]
    match rng.randrange(8):
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
        world.note("again.md", world.checked("memory", "export").out)
        again = world.checked("memory", "import", "@again.md", "--json")
        # What would act on a terminal is exported as it is shown, and is another fact then.
        if again.code == 0 and all(fact["text"] == sanitize_line(fact["text"]) for fact in listed.json):
            require(again.json["new"] == 0, "facts that were exported are known when they are imported", again.out)


def make(folders: Folders) -> Target:
    return Imports(folders)
