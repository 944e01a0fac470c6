# SPDX-License-Identifier: MIT
"""The test client for synchronous tests."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Never, NoReturn, Self

from kit.testing._caller import Caller, refuse_others
from kit.testing._inputs import RequestOptions, WebSocketOptions
from kit.testing._lifespan import LifespanTask
from kit.testing._loop import SyncCaller, Worker
from kit.testing._sync_response import SyncResponse
from kit.testing._walk import Walk
from kit.web import URL

if TYPE_CHECKING:
    from typing import Unpack

    from kit.testing._cookies import Cookies
    from kit.testing._sync_websocket import SyncTestWebSocket


class SyncWsStep(Walk["SyncStep"]):
    """A step whose last name is `ws`."""

    __slots__ = ()

    _kit_caller: SyncCaller

    if TYPE_CHECKING:

        @property
        def ws(self) -> SyncWsStep:
            """Opens a WebSocket connection when called."""

    def __call__(
        self, path: str | URL | None = None, /, **options: Unpack[WebSocketOptions]
    ) -> SyncTestWebSocket:
        """Opens a WebSocket connection to the path before `ws`, or to the given one.

        A name that isn't in any route is the value of a parameter: `client.chat["general"].ws()`.

        Args:
            path: A path such as `/chat/general`, for `client.ws` alone.
            **options: `param`, `query`, `headers`, `cookies` and `protocols`, see
                `WebSocketOptions`.

        Returns:
            The connection, which `with` opens. It raises `WebSocketRefusedError` if the app answers
            the handshake with another response.

        Raises:
            RouteNotFoundError: If no route has the path.
            MethodNotFoundError: If no route with the path has GET.
            ParameterError: If a parameter of the path is missing or unknown.
            RuntimeError: If called outside the client's `with` block.
            TypeError: If an option is unknown, or a value has the wrong type.
            ValueError: If a value is invalid.
        """
        from kit.testing._sync_websocket import SyncTestWebSocket
        from kit.testing._websocket import TestWebSocket

        caller = self._kit_caller
        caller.running_portal()
        session = TestWebSocket(caller, *caller.handshake(self._kit_names, path, options))
        return SyncTestWebSocket(caller, session)


class SyncStep(Walk["SyncStep"]):
    """A step that the names of a client lead to; calling it sends a request."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def ws(self) -> SyncWsStep:
            """Opens a WebSocket connection when called."""

    _kit_caller: SyncCaller

    def __call__(
        self, path: str | URL | None = None, /, *others: Never, **options: Unpack[RequestOptions]
    ) -> SyncResponse:
        """Sends a request. The last name is its method; the names before it are its path.

        Args:
            path: A path or URL, for calls such as `client.get("/books/1")`, whose only name is the
                method. Routes don't have to have it.
            *others: Nothing else is given without a name.
            **options: `param`, `query`, `json`, `form`, `content`, `headers`, `cookies` and
                `follow_redirects`, see `RequestOptions`.

        Returns:
            The response.

        Raises:
            RouteNotFoundError: If no route has the path.
            MethodNotFoundError: If no route with the path has the method.
            ParameterError: If a parameter of the path is missing or unknown.
            RuntimeError: If called outside the client's `with` block.
            TypeError: If an option is unknown, or a value has the wrong type.
            ValueError: If a value is invalid.
        """
        caller = self._kit_caller
        if others:
            refuse_others(self._kit_names, path)
        return caller.answer(caller.call(self._kit_names, path, options))


class SyncRequestStep(Walk["SyncStep"]):
    """The step `request` of a client; calling it sends a request."""

    __slots__ = ()

    _kit_caller: SyncCaller

    def __call__(
        self, method: str, path: str | URL, /, **options: Unpack[RequestOptions]
    ) -> SyncResponse:
        """Sends a request to any path, one without a route included.

        Args:
            method: Its method, e.g. `GET`.
            path: A path such as `/books?page=2`, or a URL of the client's host.
            **options: `query`, `json`, `form`, `content`, `headers`, `cookies` and
                `follow_redirects`, see `RequestOptions`.

        Returns:
            The response.

        Raises:
            RuntimeError: If called outside the client's `with` block.
            TypeError: If an option is unknown, or a value has the wrong type.
            ValueError: If the path or a value is invalid, or the URL is one of another host.
        """
        caller = self._kit_caller
        return caller.answer(caller.call_by_method(method, path, options))


SyncRequestStep.__call__.__qualname__ = "client.request"  # as errors of Python name it


class SyncTestClient(Walk[SyncStep]):
    """A client that mirrors the routes of an app, see `sync_test_client`."""

    __slots__ = ("_kit_backend", "_kit_stack")

    if TYPE_CHECKING:

        @property
        def ws(self) -> SyncWsStep:
            """Opens a WebSocket connection when called."""

    _kit_caller: SyncCaller

    @property
    def cookies(self) -> Cookies:
        """The cookies that the client keeps and sends; a route `/cookies` is `["cookies"]`."""
        return self._kit_caller.cookies

    @property
    def request(self) -> SyncRequestStep:
        """Sends a request to any path: `request("GET", "/books", headers={...})`."""
        return SyncRequestStep(self._kit_caller, ("request",))

    def __init__(self, caller: SyncCaller, backend: str = "asyncio") -> None:
        # What Starlette's TestClient(app) is here.
        if not isinstance(caller, Caller):
            raise TypeError("write sync_test_client(app), or test_client(app) for async tests")
        super().__init__(caller)
        self._kit_backend = backend

    def __enter__(self) -> Self:
        from anyio.from_thread import start_blocking_portal

        caller = self._kit_caller
        if caller.portal is not None:
            raise RuntimeError("The client is running already: its `with` can't be nested")
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal(self._kit_backend))
            lifespan = LifespanTask(caller.app.running())
            worker = Worker(portal)
            stack.callback(worker.end)
            worker.run(lifespan.start)
            stack.callback(worker.run, lifespan.end)
            stack.callback(caller.close_streams)
            stack.callback(setattr, caller, "portal", None)
            caller.portal = portal
            self._kit_stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        return self._kit_stack.__exit__(kind, error, traceback)

    if not TYPE_CHECKING:

        async def __aenter__(self) -> NoReturn:
            raise TypeError("sync_test_client(app) is for plain tests, and is entered by `with`")

        async def __aexit__(self, *error: object) -> None: ...
