# SPDX-License-Identifier: MIT
"""Creates apps, middleware and handlers with common types, for applications of several modules.

factory: Factory[Bindings, Variables] = create_factory(init_app=add_middleware)

books = factory.create_app()
books.get("/", *factory.create_handlers(check_query, list_books))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypedDict, TypeVar, Unpack

from kit._registration.types import AnyHandler, GetPath
from kit.app import Kit, OpenLifespan
from kit.authoring.maybe_await import dispose, is_awaitable, plain_result
from kit.authoring.options import OptionChecks
from kit.authoring.signatures import accepts, describe_signature, is_async, takes_next
from kit.context import B, Context, V
from kit.interface import Next, Router
from kit.web._limits import Limits

__all__ = ("AppOptions", "Factory", "create_factory", "create_middleware")

ResultT = TypeVar("ResultT")

_ASYNC_INIT = "create_factory(init_app=...) takes a plain function, not an async one"


class AppOptions(TypedDict, Generic[B, V], total=False):
    """The options of `Kit`; see its documentation."""

    strict: bool
    router: Router[Any] | str | None
    get_path: GetPath | None
    lifespan: OpenLifespan[B, V] | None
    limits: Limits
    method_not_allowed: bool
    validation_status: int
    encoders: Mapping[Any, Callable[[Any], Any]] | None
    decoders: Mapping[Any, Callable[[Any], Any]] | None


class Factory(Generic[B, V]):
    """Creates apps with the same options, and middleware and handlers with the types of these apps.

    `B` types `c.env`, `V` types `c.var`, as for `Kit`. `create_factory` creates factories, and
    describes the parameters.
    """

    def __init__(
        self,
        init_app: Callable[[Kit[B, V]], object] | None = None,
        default_app_options: AppOptions[B, V] | None = None,
    ) -> None:
        check = OptionChecks("create_factory")
        if init_app is not None:
            check.function("init_app", init_app, "(app)")
            if is_async(init_app):
                raise TypeError(_ASYNC_INIT)
        self._init_app = init_app
        options = {} if default_app_options is None else default_app_options
        known = Kit.__init__.__kwdefaults__ or {}
        self._default_options: dict[str, Any] = {
            **check.keys("default_app_options", options, known)
        }
        self._has_used_router = False

    def create_app(self, **options: Unpack[AppOptions[B, V]]) -> Kit[B, V]:
        """Returns a new app, after applying `init_app` to it.

        Args:
            **options: Options of `Kit`; they override the defaults.

        Raises:
            ValueError: If the default router is an object instead of a name, and belongs to an
                earlier app.
            TypeError: As for `Kit`, and if `init_app` is async.
        """
        merged: dict[str, Any] = {**self._default_options, **options}
        router = merged.get("router")
        if "router" not in options and not (router is None or isinstance(router, str)):
            if self._has_used_router:
                raise ValueError(
                    "create_app() can't use the router of default_app_options again: it has the "
                    "routes of the first app"
                )
            self._has_used_router = True
        app: Kit[B, V] = Kit(**merged)
        if self._init_app is not None:
            result: Any = self._init_app(app)
            if is_awaitable(result):  # a lambda may return an awaitable
                dispose(result)
                raise TypeError(_ASYNC_INIT)
            plain_result(result, self._init_app, "create_factory(init_app=...)")
        return app

    def create_middleware(
        self, middleware: Callable[[Context[B, V], Next], ResultT], /
    ) -> Callable[[Context[B, V], Next], ResultT]:
        """Returns a middleware unchanged; its parameters get the types of the factory.

        Args:
            middleware: A function `(c, next)`, plain or async.

        Raises:
            TypeError: If it can't be called with `(c, next)`.
        """
        return create_middleware(middleware)

    def create_handlers(self, *handlers: AnyHandler[B, V] | None) -> list[AnyHandler[B, V]]:
        """Returns handlers to register together: `app.get("/", *handlers)`.

        Args:
            *handlers: Handlers and middleware. None is skipped, as in `debug_log if debug else
                None`.

        Raises:
            TypeError: If a handler can't be called with `(c)` or `(c, next)`.
        """
        kept = [handler for handler in handlers if handler is not None]
        for handler in kept:
            takes_next(handler, "create_handlers()")
        return kept


def create_factory(
    init_app: Callable[[Kit[B, V]], object] | None = None,
    default_app_options: AppOptions[B, V] | None = None,
) -> Factory[B, V]:
    """Returns a factory of apps, middleware and handlers.

    Its types come from the variable that it is assigned to, or from the parameter of `init_app`.

    Args:
        init_app: Called with each app that `create_app` creates, before it is returned.
        default_app_options: Options of each app; `create_app` can override them.

    Raises:
        TypeError: If `init_app` isn't a plain function `(app)`, or `default_app_options` isn't a
            mapping.
        ValueError: If an option is unknown.

    Example:
        factory: Factory[Bindings, Variables] = create_factory(init_app=add_middleware)
    """
    return Factory(init_app, default_app_options)


def create_middleware(
    middleware: Callable[[Context[B, V], Next], ResultT], /
) -> Callable[[Context[B, V], Next], ResultT]:
    """Returns a middleware unchanged, so that type checkers check it here instead of at its use.

    Args:
        middleware: A function `(c, next)`, plain or async.

    Raises:
        TypeError: If it can't be called with `(c, next)`.

    Example:
        @create_middleware
        async def no_store(c: Context, next: Next) -> None:
            await next()
            c.header("cache-control", "no-store")
    """
    if not callable(middleware):
        raise TypeError(f"create_middleware() takes a function (c, next), not {middleware!r:.100}")
    if not accepts(middleware, 2):
        raise TypeError(
            "create_middleware() takes a function (c, next): "
            f"got the signature {describe_signature(middleware)}"
        )
    return middleware
