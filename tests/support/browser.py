# SPDX-License-Identifier: MIT
"""A real browser: Chromium without a window, driven by WebDriver (W3C) through chromedriver."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ports import free_port

STARTUP_S = 60.0
SHUTDOWN_S = 20.0
NAVIGATION_S = 60.0
# Longer than the longest thing a test waits for in a page.
REQUEST_S = 120.0

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # Tests talk to the loopback interface alone, which no proxy reaches.
    "--no-proxy-server",
    # A page that is left ends: Chromium may keep it for the way back, with its WebSockets.
    "--disable-features=BackForwardCache",
)

# The script is the body of an async function. What it throws is passed on as text, since an error
# has no JSON.
_RUN = """
const done = arguments[arguments.length - 1];
const run = async (...args) => {
%s
};
run(...Array.prototype.slice.call(arguments, 0, -1)).then(
  (value) => done({value: value === undefined ? null : value}),
  (error) => done({error: String(error)}),
);
"""


class ScriptError(Exception):
    """A script in the page threw an error; its text, e.g. `TypeError: Failed to fetch`."""


class WebDriverError(Exception):
    """The driver refused a command."""


def missing() -> str | None:
    """Says what is missing to drive a browser; None if nothing is."""
    if chromium() is None:
        return "there is no Chromium: install the packages chromium and chromium-driver"
    if shutil.which("chromedriver") is None:
        return "there is no chromedriver: install the package chromium-driver"
    return None


def chromium() -> str | None:
    """The program of the browser; None if there is none."""
    return next((path for name in _CHROMIUM if (path := shutil.which(name))), None)


class Browser:
    """A browser while it is entered; its processes end with it.

    Args:
        folder: An empty folder for the profile of the browser and for what the driver prints.
        options: Further options of Chromium.
    """

    def __init__(self, folder: Path, options: Sequence[str] = ()) -> None:
        self._folder = folder
        self._log = folder / "chromedriver.log"
        self._options = [*_OPTIONS, f"--user-data-dir={folder / 'profile'}", *options]
        # Chromium's sandbox doesn't run as root.
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            self._options.append("--no-sandbox")
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._session = ""

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                ["chromedriver", f"--port={self._port}"],
                stdout=log,
                stderr=subprocess.STDOUT,
                # The browser ends with it, in the same session.
                start_new_session=True,
            )
        try:
            self._wait_until_it_answers(self._process)
            self._open_session()
        except BaseException:
            self._kill()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError, HTTPException, WebDriverError):
            self._command("DELETE", "")
        self._kill()

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + STARTUP_S
        while time.monotonic() < end and process.poll() is None:
            with contextlib.suppress(OSError, HTTPException):
                if self._request("GET", "/status")["ready"]:
                    return
            time.sleep(0.05)
        raise WebDriverError(f"chromedriver did not start:\n{self.printed()}")

    def _open_session(self) -> None:
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": chromium(), "args": self._options},
            "goog:loggingPrefs": {"browser": "ALL"},
            "timeouts": {"script": 60_000, "pageLoad": 60_000},
        }
        started = self._request("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self._session = started["sessionId"]

    def _kill(self) -> None:
        process = self._process
        if process is None:
            return
        # The session holds what was started here alone.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(SHUTDOWN_S)

    def _request(self, method: str, path: str, body: Any = None) -> Any:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=REQUEST_S)
        try:
            text = None if method != "POST" else json.dumps(body or {})
            connection.request(method, path, text, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        value = answer["value"]
        if response.status != 200:
            raise WebDriverError(f"{method} {path}: {value['error']}: {value['message']}")
        return value

    def _command(self, method: str, path: str, body: Any = None) -> Any:
        return self._request(method, f"/session/{self._session}{path}", body)

    def _element(self, selector: str) -> str:
        found = self._command("POST", "/element", {"using": "css selector", "value": selector})
        return f"/element/{next(iter(found.values()))}"

    def printed(self) -> str:
        """What the driver printed."""
        return self._log.read_text(errors="replace")

    def open(self, url: str) -> None:
        """Goes to an address, and waits until its page is loaded.

        Args:
            url: The address of another page than the one that is open, or of the same one without a
                fragment, which loads it again.
        """
        # On a busy machine, the driver may take the end of an earlier load for that of this one.
        self._execute("window.isLeft = true")
        self._command("POST", "/url", {"url": url})
        self._wait_until("return [window.isLeft !== true, document.readyState]", True)

    @property
    def url(self) -> str:
        """The address of the page."""
        return str(self._command("GET", "/url"))

    @property
    def title(self) -> str:
        """The title of the page."""
        return str(self._command("GET", "/title"))

    def text(self, selector: str = "body") -> str:
        """What can be read in the first element that a CSS selector matches."""
        return str(self._command("GET", f"{self._element(selector)}/text"))

    def click(self, selector: str, leads_to: str | None = None) -> None:
        """Clicks on the first element that a CSS selector matches.

        Args:
            selector: The selector.
            leads_to: The address of the page that the click leads to, which is waited for.
        """
        self._command("POST", f"{self._element(selector)}/click")
        if leads_to is not None:
            self._wait_for(leads_to)

    def press(self, *keys: str) -> None:
        """Presses keys, one after another, where the focus is."""
        events = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        actions = [{"type": "key", "id": "keyboard", "actions": events}]
        self._command("POST", "/actions", {"actions": actions})

    def _wait_for(self, url: str) -> None:
        # A page of another site loads in another process, for which a click does not wait.
        self._wait_until("return [location.href, document.readyState]", url)

    def _wait_until(self, script: str, value: Any) -> None:
        """Waits until a script returns `value` and the state `complete`."""
        end = time.monotonic() + NAVIGATION_S
        while True:
            there = self._execute(script)
            if there == [value, "complete"]:
                return
            if time.monotonic() > end:
                raise WebDriverError(f"{script!r} is {there}, not {[value, 'complete']}")
            time.sleep(0.05)

    def _execute(self, script: str) -> Any:
        # The page that is asked may be gone before it answers.
        with contextlib.suppress(WebDriverError):
            return self._command("POST", "/execute/sync", {"script": script, "args": []})
        return None

    def run(self, script: str, *args: Any) -> Any:
        """Runs JavaScript in the page: the body of an async function.

        Args:
            script: May use `await`, `args` and `return`.
            *args: JSON values; `args[0]` in the script is the first one.

        Returns:
            What the script returned, as JSON.

        Raises:
            ScriptError: If the script threw an error.
        """
        answer = self._command(
            "POST", "/execute/async", {"script": _RUN % script, "args": list(args)}
        )
        if "error" in answer:
            raise ScriptError(answer["error"])
        return answer["value"]

    def console(self) -> list[str]:
        """What the browser wrote to the console since this was last called.

        Among it are errors of scripts, refused requests and violations of a policy.
        """
        entries = self._command("POST", "/se/log", {"type": "browser"})
        return [f"{entry['level']}: {entry['message']}" for entry in entries]

    def devtools(self, command: str, **params: Any) -> Any:
        """Sends a command of the DevTools protocol, e.g. `Network.clearBrowserCache`."""
        return self._command("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def forget(self) -> None:
        """Leaves the page and forgets cookies, the cache and what was written to the console."""
        self.open("about:blank")
        # The cache of answers to preflights goes with that of responses.
        self.devtools("Network.clearBrowserCache")
        self.devtools("Network.clearBrowserCookies")
        self.console()
