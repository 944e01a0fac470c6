# SPDX-License-Identifier: MIT
"""A client that keeps cookies, a clock that tests turn, and both event loops."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from kit import Context, Kit
from kit.authoring.maybe_await import call
from kit.session import Session, get_session, session
from kit.session.stores import MemoryStore
from kit.web import Response

# Far more than any test takes: it only turns a hang into a failure.
LIMIT_S = 30.0
SECRET = secrets.token_urlsafe(32)


class Client:
    """A browser, and an app whose handler does what the test says.

    Args:
        cookie_name: The full name of the cookie.
        **options: Options of `session`.
    """

    def __init__(self, *, cookie_name: str = "__Host-session", **options: Any) -> None:
        self.cookie_name = cookie_name
        self.cookies: dict[str, str] = {}
        self.actions: list[Callable[..., Any]] = []
        self.app = Kit()
        self.app.use(session(**options))
        self.app.get("/:action", self._handle)

    async def _handle(self, c: Context) -> Response:
        result = await call(self.actions[int(c.req.param("action"))], c)
        return result if isinstance(result, Response) else c.json(result)

    @property
    def cookie(self) -> str:
        """The value of the session's cookie."""
        return self.cookies[self.cookie_name]

    def other(self) -> Client:
        """The same app in a browser that has the same cookies, but takes no more of them over."""
        twin = object.__new__(Client)
        twin.__dict__.update(self.__dict__, cookies=dict(self.cookies))
        return twin

    async def request(self, action: Callable[..., Any]) -> Response:
        """Makes a request that `action(c)` answers."""
        self.actions.append(action)
        sent = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"cookie": sent} if sent else {}
        response = await self.app.request(f"/{len(self.actions) - 1}", headers=headers)
        for line in response.headers.get_set_cookie():
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies.pop(name, None)
            if "Max-Age=0" not in line:
                self.cookies[name] = value
        return response

    async def do(self, action: Callable[[Session[dict[str, Any]]], Any]) -> Any:
        """Makes a request that awaits the session and calls `action(session)`; returns the JSON."""

        async def handle(c: Context) -> Any:
            return await call(action, await get_session(c))

        response = await self.request(handle)
        assert response.status == 200, await response.text()
        return await response.json()

    async def data(self) -> Any:
        """Returns the data of the session."""
        return await self.do(dict)


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs an async function; a test that takes it runs once on each event loop."""

    def run(function: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        async def bounded() -> Any:
            with anyio.fail_after(LIMIT_S):
                return await function(*args)

        return anyio.run(bounded, backend=request.param)

    return run


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Turns the clock by seconds."""
    offset = 0.0
    now = time.time

    def turn(seconds: float) -> None:
        nonlocal offset
        offset += seconds

    monkeypatch.setattr(time, "time", lambda: now() + offset)
    return turn


@pytest.fixture(params=["signed", "encrypted", "memory", "signed id"])
def kept(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Options of `session` for each way of keeping sessions."""
    return {
        "signed": {"secret": SECRET},
        "encrypted": {"secret": SECRET, "encrypt": True},
        "memory": {"store": MemoryStore()},
        "signed id": {"secret": SECRET, "store": MemoryStore()},
    }[request.param]


@pytest.fixture
def client(kept: dict[str, Any]) -> Client:
    """A client, once for each way of keeping sessions."""
    return Client(**kept)


@pytest.fixture
def new_client() -> type[Client]:
    """Makes clients with other options."""
    return Client


@pytest.fixture
def secret() -> str:
    """A good secret."""
    return SECRET
