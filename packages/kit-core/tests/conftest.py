# SPDX-License-Identifier: MIT
"""Event loops for the tests, and a server written by hand with the client behind it."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kit import Context, File, Kit, KitRequest, Limits, Request, Response

# Before the body of a form, which it doesn't change, it makes that one that is read as it arrives.
# SPEC: RFC 2046 section 5.1.1, "preamble"; WHATWG URL section 5.1, empty sequences.
BEGINNINGS = {"multipart": b"-" * (128 * 1024) + b"\r\n", "application": b"&" * (128 * 1024 + 1)}
# Far more than any test takes: it only turns a hang into a failure.
LIMIT_S = 30.0


@pytest.fixture(params=["asyncio", "trio"])
def backend(request: pytest.FixtureRequest) -> str:
    """The name of an event loop; a test that takes it runs once on each."""
    return str(request.param)


@pytest.fixture
def backend_options() -> dict[str, Any]:
    """Options of the event loop; for tests to override."""
    return {}


@pytest.fixture
def run(backend: str, backend_options: dict[str, Any]) -> Callable[..., Any]:
    """Runs an async function on asyncio and on trio, and returns its result.

    What the function dropped is collected while the loop still runs: under trio a generator
    dropped half-way is a ResourceWarning, and a coroutine that nobody awaited is one everywhere.
    """

    def run(function: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        async def bounded() -> Any:
            with anyio.fail_after(LIMIT_S):
                result = await function(*args, **kwargs)
            gc.collect()
            await checkpoint()
            return result

        try:
            return anyio.run(bounded, backend=backend, backend_options=backend_options)
        finally:
            gc.collect()

    return run


def make_scope(path: str = "/", method: str = "GET", **more: Any) -> dict[str, Any]:
    """Builds an ASGI http scope.

    Args:
        path: Path and query of the URL, unencoded, unless `more` has a `raw_path`.
        method: The HTTP method.
        **more: Keys of the scope that differ.
    """
    query = ""
    if "raw_path" not in more:
        path, _, query = path.partition("?")
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
        "headers": [(b"host", b"example.com")],
        "client": ("127.0.0.1", 1234),
        "server": ("127.0.0.1", 80),
        **more,
    }


def make_messages(*chunks: bytes) -> list[dict[str, Any]]:
    """Builds the `http.request` messages of a body, one for each chunk."""
    last = len(chunks) - 1
    return [
        {"type": "http.request", "body": chunk, "more_body": place < last}
        for place, chunk in enumerate(chunks)
    ]


@pytest.fixture(scope="session")
def http_scope() -> Callable[..., dict[str, Any]]:
    """Builds an ASGI http scope: `http_scope("/a?b=1", "POST", headers=[...])`."""
    return make_scope


@pytest.fixture(scope="session")
def messages() -> Callable[..., list[dict[str, Any]]]:
    """Builds the `http.request` messages of a body: `messages(b"first", b"last")`."""
    return make_messages


class Client:
    """A server written by hand, and the client behind it, for one request.

    Args:
        received: The body of the request in chunks, or messages as they are. Default: no body.
            After the last one nothing comes until the client leaves.
        leaves_after: The client leaves when this many messages were sent to it.
        failing: Raised by `send` once the client has left. Default: `send` ignores messages then.
        busy: Whether `send` yields to other tasks, as a server does whose buffer is full.
    """

    def __init__(
        self,
        *received: bytes | dict[str, Any],
        leaves_after: int | None = None,
        failing: Exception | None = None,
        busy: bool = True,
    ) -> None:
        chunks = [each for each in received if not isinstance(each, dict)]
        whole = [each for each in received if isinstance(each, dict)]
        assert not (chunks and whole), "either chunks or messages"
        self.received = whole or make_messages(*(chunks or [b""]))
        self.leaves_after = leaves_after
        self.failing = failing
        self.busy = busy
        self.sent: list[dict[str, Any]] = []
        self.gone = anyio.Event()
        self._receiving = False
        self._sending = False

    async def receive(self) -> dict[str, Any]:
        """The next message for the app."""
        assert not self._receiving, "two tasks call receive() at once"
        self._receiving = True
        try:
            await checkpoint()
            if self.received and not self.gone.is_set():
                return self.received.pop(0)
            await self.gone.wait()
            return {"type": "http.disconnect"}
        finally:
            self._receiving = False

    async def send(self, message: dict[str, Any]) -> None:
        """Takes a message of the app."""
        assert not self._sending, "two tasks call send() at once"
        self._sending = True
        try:
            if self.busy:
                await checkpoint()
            if not self.gone.is_set():
                await self.take(message)
            elif self.failing is not None:
                raise self.failing
        finally:
            self._sending = False

    async def take(self, message: dict[str, Any]) -> None:
        """What the client does with a message; for tests to override."""
        self.sent.append(message)
        if len(self.sent) == self.leaves_after:
            self.gone.set()

    async def ask(
        self, app: Any, path: str = "/", method: str | None = None, **scope: Any
    ) -> Client:
        """Sends the request and returns when the app does.

        Args:
            app: An ASGI application.
            path: As for `http_scope`.
            method: The HTTP method. Default: POST if there is a body, else GET.
            **scope: As for `http_scope`.
        """
        if method is None:
            method = "POST" if any(each.get("body") for each in self.received) else "GET"
        await app(make_scope(path, method, **scope), self.receive, self.send)
        return self

    def check(self) -> Client:
        """Asserts that the response is complete, and each message as ASGI wants it."""
        assert [message["type"] for message in self.sent] == [
            "http.response.start",
            *["http.response.body"] * (len(self.sent) - 1),
        ]
        more = [message.get("more_body", False) for message in self.sent[1:]]
        assert more == [True] * (len(self.sent) - 2) + [False]
        assert all(type(message.get("body", b"")) is bytes for message in self.sent[1:])
        for name, value in self.lines:
            assert type(name) is bytes
            assert type(value) is bytes
            assert name == name.lower()
        return self

    @property
    def status(self) -> int:
        """Status of the response."""
        return int(self.sent[0]["status"])

    @property
    def lines(self) -> list[tuple[bytes, bytes]]:
        """Header lines of the response."""
        return [tuple(line) for line in self.sent[0]["headers"]]

    def header(self, name: str) -> list[bytes]:
        """Values of a header of the response."""
        return [value for each, value in self.lines if each == name.encode()]

    @property
    def body(self) -> bytes:
        """The body of the response, as far as it came."""
        return b"".join(message.get("body", b"") for message in self.sent[1:])

    @property
    def complete(self) -> bool:
        """Whether the response has come to its end."""
        return bool(self.sent[1:]) and not self.sent[-1].get("more_body", False)


@pytest.fixture(scope="session")
def preamble() -> bytes:
    """A multipart body that begins with it is parsed as a large one is, as it arrives."""
    return BEGINNINGS["multipart"]


@pytest.fixture(scope="session")
def client() -> type[Client]:
    """The class of a client with its server: `await client(b"body").ask(app, "/path")`."""
    return Client


@asynccontextmanager
async def hold(
    ask: Callable[[Kit], Awaitable[object]], limits: Limits
) -> AsyncIterator[KitRequest]:
    """The request as its handler has it, which waits until the block is left."""
    app = Kit(limits=limits)
    begun, over = anyio.Event(), anyio.Event()
    held: list[KitRequest] = []
    failure: Exception | None = None

    @app.all("*")
    async def handler(c: Context) -> Response:
        held.append(c.req)
        begun.set()
        await over.wait()
        return c.body(None)

    async with anyio.create_task_group() as group:
        group.start_soon(ask, app)
        await begun.wait()
        try:
            yield held[0]
        except Exception as error:  # raised below: a task group would wrap it
            failure = error
        over.set()
    if failure is not None:
        raise failure


@pytest.fixture(scope="session")
def held() -> Callable[..., Any]:
    """Holds a request open for a test that reads it.

    `async with held(client(b"a", b"b"), headers=[...]) as req` has `c.req` of a served request;
    with a `Request` in place of the client it is one made in process. The request is over when the
    block is left.
    """

    def held(
        source: Client | Request, *, limits: Limits = Limits(), **scope: Any
    ) -> AbstractAsyncContextManager[KitRequest]:
        async def ask(app: Kit) -> None:
            if isinstance(source, Request):
                await app.fetch(source)
            else:
                await source.ask(app, **{"method": "POST", **scope})

        return hold(ask, limits)

    return held


@pytest.fixture(scope="session")
def read_form(held: Any) -> Callable[..., Awaitable[list[tuple[str, Any]]]]:
    """Reads a served form as a handler does: `await read_form(chunks, content_type, limits)`.

    Several chunks are read as those of a large form are. Returns its entries; a file is a tuple of
    name, type and content.
    """

    async def read_form(
        chunks: Iterable[bytes],
        content_type: str = "multipart/form-data; boundary=XX",
        limits: Limits = Limits(),
    ) -> list[tuple[str, Any]]:
        headers = [(b"content-type", content_type.encode("latin-1"))]
        pieces = [*chunks]
        if len(pieces) > 1:
            pieces = [BEGINNINGS[content_type.partition("/")[0].lower()], *pieces]
        async with held(Client(*pieces), headers=headers, limits=limits) as req:
            return [
                (name, (v.name, v.type, await v.bytes()) if isinstance(v, File) else v)
                for name, v in await req.form_data()
            ]

    return read_form
