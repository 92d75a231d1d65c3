"""A real browser: headless Chromium, spoken to in its own protocol over a pipe.

https://chromedevtools.github.io/devtools-protocol: messages are JSON with a zero byte behind.
"""

import base64
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-extensions --disable-dev-shm-usage --hide-scrollbars "
    "--remote-debugging-pipe"
)


def chromium() -> str:
    """Where it is. Without one a test is skipped; in continuous integration, which installs it, it fails."""
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
    )
    if not found:
        reason = "there is no Chromium here (Debian: apt-get install chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@dataclass
class Page:
    """A tab. `requests` and `messages` (of the console) are collected while it lives."""

    _read: Any
    _write: Any
    session: str = ""
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    _number: int = 0

    def ask(self, method: str, **params: Any) -> Any:
        """The answer to a command; what happens meanwhile is noted."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        self._write.write(json.dumps(command).encode() + b"\0")
        self._write.flush()
        while True:
            message = self._next()
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]

    def open(self, path: Path, width: int, height: int = 900) -> None:
        """Show a file in a window of this size."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.requests.clear()
        self.ask("Page.navigate", url=path.as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def value(self, expression: str) -> Any:
        """What an expression has for its value in the page."""
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def picture(self, path: Path) -> None:
        """The window as a PNG file."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def _next(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self._read.read(1)) != b"\0":
            assert byte, "the browser is gone"
            text += byte
        message: dict[str, Any] = json.loads(text)
        params = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Log.entryAdded":
                self.messages.append(params["entry"]["text"])
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown":
                self.messages.append(json.dumps(params))
        return message


@contextmanager
def browser() -> Iterator[Page]:
    """A tab of a browser of its own, with everything it says and asks for."""
    program = chromium()
    our_read, its_write = os.pipe()
    its_read, our_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        words = f"{shlex.quote(program)} {_FLAGS} --user-data-dir={shlex.quote(profile)} about:blank"
        process = subprocess.Popen(
            ["bash", "-c", f"exec {words} 3<&{its_read} 4>&{its_write}"],
            pass_fds=(its_read, its_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(its_read)
        os.close(its_write)
        with os.fdopen(our_read, "rb") as read, os.fdopen(our_write, "wb") as write:
            page = Page(read, write)
            try:
                target = page.ask("Target.createTarget", url="about:blank")["targetId"]
                page.session = page.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
                for domain in ("Page", "Runtime", "Network", "Log"):
                    page.ask(f"{domain}.enable")
                yield page
            finally:
                process.kill()
                process.wait()
