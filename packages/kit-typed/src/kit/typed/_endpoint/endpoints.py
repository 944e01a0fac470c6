# SPDX-License-Identifier: MIT
"""Registers typed endpoints with one decorator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Protocol, TypedDict, TypeVar, Unpack

from msgspec import UnsetType

from .typed import Typed, typed

P = ParamSpec("P")
R = TypeVar("R")


class Registrar(Protocol):
    """The methods of an app that register endpoints."""

    @property
    def on(self) -> Callable[..., Any]:
        """Registers a handler for methods and paths."""


class EndpointOptions(TypedDict, total=False):
    """The options of an endpoint: those of `typed`, and its middleware.

    Attributes:
        use: Middleware that runs before the endpoint, such as `Depends(check)`; one or a sequence.
        status: See `typed`, also for all other options.
    """

    use: Any
    status: int | None
    response: Any
    by_alias: bool | None
    exclude_unset: bool
    exclude_defaults: bool
    exclude_none: bool
    keep_alive: float | UnsetType | None


class Endpoints:
    """Registers typed endpoints on an app.

        api = Endpoints(app)

        @api.post("/books", status=201)
        async def create_book(book: Book) -> Book: ...

    This is the same as `@app.post("/books")` above `@typed(status=201)`. Unit tests can still call
    the function. Register handlers `(c)` and WebSockets on the app itself.

    Args:
        app: The app, or what its `base_path` returns: an object with the method `on` of an app.

    Raises:
        TypeError: If it has no such method.
    """

    def __init__(self, app: Registrar) -> None:
        if not callable(getattr(app, "on", None)):
            raise TypeError(f"Endpoints() takes an app, not {app!r:.100}")
        self._app = app

    def get(self, path: str, /, **options: Unpack[EndpointOptions]) -> _Decorator:
        """Registers an endpoint for GET and HEAD; see `on`."""
        return self.on("GET", path, **options)

    def post(self, path: str, /, **options: Unpack[EndpointOptions]) -> _Decorator:
        """Registers an endpoint for POST; see `on`."""
        return self.on("POST", path, **options)

    def put(self, path: str, /, **options: Unpack[EndpointOptions]) -> _Decorator:
        """Registers an endpoint for PUT; see `on`."""
        return self.on("PUT", path, **options)

    def patch(self, path: str, /, **options: Unpack[EndpointOptions]) -> _Decorator:
        """Registers an endpoint for PATCH; see `on`."""
        return self.on("PATCH", path, **options)

    def delete(self, path: str, /, **options: Unpack[EndpointOptions]) -> _Decorator:
        """Registers an endpoint for DELETE; see `on`."""
        return self.on("DELETE", path, **options)

    def query(self, path: str, /, **options: Unpack[EndpointOptions]) -> _Decorator:
        """Registers an endpoint for QUERY (RFC 10008), which has a body; see `on`."""
        return self.on("QUERY", path, **options)

    def on(
        self,
        method: str | Sequence[str],
        path: str | Sequence[str],
        /,
        **options: Unpack[EndpointOptions],
    ) -> _Decorator:
        """Registers an endpoint for one or more methods and paths.

        Args:
            method: The method, or several.
            path: The pattern of the path, or several.
            **options: See `EndpointOptions`.

        Returns:
            A decorator for the function, which returns what `typed` returns.

        Raises:
            TypeError: If an option has the wrong type. The decorator raises it as `typed` does.
            ValueError: If the status or the path isn't valid.
        """
        register: Any = self._app.on
        given: dict[str, Any] = dict(options)
        use = {"use": given.pop("use")} if "use" in given else {}
        return _Decorator(register(method, path, **use), typed(**given))


class _Decorator:
    """Makes a function an endpoint, and registers it."""

    def __init__(self, register: Callable[[Any], Any], make: Callable[..., Any]) -> None:
        self._register = register
        self._make = make

    def __call__(self, function: Callable[P, R], /) -> Typed[P, R]:
        endpoint: Typed[P, R] = self._make(function)
        self._register(endpoint)
        return endpoint
