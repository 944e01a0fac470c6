# SPDX-License-Identifier: MIT
"""Clients for tests, which mirror the routes of an app: `test_client` and `sync_test_client`.

    async def test_books():
        async with test_client(app) as client:
            created = await client.books.post(json={"title": "Dune"})
            assert created.status == 201
            book = await client.books[":id"].get(param={"id": 1})
            assert await book.json() == {"title": "Dune"}

    def test_books():
        with sync_test_client(app) as client:
            assert client.books.get(query={"size": 10}).json() == []

Every name is a segment of a path as the route has it, and the last one before the call is what to
do: a method (`get`, also `["$get"]`), or `url` or `path`, which give that. So
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

A call that fits no route is an error, which lists what there is; `repr(client)` does as well. The
paths of middleware and of `mount` can be called, but are not listed. Any other request, such as one
for a path that must not exist, is made with `app.request`.

Requests go to `http://localhost`, in process. A handler that raises is answered as in production,
with 500 unless an `on_error` does otherwise. Redirects are not followed, and cookies not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from kit.app import Kit
from kit.interface import ExecutionContext as AnyExecutionContext
from kit.testing._client import Step, TestClient
from kit.testing._errors import MethodNotFoundError, ParameterError, RouteNotFoundError
from kit.testing._execution import ExecutionContext
from kit.testing._inputs import RequestOptions, Values
from kit.testing._loop import SyncCaller
from kit.testing._sync import SyncStep, SyncTestClient
from kit.testing._sync_response import SyncResponse
from kit.testing._walk import Caller

__all__ = (
    "ExecutionContext",
    "MethodNotFoundError",
    "ParameterError",
    "RequestOptions",
    "RouteNotFoundError",
    "SyncResponse",
    "SyncTestClient",
    "TestClient",
    "sync_test_client",
    "test_client",
)

# Names are shown as they are imported.
for _class in (
    ExecutionContext,
    MethodNotFoundError,
    ParameterError,
    RequestOptions,
    RouteNotFoundError,
    SyncResponse,
    SyncTestClient,
    TestClient,
):
    _class.__module__ = __name__


def test_client(
    app: Kit[Any, Any],
    env: Mapping[str, Any] | None = None,  # noqa: PT028 - this is no test
    execution_ctx: AnyExecutionContext | None = None,  # noqa: PT028
    *,
    headers: Values | None = None,  # noqa: PT028
) -> TestClient:
    """Makes a client for async tests, whose calls are awaited and give a `Response`.

    `async with test_client(app) as client:` runs the lifespans meanwhile; without it, the client
    works as well, and they don't run.

    Args:
        app: The app. The client of an app that `base_path` made has the whole paths.
        env: Bindings for `c.env`, e.g. mocks, on top of those of the lifespan.
        execution_ctx: What `c.execution_ctx` gives. Default: an `ExecutionContext` for each
            request. The tasks of `wait_until` in an `ExecutionContext` of this module are done
            before a call returns, or before the end of a streamed body is read; what they raise is
            raised there.
        headers: Headers of every request, e.g. `{"authorization": "Bearer s3cret"}`.

    Returns:
        The client.

    Raises:
        TypeError: If `app` is no Kit.
        ValueError: If a header may not be sent.
    """
    _check(app, "test_client")
    return TestClient(Caller(Step, app, env, execution_ctx, headers))


test_client.__test__ = False  # type: ignore[attr-defined]  # pytest takes it for a test otherwise


def sync_test_client(
    app: Kit[Any, Any],
    env: Mapping[str, Any] | None = None,
    execution_ctx: AnyExecutionContext | None = None,
    *,
    headers: Values | None = None,
    backend: Literal["asyncio", "trio"] = "asyncio",
) -> SyncTestClient:
    """Makes a client for plain tests, whose calls give a `SyncResponse`.

    It works within `with sync_test_client(app) as client:`, which runs an event loop in a thread,
    and the lifespans in it.

    Args:
        app: As for `test_client`.
        env: As for `test_client`.
        execution_ctx: As for `test_client`.
        headers: As for `test_client`.
        backend: The event loop.

    Returns:
        The client.

    Raises:
        TypeError: If `app` is no Kit.
        ValueError: If a header may not be sent.
    """
    _check(app, "sync_test_client")
    return SyncTestClient(SyncCaller(SyncStep, app, env, execution_ctx, headers), backend)


def _check(app: Any, name: str) -> None:
    if not isinstance(app, Kit):
        raise TypeError(f"{name}() takes a Kit app, not {app!r:.100}")
