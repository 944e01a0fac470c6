# SPDX-License-Identifier: MIT
"""The application handler of a mounted ASGI or WSGI application."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeAlias

from kit.authoring.options import OptionChecks
from kit.authoring.signatures import describe
from kit.interface import Context, HTTPException
from kit.lifespan import Lifespan
from kit.web import Request, Response

from ._exchange import Exchange, find_wait_until
from ._lifespan import run_lifespan
from ._scope import build_scope, is_ambiguous
from ._to_wsgi import WsgiApplication

AsgiApp: TypeAlias = Callable[[Any, Any, Any], Awaitable[Any]]
WsgiApp: TypeAlias = Callable[[Any, Any], Iterable[bytes]]


class AsgiHandler:
    """The application handler that `from_asgi` and `from_wsgi` return for `Kit.mount`.

    Called with a request and the further arguments that `mount` passes. If one of them is an
    execution context, it takes over the work that the application does after its response
    (background tasks); otherwise reading the response to its end waits for that work.

    Args:
        app: The ASGI application.
        wsgi_app: The WSGI application that `app` wraps, if any.
        ambiguous_paths: See `from_asgi`.
        variables: See `from_asgi`.
    """

    def __init__(
        self,
        app: AsgiApp,
        wsgi_app: WsgiApp | None = None,
        *,
        ambiguous_paths: bool = False,
        variables: tuple[str, ...] = (),
    ) -> None:
        wraps = app if wsgi_app is None else wsgi_app
        self._app = app
        self._takes_all_paths = ambiguous_paths
        self._name = describe(wraps)
        self._is_wsgi = wsgi_app is not None
        if variables:
            self.__kit_options__ = partial(_read_options, variables)
        self._lifespan = Lifespan(
            None if self._is_wsgi else lambda: run_lifespan(app, self._name), wraps
        )
        self.__name__: str = getattr(wraps, "__name__", type(wraps).__name__)
        self.__wrapped__ = wraps

    async def __call__(self, request: Request, /, *arguments: Any) -> Response:
        """Responds to a request.

        Args:
            request: The request.
            *arguments: Further arguments; only an object with a `wait_until` method is used.

        Returns:
            The response, as soon as the application has sent its head.

        Raises:
            Exception: The exception that the application raised before it sent a response head.
            HandlerError: If the application ended without a response, or its response is invalid.
            HTTPException: 400 if the path is ambiguous, see `from_asgi`.
            TypeError: If the body of the request was already read.
        """
        if not isinstance(request, Request):
            raise TypeError(
                f"The handler of {self._name} takes a Request, not {type(request).__name__}: "
                "give it to app.mount(path, handler)"
            )
        wait_until = next(
            (each.wait_until for each in arguments if hasattr(each, "wait_until")), None
        )
        scope = build_scope(request, self._lifespan.bindings)
        for each in arguments:
            if isinstance(each, _Variables):
                scope["state"].update(each)
        if not self._takes_all_paths and is_ambiguous(request, scope):
            raise HTTPException(
                400,
                "The path has an encoded slash, a backslash, a NUL, or an empty or dot segment",
            )
        if (request.scope or {}).get("type") == "websocket" and not self._is_wsgi:
            from ._websocket import open_exchange  # most requests open no connection

            return await open_exchange(self._app, self._name, scope, request).respond()
        exchange = Exchange(self._app, self._name, scope, request, wait_until)
        if self._is_wsgi:
            scope["kit.is_gone"] = lambda: exchange.gone
        return await exchange.respond()

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[Mapping[str, Any]]:
        """Runs the lifespan of the application; a Kit app does this for mounted applications.

        May be entered several times: the first entry starts the application, and the last exit
        stops it.

        Yields:
            The state that the application set at startup; the scope of each request contains it.

        Raises:
            HandlerError: If the application reports that its startup or shutdown failed.
        """
        async with self._lifespan.running():
            yield self._lifespan.bindings or {}

    def __repr__(self) -> str:
        return f"<AsgiHandler of {self._name}>"


class _Variables(dict[str, Any]):
    """The variables of the Kit app that a mounted application finds in its state."""


def _read_options(names: tuple[str, ...], c: Context[Any, Any]) -> list[Any]:
    """Returns what a mounted application is called with: the variables, and what waits for work."""
    variables = _Variables((name, c.get(name)) for name in names if c.get(name) is not None)
    wait_until = find_wait_until(c)
    return [variables] if wait_until is None else [variables, c.execution_ctx]


def from_asgi(
    asgi_app: AsgiApp,
    /,
    *,
    ambiguous_paths: bool = False,
    variables: str | Collection[str] = (),
) -> AsgiHandler:
    """Returns an application handler for `Kit.mount` that runs an ASGI application.

        app.mount("/api", from_asgi(FastAPI()))

    Args:
        asgi_app: An ASGI 3 application, such as one of Starlette, FastAPI, Django, Quart or Kit.
        ambiguous_paths: Whether to pass on paths with an encoded slash, a backslash, a NUL, or an
            empty or dot segment (`/files/private%2Fa`, `/files//private/a`), which are a 400
            otherwise. The application gets them decoded, so middleware of the Kit app on
            `/files/private/*` doesn't run for them: allow them only where no guard depends on the
            path below the mount.
        variables: Names of variables of the Kit app, such as `request_id`, that the application
            finds in `scope["state"]`: in Starlette as `request.state.request_id`. One that isn't
            set is left out.

    Raises:
        TypeError: If it is not an ASGI 3 application, or `variables` aren't names.
    """
    _check("from_asgi() takes an ASGI 3 application (scope, receive, send)", asgi_app, 3)
    check = OptionChecks("from_asgi")
    check.flag("ambiguous_paths", ambiguous_paths)
    names = check.texts("variables", variables)
    return AsgiHandler(asgi_app, ambiguous_paths=ambiguous_paths, variables=names)


def from_wsgi(
    wsgi_app: WsgiApp, /, *, workers: int = 10, ambiguous_paths: bool = False
) -> AsgiHandler:
    """Returns an application handler for `Kit.mount` that runs a WSGI application.

        app.mount("/admin", from_wsgi(get_wsgi_application()))

    The application runs in its own worker threads, and only on asyncio. Requires the package
    a2wsgi, which `kit-asgi[wsgi]` installs.

    Args:
        wsgi_app: A WSGI application, such as one of Flask or Django.
        workers: Number of threads; further requests wait for a free one.
        ambiguous_paths: See `from_asgi`.

    Raises:
        ImportError: If a2wsgi is not installed.
        TypeError: If it is not a WSGI application.
        ValueError: If `workers` is below 1.
    """
    from ._wsgi import wrap_wsgi

    _check("from_wsgi() takes a WSGI application (environ, start_response)", wsgi_app, 2)
    check = OptionChecks("from_wsgi")
    check.number("workers", workers, least=1)
    check.flag("ambiguous_paths", ambiguous_paths)
    return AsgiHandler(wrap_wsgi(wsgi_app, workers), wsgi_app, ambiguous_paths=ambiguous_paths)


def to_wsgi(asgi_app: AsgiApp, /, *, shutdown_timeout: float = 10.0) -> WsgiApplication:
    """Returns a WSGI application that runs an ASGI application, such as a Kit app.

        application = to_wsgi(app)

    For servers that support only WSGI. The application runs in an event loop in a separate thread.
    The first request starts the thread and the lifespan; `close` stops both, at the latest when
    Python exits. Bodies are streamed both ways; WebSocket connections aren't supported. The environ
    is available as `scope["wsgi.environ"]`.

    SPEC: PEP 3333.

    Args:
        asgi_app: An ASGI 3 application.
        shutdown_timeout: Seconds to wait for requests and background tasks at shutdown before they
            are cancelled.

    Raises:
        TypeError: If it is not an ASGI 3 application, or `shutdown_timeout` isn't a number.
        ValueError: If `shutdown_timeout` is negative.
    """
    _check("to_wsgi() takes an ASGI 3 application (scope, receive, send)", asgi_app, 3)
    timeout = OptionChecks("to_wsgi").number(
        "shutdown_timeout", shutdown_timeout, least=0, unit="seconds", whole=False
    )
    return WsgiApplication(asgi_app, describe(asgi_app), timeout)


def _check(what: str, app: Any, count: int) -> None:
    """Checks that an application can be called with `count` arguments.

    Raises:
        TypeError: If it can't; the message names it and suggests the right function.
    """
    if not callable(app):
        raise TypeError(f"{what}, not {app!r:.100}")
    try:
        signature = inspect.signature(app)
    except (TypeError, ValueError):
        # Compiled code may not have one, nor an object whose class has a slot `__call__`: Sentry's.
        return
    hints = {2: ": use from_wsgi() for a WSGI application", 3: ": use from_asgi() for an ASGI one"}
    if not _binds(signature, count):
        hint = next((hints[n] for n in hints if _binds(signature, n)), "")
        name = getattr(app, "__qualname__", type(app).__qualname__)
        raise TypeError(f"{what}, not {name}{signature}{hint}")


def _binds(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*(None,) * count)
    except TypeError:
        return False
    return True
