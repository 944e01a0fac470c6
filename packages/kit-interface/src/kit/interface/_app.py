# SPDX-License-Identifier: MIT
"""The app as seen by tools and servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from ._context import ExecutionContext
from ._router import Router
from ._routes import RouterRoute
from ._web import HeadersInit, Response


class App(Protocol):
    """An app, which handles requests and lists its routes. `kit.Kit` is one."""

    @property
    def routes(self) -> Sequence[RouterRoute]:
        """All registered routes, in order.

        Raises:
            RuntimeError: If a decorator was never applied to a function.
        """

    @property
    def router(self) -> Router[Any]:
        """The router in use; it finds the routes of `routes`."""

    @property
    def strict(self) -> bool:
        """Whether `/about` and `/about/` are different paths."""

    @property
    def get_path(self) -> Callable[[Any], str] | None:
        """A function that returns the routing path of a request; None to use the URL's path."""

    # Any, since the app requires its own class of request, with its own arguments.
    async def fetch(
        self,
        request: Any,
        env: Mapping[str, Any] | None = None,
        execution_ctx: ExecutionContext | None = None,
    ) -> Response:
        """Handles a request in process.

        Args:
            request: A `Request` of the app's own class, such as `c.req.raw`.
            env: Bindings for `c.env`, in addition to those of a running lifespan.
            execution_ctx: The `c.execution_ctx` of the request.
        """

    async def request(
        self,
        input: Any,
        init: Any = None,
        env: Mapping[str, Any] | None = None,
        execution_ctx: ExecutionContext | None = None,
        *,
        method: str | None = None,
        headers: HeadersInit | None = None,
        body: Any = None,
        json: Any = None,
    ) -> Response:
        """Builds and handles a request; meant for tests.

        Args:
            input: A path, relative to `http://localhost`, a URL, or a request.
            init: A mapping with `method`, `headers` and `body`.
            env: As for `fetch`.
            execution_ctx: As for `fetch`.
            method: The HTTP method; default `GET`.
            headers: The headers.
            body: The body.
            json: The body, to send as JSON.
        """

    def running(self) -> AbstractAsyncContextManager[None]:
        """Runs the lifespan for the duration of an `async with` block."""

    def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[dict[str, Any]]],
        send: Callable[[dict[str, Any]], Awaitable[None]],
        /,
    ) -> Awaitable[None]:
        """Serves one ASGI 3 scope."""
