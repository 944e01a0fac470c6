# SPDX-License-Identifier: MIT
"""The app as tools and servers see it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from ._context import ExecutionContext
from ._router import Router, RouterRoute
from ._web import HeadersInit, Response


class App(Protocol):
    """An app: its routes can be read, and it answers requests. `kit.Kit` is one."""

    @property
    def routes(self) -> Sequence[RouterRoute]:
        """All registered routes, in order.

        Raises:
            RuntimeError: If a decorator never got its function.
        """

    @property
    def router(self) -> Router[Any]:
        """The router in use; what it finds are the routes of `routes`."""

    @property
    def strict(self) -> bool:
        """Whether `/about` and `/about/` are different paths."""

    @property
    def get_path(self) -> Callable[[Any], str] | None:
        """Returns the routing path of a request; None for the path of its URL."""

    # The app asks for its own class of request, and for what its own class takes.
    async def fetch(
        self,
        request: Any,
        env: Mapping[str, Any] | None = None,
        execution_ctx: ExecutionContext | None = None,
    ) -> Response:
        """Answers a request in process.

        Args:
            request: A `Request` of the app's own class, such as `c.req.raw`.
            env: Bindings for `c.env`, on top of those of a running lifespan.
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
        """Builds a request and answers it; meant for tests.

        Args:
            input: A path, which is taken on `http://localhost`, a URL, or a request.
            init: A mapping with `method`, `headers` and `body`.
            env: As for `fetch`.
            execution_ctx: As for `fetch`.
            method: The HTTP method; default `GET`.
            headers: The headers.
            body: The body.
            json: The body, to be sent as JSON.
        """

    def running(self) -> AbstractAsyncContextManager[None]:
        """Runs the lifespan around the block of an `async with`."""

    def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[dict[str, Any]]],
        send: Callable[[dict[str, Any]], Awaitable[None]],
        /,
    ) -> Awaitable[None]:
        """Serves one ASGI 3 scope."""
