"""A headless Chromium without a network, spoken to over pipes in its own protocol."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from tests.support.waiting import eventually

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--window-size=1200,800",
    "--remote-debugging-pipe",
)


KEYS: Final = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40}


class Tab:
    """One page. Everything that it said or asked the network for is kept."""

    def __init__(self, to_browser: BinaryIO, from_browser: BinaryIO) -> None:
        self._to_browser = to_browser
        self._from_browser = from_browser
        self._number = 0
        self._session: str | None = None
        self._unread = b""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._to_browser.write(json.dumps(message).encode() + b"\0")
        self._to_browser.flush()
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            read = os.read(self._from_browser.fileno(), 1 << 16)
            assert read, "the browser has gone"
            self._unread += read
        message, _, self._unread = self._unread.partition(b"\0")
        decoded: dict[str, Any] = json.loads(message)
        return decoded

    def open(self, page: Path | str) -> None:
        """A file, or an address of this machine."""
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri() if isinstance(page, Path) else page)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def value(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def press(self, key: str, *, shift: bool = False) -> None:
        """A key; Enter writes a line end."""
        pressed = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key], "modifiers": 8 if shift else 0}
        for kind, text in (("keyDown", "\r" if key == "Enter" else ""), ("keyUp", "")):
            self.call("Input.dispatchKeyEvent", type=kind, text=text, **pressed)

    def wait(self, expression: str) -> None:
        """Until it is true."""
        eventually(lambda: self.value(f"Boolean({expression})"))

    def texts(self, selector: str) -> list[str]:
        """What is shown of the elements."""
        found: list[str] = self.value(f"[...document.querySelectorAll({selector!r})].map((each) => each.innerText)")
        return found

    def point_at(self, selector: str) -> tuple[float, float]:
        """Move the pointer onto the middle of an element, and return where that is."""
        box = f"document.querySelector({selector!r}).getBoundingClientRect()"
        x, y = self.value(f"(() => {{ const b = {box}; return [b.x + b.width / 2, b.y + b.height / 2]; }})()")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        return x, y

    def click_on(self, selector: str) -> None:
        self.click(*self.point_at(selector))

    def resize(self, width: int, height: int = 800, *, scheme: str = "light") -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    @property
    def asked_for(self) -> list[str]:
        """The addresses that the page asked for, beside itself."""
        requests = [event["params"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [request["request"]["url"] for request in requests if request["type"] != "Document"]

    @property
    def complaints(self) -> list[str]:
        """Errors of scripts, and what the page's own rules forbade."""
        thrown = [str(event["params"]) for event in self.events if event.get("method") == "Runtime.exceptionThrown"]
        logged = [event["params"]["entry"] for event in self.events if event.get("method") == "Log.entryAdded"]
        return thrown + [entry["text"] for entry in logged if entry["level"] == "error"]


@contextmanager
def tab(profile: Path) -> Iterator[Tab]:
    """A browser with an empty profile, ended with all its helpers when done."""
    assert PROGRAM, "There is no Chromium: apt install chromium"
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    # The browser reads from descriptor 3 and writes to 4.
    command = f'exec "$0" "$@" 3<&{to_read} 4>&{from_write}'
    process = subprocess.Popen(
        ["bash", "-c", command, PROGRAM, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"],
        pass_fds=(to_read, from_write),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(to_read)
    os.close(from_write)
    try:
        with os.fdopen(to_write, "wb", buffering=0) as to_browser, os.fdopen(from_read, "rb") as from_browser:
            yield Tab(to_browser, from_browser)
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
