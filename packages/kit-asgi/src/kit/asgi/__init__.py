# SPDX-License-Identifier: MIT
"""Applications of other frameworks, for `Kit.mount`.

    from kit.asgi import from_asgi, from_wsgi

    app.mount("/api", from_asgi(fastapi_app))
    app.mount("/admin", from_wsgi(django_wsgi_app))

The application is given the path as the client sent it, and as `root_path` (`SCRIPT_NAME` for WSGI)
the part of it that leads to the application, so the URLs that it makes of its routes are right.
Request and response are streamed. It runs in a task of its own: it sees the context variables of
the request, but what it sets stays there. A Kit app runs its lifespan along with its own. It gets
no WebSocket connections, as Kit has none, and `Limits` don't bound what it reads.

SPEC: ASGI 3.0, HTTP & WebSocket message format 2.3; PEP 3333.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

from kit._serving.response import Scope
from kit._state.lifespan import Life
from kit._support.errors import describe
from kit.asgi._exchange import Exchange
from kit.asgi._lifespan import run_lifespan
from kit.web import URL, Request, Response
from kit.web._request import url_of_scope

__all__ = ("AsgiHandler", "from_asgi", "from_wsgi")

AsgiApp: TypeAlias = Callable[[Any, Any, Any], Awaitable[Any]]
WsgiApp: TypeAlias = Callable[[Any, Any], Iterable[bytes]]

# What Starlette keeps in the scope. Found there by an application in another one, it would route
# and make URLs by the routes of that.
_OF_THE_APP_AROUND = frozenset(
    ("app", "app_root_path", "endpoint", "path_params", "route", "router")
)


class AsgiHandler:
    """The application handler that `from_asgi` and `from_wsgi` give to `Kit.mount`.

    Called with a request and whatever `mount` hands on behind it. An execution context among that
    sees to what the application does after its response (background tasks); without one, who reads
    the response to its end waits for that.

    Args:
        app: The ASGI application.
        wsgi_app: The WSGI application that it is made of, if any.
    """

    def __init__(self, app: AsgiApp, wsgi_app: WsgiApp | None = None) -> None:
        wraps = app if wsgi_app is None else wsgi_app
        self._app = app
        self._name = describe(wraps)
        self._is_wsgi = wsgi_app is not None
        lifespan = None if self._is_wsgi else lambda _: run_lifespan(app, self._name)
        self._life = Life(self, lifespan)
        self.__name__: str = getattr(wraps, "__name__", type(wraps).__name__)
        self.__wrapped__ = wraps

    async def __call__(self, request: Request, /, *arguments: Any) -> Response:
        """Answers a request.

        Args:
            request: The request.
            *arguments: Of interest is only what has a method `wait_until`.

        Returns:
            The response, as soon as the application has sent its head.

        Raises:
            Exception: What the application raised before it sent the head of a response.
            HandlerError: If the application ended without a response, or it can't be sent.
            TypeError: If the body of the request was read before.
        """
        if not isinstance(request, Request):
            raise TypeError(
                f"The handler of {self._name} takes a Request, not {type(request).__name__}: "
                "give it to app.mount(path, handler)"
            )
        wait_until = next(
            (each.wait_until for each in arguments if hasattr(each, "wait_until")), None
        )
        scope = _scope_of(request, self._life.bindings)
        exchange = Exchange(self._app, self._name, scope, request, wait_until)
        if self._is_wsgi:
            scope["kit.is_gone"] = lambda: exchange.gone
        return await exchange.respond()

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[Mapping[str, Any]]:
        """Runs the lifespan of the application; a Kit app does it for those mounted in it.

        It may be entered several times; the application is started with the first, and stopped
        with the last.

        Yields:
            The state that the application made at its start; it is in the scope of each request.

        Raises:
            HandlerError: If the application says that its startup, or its shutdown, failed.
        """
        async with self._life.running():
            yield self._life.bindings or {}

    def __repr__(self) -> str:
        return f"<AsgiHandler of {self._name}>"


def from_asgi(asgi_app: AsgiApp, /) -> AsgiHandler:
    """Makes an application handler for `Kit.mount` of an ASGI application.

        app.mount("/api", from_asgi(FastAPI()))

    Args:
        asgi_app: An ASGI 3 application, such as one of Starlette, FastAPI, Django, Quart or Kit.

    Raises:
        TypeError: If it is no ASGI 3 application.
    """
    _check("from_asgi() takes an ASGI 3 application (scope, receive, send)", asgi_app, 3)
    return AsgiHandler(asgi_app)


def from_wsgi(wsgi_app: WsgiApp, /, *, workers: int = 10) -> AsgiHandler:
    """Makes an application handler for `Kit.mount` of a WSGI application.

        app.mount("/admin", from_wsgi(get_wsgi_application()))

    It runs in worker threads of its own, and on asyncio alone. Needs the package a2wsgi, which
    `kit-core[wsgi]` brings.

    Args:
        wsgi_app: A WSGI application, such as one of Flask or Django.
        workers: In how many threads; further requests wait.

    Raises:
        ImportError: If a2wsgi is not installed.
        TypeError: If it is no WSGI application.
        ValueError: If `workers` is below 1.
    """
    from kit.asgi._wsgi import asgi_of

    _check("from_wsgi() takes a WSGI application (environ, start_response)", wsgi_app, 2)
    if workers < 1:
        raise ValueError(f"Invalid workers {workers!r} of from_wsgi(): expected 1 or more")
    return AsgiHandler(asgi_of(wsgi_app, workers), wsgi_app)


def _check(what: str, app: Any, count: int) -> None:
    """Refuses what can't be called with so many arguments.

    Raises:
        TypeError: Naming what it is, and what is for it.
    """
    if not callable(app):
        raise TypeError(f"{what}, not {app!r:.100}")
    try:
        signature = inspect.signature(app)
    except ValueError:  # of compiled code, that doesn't say
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


def _scope_of(request: Request, state: Mapping[str, Any] | None) -> Scope:
    """Makes the scope of a request.

    SPEC: ASGI HTTP, "HTTP Connection Scope".
    """
    around = request.scope or {}
    scheme, host, url_path, url_query = _parts(request.url)
    path, raw_path, root_path, query = _place(_scope_around(request), url_path, url_query)
    headers = list(request.headers._lines)
    if not any(name == b"host" for name, _ in headers):
        headers.insert(0, (b"host", host.encode()))
    if isinstance(request._body, bytes):
        # A request made in process has no length, and that of a form that was read and written
        # again is another one; some frameworks take a body without a length for none.
        framing = (b"content-length", b"transfer-encoding")
        headers = [line for line in headers if line[0] not in framing]
        headers.append((b"content-length", b"%d" % len(request._body)))
    return {
        **{key: value for key, value in around.items() if key not in _OF_THE_APP_AROUND},
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": around.get("http_version", "1.1"),
        "method": request.method.upper(),
        "scheme": scheme,
        "path": path,
        "raw_path": raw_path,
        "query_string": query,
        "root_path": root_path,
        "headers": headers,
        "client": around.get("client"),
        "server": around.get("server") or _server_of(request.url),
        # These are messages to the server (trailers, push, files), and it is not asked.
        "extensions": {
            name: value
            for name, value in (around.get("extensions") or {}).items()
            if not name.startswith("http.response.")
        },
        "state": {**(around.get("state") or {}), **(state or {})},
    }


def _parts(url: str) -> tuple[str, str, str, str]:
    """Gives scheme, host with port, path and query of a URL that was parsed and written before."""
    scheme, _, rest = url.partition("#")[0].partition("://")
    rest, _, query = rest.partition("?")
    host, slash, path = rest.partition("/")
    return scheme, host.rpartition("@")[2], slash + path, query


def _server_of(url: str) -> tuple[str, int]:
    parsed = URL(url)
    port = parsed.port or (443 if parsed.protocol == "https:" else 80)
    return parsed.hostname.strip("[]"), int(port)


def _scope_around(request: Request) -> Scope | None:
    """The scope of the app that the application is mounted in, made up for one in process."""
    whole = getattr(request, "_whole_url", None)
    if request.scope is not None or whole is None:
        return request.scope
    scheme, host, path, query = _parts(whole)
    return {
        "scheme": scheme,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", host.encode())],
    }


def _place(
    around: Scope | None, url_path: str, url_query: str
) -> tuple[str, bytes | None, str, bytes]:
    """Gives path, raw_path, root_path and query_string.

    The path is the one the server gave, so that nothing is lost that a URL does not keep, such as
    `..`. What the path of the URL lacks at its beginning is the root path. If it is another one
    altogether, someone on the way has written it, and it is taken as it is.
    """
    path, root_path = unquote(url_path), ""
    raw_path: bytes | None = url_path.encode()
    query = url_query.encode()
    if around is not None:
        _, _, whole, seen_query = _parts(url_of_scope(around))
        if url_query == seen_query:
            query = around.get("query_string", b"")
        root = (around.get("root_path") or "").rstrip("/")
        prefix = _prefix(whole, url_path)
        if prefix is not None and f"{around['path']}/".startswith(f"{prefix}/"):
            path, raw_path, root_path = _whole(around, root, prefix)
            if url_path == "/" and path == root_path:
                path += "/"
                raw_path = raw_path and raw_path + b"/"
        elif root and f"{path}/".startswith(f"{root}/"):
            root_path = root
    return path, raw_path, root_path, query


def _whole(around: Scope, root: str, prefix: str) -> tuple[str, bytes | None, str]:
    """Gives path, raw_path and root_path where `prefix` was cut from the path."""
    path, raw_path = around["path"], around.get("raw_path")
    if root and not f"{path}/".startswith(f"{root}/"):
        # As hypercorn has it; by the specification the root path is a part of the path.
        path, root_path = root + path, root + prefix
        raw_path = raw_path and quote(root).encode() + raw_path
    else:
        root_path = prefix or root
    return path, raw_path, root_path


def _prefix(whole: str, rest: str) -> str | None:
    """What was cut from a path; None if the rest is no end of it.

    By segments, since what is encoded may differ.
    """
    if rest == whole:
        return ""
    if rest == "/" and not whole.endswith("/"):
        return unquote(whole)
    segments, kept = whole.split("/"), rest.split("/")[1:]
    cut = len(segments) - len(kept)
    if cut > 1 and [unquote(s) for s in segments[cut:]] == [unquote(s) for s in kept]:
        return unquote("/".join(segments[:cut]))
    return None
