"""The server: who is let in, the files of the page, and the routes."""

import asyncio
import html
import ipaddress
import logging
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from mimetypes import guess_type
from typing import Final
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zkchat.app import Workspace
from zkchat.hosting import AccessToken, Gate, Headers, port_of, serve_app
from zkchat.web.chats import Chats, WebOptions
from zkchat.web.completions import Completions
from zkchat.web.notes import Notes

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
_LOGIN: Final = "/login"
_STYLE: Final = "/style.css"
"""The page for the token needs it, so everybody may have it."""
_MAX_LOGIN_BYTES: Final = 2_000
_LOGIN_PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>zkchat</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="style.css"><body class="login">
<h1>zkchat</h1><p>{why}</p>
<form method="post" action="/login"><label>Token <input name="token" type="password" autofocus></label>
<button class="main">Open</button></form></html>"""


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
        self._once = AccessToken(text=secrets.token_urlsafe(32))
        self._is_used = False
        self._cookie_name = f"zkchat-{self._port}"  # a browser knows no ports of cookies
        self._cookie = AccessToken(text=secrets.token_urlsafe(32))

    @property
    def base(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return self._origin.decode() or f"http://{host}:{self._port}"

    @property
    def once(self) -> str:
        """A token that is good for one cookie."""
        return self._once.text

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
        if scope["path"] == _LOGIN and scope["method"] == "POST":
            return self._log_in
        if scope["path"] == _STYLE:
            return self._app
        if scope["path"] != "/":
            return super()._unknown(scope)
        (token,) = parse_qs(scope["query_string"].decode(errors="replace")).get("token", [""])[:1]
        if token and not self._is_used and self._once.matches(token.encode()):
            self._is_used = True
            return self._welcome()
        used = "This address was opened before. " if token else ""
        return _login_page(f"{used}Enter the token that was printed when zkchat was started, or start it again.")

    def _welcome(self) -> Response:
        answer = RedirectResponse("/", status_code=303)
        is_secure = self._origin.startswith(b"https:")
        answer.set_cookie(self._cookie_name, self._cookie.text, httponly=True, samesite="strict", secure=is_secure)
        return answer

    async def _log_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        async for chunk in Request(scope, receive).stream():
            body += chunk
            if len(body) > _MAX_LOGIN_BYTES:
                break
        (token,) = parse_qs(body.decode(errors="replace")).get("token", [""])[:1]
        is_right = self._token.matches(token.strip().encode(errors="replace"))
        answer = self._welcome() if is_right else _login_page("That is not the token.")
        await answer(scope, receive, send)


def _login_page(why: str) -> Response:
    return HTMLResponse(_LOGIN_PAGE.format(why=html.escape(why)), status_code=401)


class _WithHeaders:
    """Sends the headers that keep a browser from doing more than the page needs."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        await self._app(scope, receive, send_more)


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
        return f"{self._entrance.base}/?token={self._entrance.once}"

    @property
    def api(self) -> str:
        """For clients of OpenAI's API."""
        return f"{self._entrance.base}/v1"

    @property
    def app(self) -> ASGIApp:
        return _WithHeaders(self._entrance)

    def serve(self) -> None:
        """Serve until a signal ends it."""
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
