"""The server: who is let in, the files of the page, the routes, and requests about notes."""

import asyncio
import html
import ipaddress
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from importlib.resources import files
from mimetypes import guess_type
from typing import Any, Final
from urllib.parse import parse_qs

from msgspec import Struct
from msgspec.structs import asdict
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zkchat.actions import Action, Vault, every_action, named_place
from zkchat.app import ProfileStore, Workspace, action_vault
from zkchat.chat import Arguments, InvalidArguments, full_schema_of, read_arguments
from zkchat.core import UsageError
from zkchat.hosting import AccessToken, Gate, Headers, NoteService, arguments_of, offered_commands, port_of, serve_app
from zkchat.index import Library, read_note
from zkchat.repl import MenuCompleter, NameCache
from zkchat.version import __version__
from zkchat.web.answers import Json, Plain, answered, body_of
from zkchat.web.chats import Chats, WebOptions, commands_left_out
from zkchat.web.completions import Completions

_HEADERS: Final = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_STYLE: Final = "/style.css"
"""The page for the token needs it, so everybody may have it."""
_LOGIN_PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>zkchat</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="style.css"><body class="login">
<h1>zkchat</h1><p>{why}</p>
<form method="post" action="/login"><label>Token <input name="token" type="password" autofocus></label>
<button class="main">Open</button></form></html>"""


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
        self._names = NameCache()
        return action_vault(self.workspace, library)

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
        return Json(await self.use(partial(self._completions, typed=typed[-2_000:], after=after)))

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
            raise UsageError(f"There is no action {name!r}.", hint=f"Actions: {', '.join(self._actions)}.")
        action, arguments = self._actions[name]
        given = await body_of(request) if request.method == "POST" else dict(request.query_params)
        try:
            wanted = asdict(read_arguments(arguments, given))
        except InvalidArguments as error:
            raise UsageError(str(error)) from None
        return Json(await self.use(lambda vault: action.on(vault, wanted).plain))

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


def _note(vault: Vault, name: str) -> Plain:
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


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine reach an address."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host.casefold() == "localhost"


class Entrance(Gate):
    """Lets programs pass that send the token with each request, and browsers that have shown one and got a cookie.

    The address that is printed holds a token which is good for one cookie.
    """

    wrong_host = 403

    def __init__(self, app: ASGIApp, token: AccessToken, listening: socket.socket, options: WebOptions) -> None:
        super().__init__(app, token, port_of(listening))
        self._port, self._host = port_of(listening), options.host
        self._origin = options.origin.encode()
        names = (options.host, f"[{options.host}]", socket.gethostname().lower())
        more = {f"{name}:{self._port}".encode() for name in names} | {self._origin.partition(b"://")[2]} - {b""}
        self._hosts |= more
        self.once = AccessToken(text=secrets.token_urlsafe(32))
        self._is_used = False
        self._cookie_name = f"zkchat-{self._port}"  # a browser knows no ports of cookies
        self._cookie = AccessToken(text=secrets.token_urlsafe(32))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """With the headers that keep a browser from doing more than the page needs."""

        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        await super().__call__(scope, receive, send_more)

    @property
    def base(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return self._origin.decode() or f"http://{host}:{self._port}"

    def _is_host(self, host: bytes) -> bool:
        if host in self._hosts:
            return True
        name, _, port = host.decode(errors="replace").rpartition(":")
        with suppress(ValueError):  # an address, which no name of a stranger's server can be made to mean
            return (
                not is_loopback(self._host) and port == str(self._port) and bool(ipaddress.ip_address(name.strip("[]")))
            )
        return False

    def _is_origin(self, origin: bytes, host: bytes) -> bool:
        return origin.lower() == b"http://" + host or (bool(self._origin) and origin == self._origin)

    def _is_known(self, scope: Scope, given: Headers) -> bool:
        if super()._is_known(scope, given):
            return True
        pairs = (each.strip().partition(b"=") for each in b";".join(given.get(b"cookie", [])).split(b";"))
        shown = [value for name, _, value in pairs if name.decode(errors="replace") == self._cookie_name]
        # Pages of other ports of this machine are of the same site for a browser, which sends the cookie for them too.
        is_ours = {*given.get(b"sec-fetch-site", [])} <= {b"same-origin", b"none"}
        is_from_page = scope["method"] in {"GET", "HEAD"} or bool(given.get(b"origin"))
        return is_ours and is_from_page and any(map(self._cookie.matches, shown))

    def _unknown(self, scope: Scope) -> ASGIApp:
        if scope["path"] == "/login" and scope["method"] == "POST":
            return self._log_in
        if scope["path"] == _STYLE:
            return self._app
        if scope["path"] != "/":
            return super()._unknown(scope)
        (token,) = parse_qs(scope["query_string"].decode(errors="replace")).get("token", [""])[:1]
        if token and not self._is_used and self.once.matches(token.encode()):
            self._is_used = True
            return self._welcome()
        used = "This address works only once, and was opened before. " if token else ""
        return _login_page(f"{used}Enter the token that zkchat printed when it started, or restart zkchat.")

    def _welcome(self) -> Response:
        answer = RedirectResponse("/", status_code=303)
        is_secure = self._origin.startswith(b"https:")
        answer.set_cookie(self._cookie_name, self._cookie.text, httponly=True, samesite="strict", secure=is_secure)
        return answer

    async def _log_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        async for chunk in Request(scope, receive).stream():
            body += chunk
            if len(body) > 2_000:
                break
        (token,) = parse_qs(body.decode(errors="replace")).get("token", [""])[:1]
        is_right = self._token.matches(token.strip().encode(errors="replace"))
        answer = self._welcome() if is_right else _login_page("That is not the token.")
        await answer(scope, receive, send)


def _login_page(why: str) -> Response:
    return HTMLResponse(_LOGIN_PAGE.format(why=html.escape(why)), status_code=401)


async def _page(request: Request) -> Response:
    """A file of the page; there are no others below it."""
    name = request.path_params.get("name", "index.html")
    folder = files("zkchat.web") / "page"
    if name not in {each.name for each in folder.iterdir()}:
        return PlainTextResponse("There is no such page.", status_code=404)
    return Response((folder / name).read_bytes(), media_type=guess_type(name)[0])


class Site:
    """The server of a vault, before it serves."""

    def __init__(self, workspace: Workspace, options: WebOptions, listening: socket.socket, token: AccessToken) -> None:
        self._listening = listening
        self._chats = Chats(workspace.environment, workspace.paths.vault, options)
        self._notes = Notes(workspace, options=options)
        self._completions = Completions(workspace, options, self._chats.places)
        routes = [
            *self._chats.routes,
            *self._notes.routes,
            *self._completions.routes,
            Route("/", _page),
            Route("/{name}", _page),
        ]
        self._entrance = Entrance(Starlette(routes=routes, lifespan=self._lifespan), token, listening, options)

    @property
    def address(self) -> str:
        """For a browser, once."""
        return f"{self._entrance.base}/?token={self._entrance.once.text}"

    @property
    def api(self) -> str:
        """For clients of OpenAI's API."""
        return f"{self._entrance.base}/v1"

    @property
    def app(self) -> ASGIApp:
        return self._entrance

    def serve(self) -> None:
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
        with self._listening:
            serve_app(self.app, self._listening)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await self._completions.close()
            await self._chats.close()
            await asyncio.to_thread(self._notes.close)
