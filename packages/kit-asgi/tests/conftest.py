# SPDX-License-Identifier: MIT
"""Event loops for the tests, and a server written by hand with the client behind it."""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

# Far more than any test takes: it only turns a hang into a failure.
LIMIT_S = 30.0


@pytest.fixture(params=["asyncio", "trio"])
def backend(request: pytest.FixtureRequest) -> str:
    """The name of an event loop; a test that takes it runs once on each."""
    return str(request.param)


@pytest.fixture
def run(backend: str) -> Callable[..., Any]:
    """Runs an async function on asyncio and on trio, and returns its result.

    What the function dropped half-way is collected while the loop still runs.
    """

    def run(function: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        async def bounded() -> Any:
            with anyio.fail_after(LIMIT_S):
                result = await function(*args, **kwargs)
            gc.collect()
            await anyio.wait_all_tasks_blocked()
            return result

        return anyio.run(bounded, backend=backend)

    return run


def make_scope(path: str = "/", method: str = "GET", **more: Any) -> dict[str, Any]:
    """Builds an ASGI http scope, in which `more` differs."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "2",
        "method": method,
        "scheme": "https",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"example.com")],
        "client": ("192.0.2.1", 5000),
        "server": ("192.0.2.2", 443),
        **more,
    }


@pytest.fixture(scope="session")
def http_scope() -> Callable[..., dict[str, Any]]:
    """Builds an ASGI http scope: `http_scope("/a", "POST", headers=[...])`."""
    return make_scope


class Client:
    """A server written by hand, and the client behind it, for one request.

    Args:
        chunks: The body of the request, one message for each. Default: no body. After the last one
            nothing comes until the client leaves.
        more: Whether the last chunk announces more, which never comes.
        leaves_after: The client leaves when this many messages were sent to it.
    """

    def __init__(self, *chunks: bytes, more: bool = False, leaves_after: int | None = None) -> None:
        chunks = chunks or (b"",)
        self.method = "POST" if any(chunks) else "GET"
        self.received: list[dict[str, Any]] = [
            {
                "type": "http.request",
                "body": chunk,
                "more_body": more or place < len(chunks),
            }
            for place, chunk in enumerate(chunks, 1)
        ]
        self.leaves_after = leaves_after
        self.sent: list[dict[str, Any]] = []
        self.gone = anyio.Event()

    async def receive(self) -> dict[str, Any]:
        """The next message for the app."""
        await checkpoint()
        if self.received:
            return self.received.pop(0)
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        """Takes a message of the app; ignores it once the client has left."""
        await checkpoint()
        if self.gone.is_set():
            return
        self.sent.append(message)
        if len(self.sent) == self.leaves_after:
            self.gone.set()

    async def ask(
        self, app: Any, path: str = "/m/a", method: str | None = None, **scope: Any
    ) -> Client:
        """Sends the request and returns when the app does; `scope` as for `http_scope`."""
        await app(make_scope(path, method or self.method, **scope), self.receive, self.send)
        return self

    @property
    def status(self) -> int:
        """Status of the response."""
        return int(self.sent[0]["status"])

    @property
    def body(self) -> bytes:
        """The body of the response, as far as it came."""
        return b"".join(message.get("body", b"") for message in self.sent[1:])

    @property
    def complete(self) -> bool:
        """Whether the response has come to its end."""
        return bool(self.sent[1:]) and not self.sent[-1].get("more_body", False)


@pytest.fixture(scope="session")
def client() -> type[Client]:
    """The class of a client with its server: `await client(b"body").ask(app, "/m/a")`."""
    return Client
