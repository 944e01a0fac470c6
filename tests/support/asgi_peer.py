# SPDX-License-Identifier: MIT
"""An ASGI server for one request: it breaks off where it is told to, and judges what it is sent.

SPEC: ASGI 3.0, HTTP & WebSocket message format 2.5; RFC 9110 for what a response may be.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

# SPEC: RFC 9110 section 5.6.2 (token) and section 5.5 (field-value).
NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9a-z]+")
VALUE = re.compile(rb"(?:[\x21-\x7e\x80-\xff](?:[\t \x21-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?")
WITHOUT_BODY = (204, 304)
# A stream that does not end by itself is ended by the client after so many messages.
PATIENCE = 60


def http_scope(target: str, method: str = "GET", **more: Any) -> dict[str, Any]:
    """Builds the ASGI scope of a request.

    Args:
        target: Path and query, unencoded.
        method: The HTTP method.
        **more: Keys of the scope that differ.
    """
    path, _, query = target.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [],
        "client": ("127.0.0.1", 1234),
        "server": ("127.0.0.1", 80),
        **more,
    }


class ServerError(Exception):
    """What a server's own fault looks like to an application."""


class ClientGoneError(OSError):
    """What `send` raises when the client is gone, since version 2.4 of the format."""


@dataclass(frozen=True)
class Course:
    """What happens to a request apart from what is in it.

    Attributes:
        sizes: How the body is cut: sizes of its chunks in bytes, the last one takes the rest.
        bare: Leave out of messages what has a default.
        leaves_after_receives: After how many messages to the app the client is gone.
        leaves_after_sends: After how many messages from the app.
        send_raises_when_gone: Whether `send` raises then, or takes everything.
        send_fails_at: Which message, from 0, makes `send` raise a fault of the server.
        cancelled_at: At which call of `send` or `receive`, from 0, the request is cancelled.
        waits: Whether `send` lets other tasks run.
    """

    sizes: tuple[int, ...] = ()
    bare: bool = False
    leaves_after_receives: int | None = None
    leaves_after_sends: int = PATIENCE
    send_raises_when_gone: bool = False
    send_fails_at: int | None = None
    cancelled_at: int | None = None
    waits: bool = True

    @property
    def is_smooth(self) -> bool:
        """Whether nothing goes wrong."""
        return self.leaves_after_receives is self.send_fails_at is self.cancelled_at is None


@dataclass
class Answer:
    """What came of a request."""

    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    started: bool = False
    complete: bool = False
    raised: BaseException | None = None

    def header(self, name: bytes) -> list[bytes]:
        return [value for n, value in self.headers if n == name]


