"""Notes for the page and other programs: a note with what links to it, completion, and the actions."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zkchat.actions import Action, Vault, every_action, named_place
from zkchat.app import ProfileStore, change_records, daily_note_settings
from zkchat.chat import Arguments, InvalidArguments, full_schema_of, read_arguments
from zkchat.core import UsageError
from zkchat.hosting import NoteService, arguments_of, offered_commands
from zkchat.index import Library, read_note
from zkchat.repl import MenuCompleter, NameCache
from zkchat.version import __version__
from zkchat.web.answers import Json, Plain, answered, body_of
from zkchat.web.chats import WebOptions, commands_left_out

MAX_TYPED_CHARS: Final = 2_000


class _Offered(Struct, frozen=True):
    """Implements `CompletionSource` outside of a conversation."""

    library: Library
    agent_names: Sequence[str]
    without: frozenset[str]
    resources: Sequence[tuple[str, str]] = ()

    def complete_command(self, line: str) -> list[tuple[str, str]]:
        typed = line.removeprefix("/").casefold()
        offered = offered_commands(self.without, every=bool(typed))
        return [(f"/{each.name}", each.help) for each in offered if each.name.startswith(typed)]


class Notes(NoteService[Vault]):
    """The notes as their owner sees them, and the requests about them."""

    def __init__(self, *arguments: Any, options: WebOptions) -> None:
        super().__init__(*arguments)
        self._options = options
        self._names = NameCache()
        self._actions: Mapping[str, tuple[Action, type[Arguments]]] = {
            name: (action, arguments_of(action)) for name, action in every_action().items()
        }

    def _enter(self, stack: ExitStack, library: Library) -> Vault:
        del stack
        workspace = self.workspace
        self._names = NameCache()
        return Vault(
            library=library,
            now=workspace.environment.now,
            records=partial(change_records, workspace),
            daily_notes=partial(daily_note_settings, workspace.paths.vault),
        )

    @property
    def routes(self) -> list[Route]:
        return [
            Route("/api/note", answered(self.note)),
            Route("/api/complete", answered(self.complete)),
            Route("/api/actions/{name}", answered(self.act), methods=["GET", "POST"]),
            Route("/api/openapi.json", answered(self.describe)),
        ]

    async def note(self, request: Request) -> Response:
        name = request.query_params.get("path", "")
        if not name.strip():
            raise UsageError("Which note? Give its path.")
        return Json(await self.use(partial(_note, name=name)))

    async def complete(self, request: Request) -> Response:
        """What may follow the text before the cursor."""
        typed, after = (request.query_params.get(name, "") for name in ("text", "after"))
        return Json(await self.use(partial(self._completions, typed=typed[-MAX_TYPED_CHARS:], after=after)))

    def _completions(self, vault: Vault, typed: str, after: str) -> list[Plain]:
        self._names.refresh(vault.library, ())
        agents = [agent.name for agent in ProfileStore(self.workspace.paths).load().agents.values()]
        source = _Offered(vault.library, agents, commands_left_out(self._options))
        found = MenuCompleter(self._names, source).get_completions(
            Document(typed + after, cursor_position=len(typed)), CompleteEvent()
        )
        return [
            {
                "text": each.text,
                "replaces": -each.start_position,
                "name": each.display_text,
                "about": each.display_meta_text,
            }
            for each in found
        ]

    async def act(self, request: Request) -> Response:
        """Run an action: what its command prints with `--json`."""
        name = request.path_params["name"]
        if name not in self._actions:
            raise UsageError(f"There is no action {name!r}.", hint=f"There are {', '.join(self._actions)}.")
        action, arguments = self._actions[name]
        given = await body_of(request) if request.method == "POST" else dict(request.query_params)
        try:
            wanted = asdict(read_arguments(arguments, given))
        except InvalidArguments as error:
            raise UsageError(str(error)) from None
        return Json(await self.use(partial(_run, action=action, wanted=wanted)))

    async def describe(self, _request: Request) -> Response:
        """The actions, as OpenAPI describes them."""
        paths = {f"/api/actions/{name}": _operations(*each) for name, each in self._actions.items()}
        return Json(
            {
                "openapi": "3.1.0",
                "info": {"title": "zkchat", "version": __version__},
                "paths": paths,
                "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
                "security": [{"token": []}],
            }
        )


def _run(vault: Vault, action: Action, wanted: Mapping[str, Any]) -> Any:
    return action.run(vault, **action.values(wanted, partial(named_place, vault.library))).plain


def _note(vault: Vault, name: str) -> Plain:
    """A note whole, and where in it the name leads."""
    library = vault.library
    place = named_place(library, name)
    assert place.path
    note, outline = read_note(library, place.path), library.outline(place.path)
    headings = outline.headings if outline else ()
    links: Callable[..., Any] = every_action()["links"].run
    around = links(vault, place).plain
    return {
        "path": place.path,
        "title": note.names[0],
        "anchor": place.anchor,
        "line": place.line,
        "tags": note.tags,
        "text": note.body,
        "sections": [{"heading": each.text, "level": each.level, "line": each.line} for each in headings],
        "links": around["links"],
        "backlinks": around["backlinks"],
    }


def _operations(action: Action, arguments: type[Arguments]) -> Plain:
    schema = full_schema_of(arguments)
    answers = {
        "200": {"description": "What the command prints with --json.", "content": {"application/json": {"schema": {}}}},
        "400": {"description": "What is wrong with the arguments."},
        "404": {"description": "There is no such note."},
    }
    about = {"summary": action.sentence, "responses": answers}
    parameters = [
        {"name": name, "in": "query", "required": name in schema.get("required", ()), "schema": each}
        for name, each in schema["properties"].items()
    ]
    sent = {"requestBody": {"content": {"application/json": {"schema": schema}}}}
    return {
        "get": {**about, "operationId": action.name, "parameters": parameters},
        "post": {**about, "operationId": f"{action.name}_post", **sent},
    }
