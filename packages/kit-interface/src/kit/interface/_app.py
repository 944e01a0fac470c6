# SPDX-License-Identifier: MIT
"""The app as seen by tools and servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from ._codecs import Codecs
from ._context import ExecutionContext
from ._errors import HTTPException
from ._router import Router
from ._routes import RouterRoute
from ._web import HeadersInit, Response


class App(Protocol):
    """An app, which handles requests and lists its routes. `kit.Kit` is one."""

    @property
    def routes(self) -> Sequence[RouterRoute]:
        """All registered routes, in order; raises RuntimeError if a decorator was never applied."""

    @property
    def router(self) -> Router[Any]:
        """The router in use; it finds the routes of `routes`."""

    @property
    def strict(self) -> bool:
        """Whether `/about` and `/about/` are different paths."""

    @property
    def get_path(self) -> Callable[[Any], str] | None:
        """A function that returns the routing path of a request; None to use the URL's path."""

    @property
    def codecs(self) -> Codecs:
        """The encoders and decoders of the app."""

    @property
    def validation_status(self) -> int:
        """The status of validation errors, unless a route has another one."""

    @property
    def body_limits(self) -> Mapping[str, int]:
        """The limits of request bodies that were set, e.g. `max_body_size_bytes`, by name."""

    @property
    def error_format(self) -> Callable[[Exception, Any], HTTPException | None] | None:
        """The function given to `format_errors`, unless a route has another one; or None."""

    def format_errors(
        self, function: Callable[[Exception, Any], HTTPException | None], /
    ) -> object:
        """Sets the format of errors that nothing handles: `function(error, c)`.

        It returns the HTTPException to send, or None for the default response. The fact
        `error_type` of the function documents the type of the bodies; see
        `kit.interface.metadata.attach`.
        """

    def path_to(
        self,
        handler: Callable[..., Any] | str,
        /,
        *,
        query: Any = None,
        **values: Any,
    ) -> str:
        """Returns the path of a handler's route; `handler` may be its name."""

    # Any, since the app requires its own class of request, with its own arguments.
    async def fetch(
        self,
        request: Any,
        env: Mapping[str, Any] | None = None,
        execution_ctx: ExecutionContext | None = None,
    ) -> Response:
        """Handles a request of the app's own class in process; `env` adds to the bindings."""

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
        """Builds a request from a path, a URL or a request, and handles it; meant for tests."""

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
