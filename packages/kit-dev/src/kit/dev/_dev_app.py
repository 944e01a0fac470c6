# SPDX-License-Identifier: MIT
"""The ASGI app that `kit dev` serves: the user's app, and what is added around it."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from kit.authoring.terminal import supports_color

from ._board import Board
from ._browser import BrowserReload, is_of_page
from ._faults import FaultPage
from ._local import is_local
from ._problems import Problem
from ._style import CYAN, GREEN, RED, YELLOW, painted, say
from ._tracebacks import from_their_code

Message: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Asgi: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

_COLORS = {2: GREEN, 3: CYAN, 4: YELLOW, 5: RED}
# Browsers ask for it by themselves; it would take the place of the page that somebody looks at.
_ICON = "/favicon.ico"
_HIDDEN = Problem(
    "The app doesn't run",
    "The reason is shown in the terminal, and at addresses such as localhost and 127.0.0.1.",
    "",
    "Kit loads the app again when its code changes.",
)


class DevApp:
    """Serves an app for its developer.

    Args:
        app: The app; None if there is none to be served.
        board: Notes the requests that are running.
        problem: What the first request is answered with in place of the app's response, and also
            the first one that a page makes; every request, if there is no app.
        browser: Reloads pages in browsers; None to leave them as they are.
        log: Whether to write a line for each request.
        host: The name or address that the server was told to listen on.

    Attributes:
        startup_error: The traceback of the error that kept the app from starting, from the user's
            code on; None if there was none.
    """

    def __init__(
        self,
        app: Asgi | None,
        board: Board,
        problem: Problem | None,
        browser: BrowserReload | None,
        *,
        log: bool,
        host: str = "127.0.0.1",
    ) -> None:
        self._app = app
        self._board = board
        self._problem = problem
        self._browser = browser
        self._log = log
        self._host = host
        self._has_told_script = False
        self.startup_error: str | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serves a connection (ASGI 3.0)."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif self._browser is not None and self._browser.is_for(scope):
            await self._browser.serve(scope, receive, send)
        else:
            await self._respond(scope, receive, send)

    async def _live(self, scope: Message, receive: Receive, send: Send) -> None:
        if self._app is None:
            for phase in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{phase}.complete"})
            return

        async def pass_on(message: Message) -> None:
            if message["type"].endswith(".failed"):
                # Kit sends the message while it handles the exception.
                error = sys.exception()
                text = message.get("message", "") if error is None else from_their_code(error)
                message = {**message, "message": text}
                if message["type"] == "lifespan.startup.failed":
                    self.startup_error = text
                    message["message"] = ""  # the parent shows it
            await send(message)

        try:
            await self._app(scope, receive, pass_on)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self.startup_error = from_their_code(error)
            raise

    async def _respond(self, scope: Message, receive: Receive, send: Send) -> None:
        request = f"{scope.get('method', 'WS')} {shown_path(scope)}"
        watched = _Watched(send)
        began = time.perf_counter()
        problem = self._take_problem(scope)
        slot = None if problem else self._board.begin(request)
        try:
            await self._answer(problem, scope, receive, watched.send)
        except BaseException:
            watched.fail()
            raise
        finally:
            # Not at the end of the process: what runs then is what ended it.
            if not isinstance(sys.exception(), (SystemExit, KeyboardInterrupt)):
                self._board.end(slot)
            if self._log:
                _say_request(request, watched.status, time.perf_counter() - began)

    async def _answer(
        self, problem: Problem | None, scope: Message, receive: Receive, send: Send
    ) -> None:
        page = None
        if self._browser is not None and scope["type"] == "http":
            scope, page = self._browser.page(scope, send)
            send = send if page is None else page.send
        if problem is None and self._app is not None:
            if scope["type"] == "http" and is_local(scope, self._host):
                request = f"{scope['method']} {shown_path(scope)}"
                send = FaultPage(send, scope, request).send
            await self._app(scope, receive, send)
        elif problem is not None:
            await _refuse(problem, scope, receive, send)
        if page is not None:
            await page.finish()

    def _take_problem(self, scope: Message) -> Problem | None:
        """Returns what a request is answered with in place of the app's response."""
        problem = self._problem
        if problem is None:
            return None
        # APPSEC: a problem shows the code of the app.
        if not is_local(scope, self._host):
            return _HIDDEN if self._app is None else None
        if self._app is None:
            return problem
        if scope["path"].endswith(_ICON):
            return None
        if is_of_page(scope):
            # Browsers send a request again whose connection broke: that must not keep the page from
            # being told.
            told, self._has_told_script = self._has_told_script, True
            return None if told else problem
        self._problem = None
        return problem


class _Watched:
    """Remembers the status of a response."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status: int | None = None

    async def send(self, message: Message) -> None:
        kind = message["type"]
        if kind in ("http.response.start", "websocket.http.response.start"):
            self.status = message["status"]
        elif kind == "websocket.accept":
            self.status = 101
        elif kind == "websocket.close":
            self.status = self.status or 403  # what servers answer the handshake with
        await self._send(message)

    def fail(self) -> None:
        """Notes that the app raised: what servers answer with."""
        self.status = self.status or 500


def shown_path(scope: Message) -> str:
    """Returns the path of a request as it was received, in visible ASCII alone."""
    raw = scope.get("raw_path")
    path = raw.decode("latin-1") if raw else scope["path"]
    # APPSEC: or a request could write anything to the terminal.
    return "".join(each if "!" <= each <= "~" else "?" for each in path) or "/"


def _say_request(request: str, status: int | None, duration_s: float) -> None:
    shown = "-" if status is None else str(status)
    if status is not None and supports_color(sys.stderr):
        shown = painted(shown, _COLORS.get(status // 100, CYAN))
    ms = duration_s * 1000
    say(f"{request} {shown} {ms:.{0 if ms >= 10 else 1}f} ms")


async def _refuse(problem: Problem, scope: Message, receive: Receive, send: Send) -> None:
    """Answers with a problem."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1011})
        return
    accept = b", ".join(value for name, value in scope["headers"] if name == b"accept")
    media_type, body = problem.body(accept.decode("latin-1"))
    headers = [
        (b"content-type", media_type),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": 500, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
