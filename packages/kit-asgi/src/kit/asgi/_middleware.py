# SPDX-License-Identifier: MIT
"""Runs ASGI middleware of other libraries among the middleware of a Kit app."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from kit.authoring.signatures import describe
from kit.interface import Context, Next
from kit.lifespan import Lifespan
from kit.request import clone_raw_request

from ._exchange import Exchange, call_app, find_wait_until
from ._inner import Call, serve_lifespan
from ._lifespan import run_lifespan
from ._scope import add_route, build_scope_around
from ._types import Receive, Scope, Send


class AsgiMiddleware:
    """The middleware that `asgi_middleware` returns.

    Args:
        create: Returns the ASGI middleware around an ASGI application.
        name: Its name in error messages.
    """

    def __init__(self, create: Callable[[Any], Any], name: str) -> None:
        self._name = name

        async def handlers(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await serve_lifespan(receive, send)
            else:
                await Call.of(scope, name).serve(name, scope, receive, send)

        # A function: some libraries take a method for an application of ASGI 2.
        self._app = create(handlers)
        if not callable(self._app):
            raise TypeError(
                f"asgi_middleware() takes a class of ASGI middleware, but {name} returned "
                f"{self._app!r:.100}, which isn't an ASGI application"
            )
        self._lifespan = Lifespan(lambda: run_lifespan(self._app, name), name)
        self.__name__ = name.rpartition(".")[2]

    async def __call__(self, c: Context[Any, Any], next: Next) -> None:
        """Runs the ASGI middleware around the handlers after it.

        Raises:
            Exception: The exception that the middleware raised before it sent a response.
            HandlerError: If it ended without a response, or its response is invalid.
        """
        raw: Any = c.req.raw
        request = await clone_raw_request(c.req) if raw.body_used else raw  # type: ignore[arg-type]
        scope = build_scope_around(request, self._lifespan.bindings)
        add_route(scope, c)
        if (raw.scope or {}).get("type") == "websocket":
            from ._websocket import open_exchange  # most requests open no connection

            connection = open_exchange(self._run, self._name, scope, raw)
            Call(c, next, connection.scope).exchange = connection
            c.res = await connection.respond()
            return
        call = Call(c, next, scope)
        exchange = Exchange(self._run, self._name, scope, request, find_wait_until(c))
        call.exchange = exchange
        response = await exchange.respond()
        await call.stop()
        c.res = response

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the ASGI middleware, which may raise the exception of a handler.

        Around an application of Starlette, it gets that exception, too. Here, the response was sent
        and the exception logged before.
        """
        call = Call.of(scope, self._name)
        try:
            await call_app(self._app, self._name, scope, receive, send)
        except Exception as error:
            exchange = call.exchange
            if not call.is_of_handlers(error):
                raise
            if not isinstance(exchange, Exchange):
                return  # it knows the exception
            if not exchange.has_head:
                raise
            if not exchange.is_complete:
                # It passed on all that the handlers sent, except for the end.
                await send({"type": "http.response.body"})

    @asynccontextmanager
    async def __kit_lifespan__(self) -> AsyncIterator[Mapping[str, Any]]:
        """Runs the lifespan of the ASGI middleware; see `kit.interface.hooks`."""
        async with self._lifespan.running():
            yield self._lifespan.bindings or {}

    def __repr__(self) -> str:
        return f"<AsgiMiddleware of {self._name}>"


def asgi_middleware(
    middleware: Callable[..., Any], /, *arguments: Any, **options: Any
) -> AsgiMiddleware:
    """Returns middleware that runs ASGI middleware around the handlers after it.

        app.use("*", asgi_middleware(CorrelationIdMiddleware, header_name="X-Request-ID"))

    The ASGI middleware sees requests, responses and WebSocket connections of the paths that it is
    registered for, and the lifespan of the app. It may change the headers, the client, the scheme,
    the query and the body of a request, and add keys to the scope, which handlers find in
    `c.req.raw.scope`. It can't change the path or the method, since the routes are found already:
    put such middleware around the app, `app = Middleware(app)`.

    The scope has the route that handles the request, as Starlette's has: `endpoint`, and `route`
    with its `path`. If a handler raises an exception that becomes a 500, the middleware gets the
    response, and then the exception. If it answers before the handlers do, they are cancelled.

    Args:
        middleware: The class, or a function that returns an ASGI application, called with the
            application that it wraps.
        *arguments: Further arguments for it.
        **options: Keyword arguments for it.

    Returns:
        The middleware, for `app.use(...)` or a route.

    Raises:
        TypeError: If it can't be called like this, or doesn't return an ASGI application.
        Exception: What `middleware` raises.
    """
    name = describe(middleware).partition(" (")[0]
    if not callable(middleware):
        raise TypeError(f"asgi_middleware() takes a class of ASGI middleware, not {name}")
    try:
        inspect.signature(middleware).bind(None, *arguments, **options)
    except ValueError:  # compiled code may not have a signature
        pass
    except TypeError as error:
        raise TypeError(
            f"asgi_middleware(): {name} can't be called with an application and these arguments: "
            f"{error}"
        ) from None
    return AsgiMiddleware(lambda app: middleware(app, *arguments, **options), name)
