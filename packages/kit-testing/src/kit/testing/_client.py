# SPDX-License-Identifier: MIT
"""The test client for async tests."""

from __future__ import annotations

from collections.abc import Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, Never, NoReturn, Self

from kit.testing._caller import Caller, refuse_others
from kit.testing._inputs import RequestOptions, WebSocketOptions
from kit.testing._lifespan import LifespanTask
from kit.testing._walk import Walk
from kit.web import URL, Response

if TYPE_CHECKING:
    from typing import Unpack

    from kit.testing._cookies import Cookies
    from kit.testing._websocket import TestWebSocket


class WsStep(Walk["Step"]):
    """A step whose last name is `ws`."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def ws(self) -> WsStep:
            """Opens a WebSocket connection when called."""

    def __call__(
        self, path: str | URL | None = None, /, **options: Unpack[WebSocketOptions]
    ) -> TestWebSocket:
        """Opens a WebSocket connection to the path before `ws`, or to the given one.

        A name that isn't in any route is the value of a parameter: `client.chat["general"].ws()`.

        Args:
            path: A path such as `/chat/general`, for `client.ws` alone.
            **options: `param`, `query`, `headers`, `cookies` and `protocols`, see
                `WebSocketOptions`.

        Returns:
            The connection, which `async with` opens. It raises `WebSocketRefusedError` if the app
            answers the handshake with another response.

        Raises:
            RouteNotFoundError: If no route has the path.
            MethodNotFoundError: If no route with the path has GET.
            ParameterError: If a parameter of the path is missing or unknown.
            TypeError: If an option is unknown, or a value has the wrong type.
            ValueError: If a value is invalid.
        """
        from kit.testing._websocket import TestWebSocket

        caller = self._kit_caller
        return TestWebSocket(caller, *caller.handshake(self._kit_names, path, options))


class Step(Walk["Step"]):
    """A step that the names of a client lead to; calling it sends a request."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def ws(self) -> WsStep:
            """Opens a WebSocket connection when called."""

    def __call__(
        self, path: str | URL | None = None, /, *others: Never, **options: Unpack[RequestOptions]
    ) -> Coroutine[Any, Any, Response]:
        """Sends a request. The last name is its method; the names before it are its path.

        Args:
            path: A path or URL, for calls such as `client.get("/books/1")`, whose only name is the
                method. Routes don't have to have it.
            *others: Nothing else is given without a name.
            **options: `param`, `query`, `json`, `form`, `content`, `headers`, `cookies` and
                `follow_redirects`, see `RequestOptions`.

        Returns:
            A coroutine that returns the response.

        Raises:
            RouteNotFoundError: If no route has the path.
            MethodNotFoundError: If no route with the path has the method.
            ParameterError: If a parameter of the path is missing or unknown.
            TypeError: If an option is unknown, or a value has the wrong type.
            ValueError: If a value is invalid.
        """
        caller = self._kit_caller
        if others:
            refuse_others(self._kit_names, path)
        return caller.fetch(caller.call(self._kit_names, path, options))


class RequestStep(Walk["Step"]):
    """The step `request` of a client; calling it sends a request."""

    __slots__ = ()

    def __call__(
        self, method: str, path: str | URL, /, **options: Unpack[RequestOptions]
    ) -> Coroutine[Any, Any, Response]:
        """Sends a request to any path, one without a route included.

        Args:
            method: Its method, e.g. `GET`.
            path: A path such as `/books?page=2`, or a URL of the client's host.
            **options: `query`, `json`, `form`, `content`, `headers`, `cookies` and
                `follow_redirects`, see `RequestOptions`.

        Returns:
            A coroutine that returns the response.

        Raises:
            TypeError: If an option is unknown, or a value has the wrong type.
            ValueError: If the path or a value is invalid, or the URL is one of another host.
        """
        caller = self._kit_caller
        return caller.fetch(caller.call_by_method(method, path, options))


RequestStep.__call__.__qualname__ = "client.request"  # as errors of Python name it


class TestClient(Walk[Step]):
    """A client that mirrors the routes of an app, see `test_client`."""

    __slots__ = ("_kit_lifespans",)

    if TYPE_CHECKING:

        @property
        def ws(self) -> WsStep:
            """Opens a WebSocket connection when called."""

    @property
    def cookies(self) -> Cookies:
        """The cookies that the client keeps and sends; a route `/cookies` is `["cookies"]`."""
        return self._kit_caller.cookies

    @property
    def request(self) -> RequestStep:
        """Sends a request to any path: `request("GET", "/books", headers={...})`."""
        return RequestStep(self._kit_caller, ("request",))

    def __init__(self, caller: Caller) -> None:
        # What Starlette's TestClient(app) is here.
        if not isinstance(caller, Caller):
            raise TypeError("write sync_test_client(app), or test_client(app) for async tests")
        super().__init__(caller)
        self._kit_lifespans: list[LifespanTask] = []

    async def __aenter__(self) -> Self:
        lifespan = LifespanTask(self._kit_caller.app.running())
        await lifespan.start()
        self._kit_lifespans.append(lifespan)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        lifespan = self._kit_lifespans.pop()
        try:
            await self._kit_caller.close()
        finally:
            await lifespan.end()

    if not TYPE_CHECKING:

        def __enter__(self) -> NoReturn:
            raise TypeError(
                "test_client(app) is for async tests: write `async with`, "
                "or `with sync_test_client(app) as client:` in a plain one"
            )

        def __exit__(self, *error: object) -> None: ...
