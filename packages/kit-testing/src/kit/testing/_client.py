# SPDX-License-Identifier: MIT
"""The test client for async tests."""

from __future__ import annotations

from collections.abc import Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from kit.testing._inputs import RequestOptions, WebSocketOptions
from kit.testing._lifespan import LifespanTask
from kit.testing._walk import Caller, Walk
from kit.web import Response

if TYPE_CHECKING:
    from typing import Unpack

    from kit.testing._websocket import TestWebSocket


class WsStep(Walk["Step"]):
    """A step whose last name is `ws`."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def ws(self) -> WsStep:
            """Opens a WebSocket connection when called."""

    def __call__(self, **options: Unpack[WebSocketOptions]) -> TestWebSocket:
        """Opens a WebSocket connection to the path before `ws`.

        Args:
            **options: `param`, `query`, `header`, `cookie` and `protocols`, see `WebSocketOptions`.

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
        return TestWebSocket(caller, *caller.handshake(self._kit_names, options))


class Step(Walk["Step"]):
    """A step that the names of a client lead to; calling it sends a request."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def ws(self) -> WsStep:
            """Opens a WebSocket connection when called."""

    def __call__(self, **options: Unpack[RequestOptions]) -> Coroutine[Any, Any, Response]:
        """Sends a request. The last name is its method; the names before it are its path.

        Args:
            **options: `param`, `query`, `json`, `form`, `header` and `cookie`, see
                `RequestOptions`.

        Returns:
            A coroutine that returns the response.

        Raises:
            RouteNotFoundError: If no route has the path.
            MethodNotFoundError: If no route with the path has the method.
            ParameterError: If a parameter of the path is missing or unknown.
            TypeError: If an option is unknown, or a value has the wrong type.
            ValueError: If a value is invalid.
        """
        request = self._kit_caller.request(self._kit_names, options)
        return self._kit_caller.fetch(request)


class TestClient(Walk[Step]):
    """A client that mirrors the routes of an app, see `test_client`."""

    __slots__ = ("_kit_lifespans",)

    if TYPE_CHECKING:

        @property
        def ws(self) -> WsStep:
            """Opens a WebSocket connection when called."""

    def __init__(self, caller: Caller) -> None:
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