class Peer:
    """Serves one request.

    Args:
        scope: The scope of the request.
        body: The body of the request.
        course: What happens meanwhile.

    Attributes:
        answer: What the app sent.
        violations: What it did that the specifications don't allow.
    """

    def __init__(self, scope: dict[str, Any], body: bytes, course: Course = Course()) -> None:
        self.scope = scope
        self.course = course
        self.answer = Answer()
        self.violations: list[str] = []
        self.gone = False
        self._messages = self._cut(body)
        self._received = self._sent = self._calls = 0
        self._receiving = self._sending = self._over = False
        self._changed = anyio.Event()
        self._failure: BaseException | None = None
        self._cancel_scope = anyio.CancelScope()

    def _cut(self, body: bytes) -> list[dict[str, Any]]:
        chunks = []
        for size in self.course.sizes:
            chunks.append(body[:size])
            body = body[size:]
        messages: list[dict[str, Any]] = [
            {"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks
        ]
        last: dict[str, Any] = {"type": "http.request"}
        if body or not self.course.bare:
            last["body"] = body
        if not self.course.bare:
            last["more_body"] = False
        return [*messages, last]

    async def play(self, app: Any) -> Answer:
        """Serves the request by an app, to its end."""
        try:
            with self._cancel_scope:
                await app(self.scope, self._receive, self._send)
        except Exception as error:
            self.answer.raised = error
        self._over = True
        self._judge()
        return self.answer

    @property
    def is_left_alone(self) -> bool:
        """Whether no call of the app is under way."""
        return not (self._receiving or self._sending)

    # What the app calls:

    async def _receive(self) -> dict[str, Any]:
        self._count("receive")
        if self._receiving:
            self.violations.append("two calls of receive() at once")
        self._receiving = True
        try:
            await checkpoint()
            while not (self._messages or self.gone or self.answer.complete):
                self._look()
                await self._changed.wait()
            self._look()
            if self.gone or not self._messages:
                return {"type": "http.disconnect"}
            self._received += 1
            return self._messages.pop(0)
        finally:
            self._receiving = False

    async def _send(self, message: dict[str, Any]) -> None:
        self._count("send")
        if self._sending:
            self.violations.append("two calls of send() at once")
        self._sending = True
        try:
            if self.course.waits:
                await checkpoint()
            if self._sent == self.course.send_fails_at:
                self._failure = ServerError("send() failed")
                raise self._failure
            if self.gone and self.course.send_raises_when_gone:
                self._failure = ClientGoneError("the client is gone")
                raise self._failure
            self._sent += 1
            self._take(message)
            self._look()
        finally:
            self._sending = False

    # What happens besides:

    def _count(self, what: str) -> None:
        if self._over and what == "send":
            self.violations.append("send() called after the app returned")
        if self._calls == self.course.cancelled_at:
            self._cancel_scope.cancel()
        self._calls += 1

    def _look(self) -> None:
        """Lets the client leave where it is time for that."""
        after = self.course.leaves_after_receives
        if (after is not None and self._received >= after) or (
            self._sent >= self.course.leaves_after_sends
        ):
            self.gone = True
        if self.gone or self.answer.complete:
            self._changed.set()

    def _take(self, message: dict[str, Any]) -> None:
        answer = self.answer
        kind = message.get("type")
        if kind == "http.response.start" and not answer.started:
            answer.started = True
            answer.status = message["status"]
            answer.headers = [(name, value) for name, value in message["headers"]]
        elif kind == "http.response.body" and answer.started and not answer.complete:
            body = message.get("body", b"")
            if type(body) is not bytes:
                self.violations.append(f"a body of {type(body).__name__}")
            answer.body += body
            answer.complete = not message.get("more_body", False)
        else:
            self.violations.append(f"{kind} {'after the end' if answer.complete else 'misplaced'}")

    # What is right:

    def _judge(self) -> None:
        answer = self.answer
        is_cancelled = self._cancel_scope.cancel_called
        if answer.raised is not None and answer.raised is not self._failure:
            if not answer.started:
                self.violations.append(f"raised before the answer: {answer.raised!r}")
        elif not (answer.complete or self.gone or self._failure or is_cancelled):
            self.violations.append("no complete answer")
        if answer.started:
            self._judge_head()
        if answer.complete:
            self._judge_length()

    def _judge_head(self) -> None:
        status = self.answer.status
        if type(status) is not int or not 200 <= status <= 599:
            self.violations.append(f"status {status!r}")
        for name, value in self.answer.headers:
            if type(name) is not bytes or not NAME.fullmatch(name):
                self.violations.append(f"header name {name!r}")
            if type(value) is not bytes or not VALUE.fullmatch(value):
                self.violations.append(f"value {value!r} of header {name!r}")

    def _judge_length(self) -> None:
        answer = self.answer
        lengths = answer.header(b"content-length")
        if len(lengths) > 1 or any(not length.isdigit() for length in lengths):
            self.violations.append(f"content-length {lengths}")
        elif self.scope["method"] == "HEAD" or answer.status in WITHOUT_BODY:
            if answer.body:
                self.violations.append(f"{self.scope['method']} {answer.status} with a body")
            if answer.status == 204 and lengths:
                self.violations.append("content-length of a 204")
        elif lengths and int(lengths[0]) != len(answer.body):
            self.violations.append(f"content-length {lengths} for {len(answer.body)} bytes")
