# SPDX-License-Identifier: MIT
"""Test clients that mirror the routes of an app: `test_client` and `sync_test_client`.

    async def test_books():
        async with test_client(app) as client:
            created = await client.books.post(json={"title": "Dune"})
            assert created.status == 201
            book = await client.books[":id"].get(param={"id": 1})
            assert await book.json() == {"title": "Dune"}

    def test_books():
        with sync_test_client(app) as client:
            assert client.books.get(query={"size": 10}).json() == []

Every name is a segment of a path as the route spells it. The last name before the call is a method
(`get`, or `["$get"]`) that sends a request, or `url` or `path`, which return the URL or path. So
`client.posts.delete()` is DELETE /posts, and `client.posts.delete.get()` is GET /posts/delete. For
these routes:

    /                       client.index.get(), or client.get() if there is a route /index
    /about/                 client.about.index.get()
    /my-page                client["my-page"].get()
    /users/:id{[0-9]+}      client.users[":id"].get(param={"id": 7})
    /tags/:tag?             client.tags[":tag"].get(param={"tag": "x"}) and client.tags.get();
                            client.tags[":tag?"].get() takes the parameter or leaves it out
    /files/*                client.files["*"].get(param={"*": "a/b.txt"})
    on("PURGE", "/cache")   client.cache.purge()

A call that matches no route raises an error that lists the routes, as does `repr(client)`. Paths of
middleware and of `mount` can be called, but aren't listed.

`client.get("/books/1")` and `client.request("GET", "/books/1")` send a request to any path, whether
a route has it or not; `client.options("/books", headers=...)` sends a preflight.

A WebSocket connection is opened by `ws`, in place of a method, and closed at the end of the block:

    async with client.chat[":room"].ws(param={"room": "general"}) as ws:
        await ws.send("hello")
        assert await ws.receive() == "general: hello"

The synchronous client has the same without `async` and `await`. A handshake that the app refuses
raises `WebSocketRefusedError`, which has the response.

Requests are sent to `http://localhost`, in process. An exception in a handler has the same result
as in production: a 500 response, unless an `on_error` changes that. The client keeps cookies in
`client.cookies`, as a browser does; it follows redirects only if it is told to.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from kit.app import Kit
from kit.authoring.options import OptionChecks
from kit.authoring.wrapped_apps import find_app
from kit.interface import ExecutionContext as AnyExecutionContext
from kit.testing._caller import Caller, Settings
from kit.testing._client import Step, TestClient, WsStep
from kit.testing._errors import (
    MethodNotFoundError,
    ParameterError,
    RouteNotFoundError,
    WebSocketRefusedError,
)
from kit.testing._execution import ExecutionContext
from kit.testing._inputs import RequestOptions, Values, WebSocketOptions
from kit.testing._loop import SyncCaller
from kit.testing._sync import SyncStep, SyncTestClient, SyncWsStep
from kit.testing._sync_response import SyncResponse

if TYPE_CHECKING:
    from kit.testing._cookies import Cookies
    from kit.testing._sync_websocket import SyncTestWebSocket
    from kit.testing._websocket import TestWebSocket

AsgiApp: TypeAlias = Callable[[Any, Any, Any], Awaitable[Any]]
"""ASGI middleware around an app."""

__all__ = (
    "Cookies",
    "ExecutionContext",
    "MethodNotFoundError",
    "ParameterError",
    "RequestOptions",
    "RouteNotFoundError",
    "SyncResponse",
    "SyncTestClient",
    "SyncTestWebSocket",
    "TestClient",
    "TestWebSocket",
    "WebSocketOptions",
    "WebSocketRefusedError",
    "sync_test_client",
    "test_client",
)

# Public classes show the module that they are imported from.
for _class in (
    ExecutionContext,
    MethodNotFoundError,
    ParameterError,
    RequestOptions,
    RouteNotFoundError,
    SyncResponse,
    SyncTestClient,
    TestClient,
    WebSocketOptions,
    WebSocketRefusedError,
):
    _class.__module__ = __name__


def __getattr__(name: str) -> Any:
    # Imported when they are first used: most tests have neither WebSockets nor cookies.
    if name in ("SyncTestWebSocket", "TestWebSocket"):
        from kit.testing import _sync_websocket as module
    elif name == "Cookies":
        from kit.testing import _cookies as module  # type: ignore[no-redef]
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(module, name)
    found.__module__ = __name__
    return found


def test_client(
    app: Kit[Any, Any] | AsgiApp,
    env: Mapping[str, Any] | None = None,  # noqa: PT028 - not a test
    execution_ctx: AnyExecutionContext | None = None,  # noqa: PT028
    *,
    headers: Values | None = None,  # noqa: PT028
    cookies: Values | None = None,  # noqa: PT028
    keep_cookies: bool = True,  # noqa: PT028
    follow_redirects: bool = False,  # noqa: PT028
    base_url: str = "http://localhost",  # noqa: PT028
) -> TestClient:
    """Returns a client for async tests, whose calls are awaited and return a `Response`.

    `async with test_client(app) as client:` runs the lifespans around the block; without it the
    client works too, but they don't run.

    Args:
        app: The app, or ASGI middleware around it, which needs kit-asgi. The client of an app that
            `base_path` returned uses the whole paths.
        env: Bindings for `c.env`, e.g. mocks; they override those of the lifespan. They can't pass
            through ASGI middleware.
        execution_ctx: The object that `c.execution_ctx` returns. Default: a new `ExecutionContext`
            for each request. With an `ExecutionContext` of this module, the tasks of `wait_until`
            end before a call returns, or before the end of a streamed body is read; their
            exceptions are raised there. Within ASGI middleware, the app has the context that it
            has on a server: the tasks end at the same time, and their exceptions are logged.
        headers: Headers of every request, e.g. `{"authorization": "Bearer s3cret"}`.
        cookies: Cookies to begin with, a mapping or pairs; see `client.cookies`.
        keep_cookies: Whether cookies that responses set are sent with later requests, as RFC 6265
            says.
        follow_redirects: Whether redirects within the app are followed, at most 20. One to another
            host is returned.
        base_url: Scheme and host of the requests.

    Returns:
        The client.

    Raises:
        TypeError: If `app` is neither a Kit app nor ASGI middleware around one, or if it is ASGI
            middleware, and `env` or `execution_ctx` is given.
        ValueError: If a header, a cookie or `base_url` is invalid.
    """
    kit_app, served = _find_apps(app, "test_client", env, execution_ctx)
    settings = Settings(
        env, execution_ctx, headers, cookies, keep_cookies, follow_redirects, base_url
    )
    return TestClient(Caller(Step, WsStep, kit_app, settings, served))


test_client.__test__ = False  # type: ignore[attr-defined]  # pytest takes it for a test otherwise


def sync_test_client(
    app: Kit[Any, Any] | AsgiApp,
    env: Mapping[str, Any] | None = None,
    execution_ctx: AnyExecutionContext | None = None,
    *,
    headers: Values | None = None,
    cookies: Values | None = None,
    keep_cookies: bool = True,
    follow_redirects: bool = False,
    base_url: str = "http://localhost",
    backend: Literal["asyncio", "trio"] = "asyncio",
) -> SyncTestClient:
    """Returns a client for synchronous tests, whose calls return a `SyncResponse`.

    Use it within `with sync_test_client(app) as client:`, which runs an event loop in a thread,
    and the lifespans in it.

    Args:
        app: As for `test_client`.
        env: As for `test_client`.
        execution_ctx: As for `test_client`.
        headers: As for `test_client`.
        cookies: As for `test_client`.
        keep_cookies: As for `test_client`.
        follow_redirects: As for `test_client`.
        base_url: As for `test_client`.
        backend: The event loop to use.

    Returns:
        The client.

    Raises:
        TypeError: If `app` is neither a Kit app nor ASGI middleware around one, or if it is ASGI
            middleware, and `env` or `execution_ctx` is given.
        ValueError: If a header, a cookie or `base_url` is invalid.
    """
    kit_app, served = _find_apps(app, "sync_test_client", env, execution_ctx)
    settings = Settings(
        env, execution_ctx, headers, cookies, keep_cookies, follow_redirects, base_url
    )
    OptionChecks("sync_test_client").choice("backend", backend, ("asyncio", "trio"))
    return SyncTestClient(SyncCaller(SyncStep, SyncWsStep, kit_app, settings, served), backend)


def _find_apps(
    app: Any, name: str, env: Any, execution_ctx: Any
) -> tuple[Kit[Any, Any], Kit[Any, Any]]:
    """Returns the app with the routes, and the one that requests are sent to.

    Raises:
        ImportError: If kit-asgi isn't installed, which ASGI middleware around the app needs.
        TypeError: If there is no Kit app, or bindings or an execution context would have to pass
            through ASGI middleware.
    """
    if isinstance(app, Kit):
        return app, app
    inner = find_app(app)
    if inner is None:
        raise TypeError(
            f"{name}() takes a Kit app, or ASGI middleware around one, not {app!r:.100}"
        )
    if env is not None:
        raise TypeError(
            f"{name}(env=...) is for a Kit app, but ASGI middleware is around it: give the app "
            "itself, or yield the bindings in its lifespan"
        )
    if execution_ctx is not None:
        raise TypeError(
            f"{name}(execution_ctx=...) is for a Kit app, but ASGI middleware is around it: give "
            "the app itself"
        )
    try:
        from kit.asgi import from_asgi
    except ImportError as error:
        raise ImportError(
            f"{name}() was given ASGI middleware around a Kit app, which needs kit-asgi: "
            "pip install 'kit-testing[asgi]'"
        ) from error
    handler = from_asgi(app, ambiguous_paths=True)
    outer = Kit[Any, Any](lifespan=lambda _: handler.lifespan())
    # Not mounted: a mount refuses some of the paths that a server passes on.
    outer.all("*", lambda c: handler(c.req.raw, c.execution_ctx))
    return inner, outer
