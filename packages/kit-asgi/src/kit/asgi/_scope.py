# SPDX-License-Identifier: MIT
"""Builds the ASGI scope for a mounted application."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from kit import path_of_request
from kit.interface import METHOD_NAME_ALL, Context
from kit.route import endpoint
from kit.web import URL, Request

from ._environ import SAFE_IN_PATH
from ._types import Scope

# Keys that Starlette and Kit store in the scope. An application nested in another one would use
# them to route, and to build URLs, by the outer application's routes.
_OF_THE_APP_AROUND = frozenset(
    ("app", "app_root_path", "endpoint", "kit.websocket", "path_params", "route", "router")
)

# What a browser reads as another host, or resolves, in a URL that begins with the root path (WHATWG
# URL, section 4.4).
_MISLEADING = re.compile(r"\A//|[\\\t\n\r]|(?:\A|/)\.{1,2}(?:/|\Z)")
# Dot segments, backslashes, and the character that ends a text in C.
_RESOLVED = re.compile(r"[\\\0]|(?:\A|/)\.{1,2}(?:/|\Z)")


def build_scope(request: Request, state: Mapping[str, Any] | None) -> Scope:
    """Returns the ASGI scope of a request.

    SPEC: ASGI HTTP, "HTTP Connection Scope".
    """
    around = request.scope or {}
    scheme, host, url_path, url_query = _parts(request.url)
    path, raw_path, query = _place(request, url_path, url_query)
    headers = list(request.headers.raw)
    if not any(name == b"host" for name, _ in headers):
        headers.insert(0, (b"host", host.encode()))
    body = request.body
    if isinstance(body, bytes):
        # A request made in process has no length, and a form that was read and encoded again has a
        # different one; some frameworks treat a body without a length as empty.
        framing = (b"content-length", b"transfer-encoding")
        headers = [line for line in headers if line[0] not in framing]
        headers.append((b"content-length", b"%d" % len(body)))
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
        "root_path": request.root_path,
        "headers": headers,
        "client": around.get("client"),
        "server": around.get("server") or _parse_server(request.url),
        "extensions": _select_extensions(around),
        "state": {**(around.get("state") or {}), **(state or {})},
    }


def build_scope_around(request: Request, state: Mapping[str, Any] | None) -> Scope:
    """Returns the ASGI scope of a request for middleware: that of the server, if it still holds.

    It is a copy, since handlers get what the middleware changes by another request.
    """
    scope = request.scope
    if (
        scope is None
        or request.is_moved
        or request.method != scope["method"]
        or isinstance(request.body, bytes)
        or request.headers.raw != list(map(tuple, scope["headers"]))
    ):
        return build_scope(request, state)
    return {
        **{key: value for key, value in scope.items() if key != "kit.websocket"},
        "extensions": _select_extensions(scope),
        "state": {**(scope.get("state") or {}), **(state or {})},
    }


def _select_extensions(scope: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the extensions without messages to the server, which gets none: trailers, files."""
    extensions = (scope.get("extensions") or {}).items()
    return {name: value for name, value in extensions if not name.startswith("http.response.")}


class ScopeRoute(NamedTuple):
    """The route of a request, with the members that tools read of Starlette's routes.

    Attributes:
        path: The pattern, e.g. `/users/:id`.
        path_format: The same.
        name: The name of the handler.
        endpoint: The handler.
        methods: The methods; None for all.
    """

    path: str
    path_format: str
    name: str
    endpoint: Any
    methods: frozenset[str] | None


def add_route(scope: Scope, c: Context[Any, Any]) -> None:
    """Adds the route that handles a request to its scope: `endpoint` and `route`."""
    route = endpoint(c)
    if route is None:
        return
    handler = getattr(route.handler, "__kit_origin__", route.handler)
    name = getattr(handler, "__name__", type(handler).__name__)
    methods = None if route.method == METHOD_NAME_ALL else frozenset({route.method})
    scope["endpoint"] = handler
    scope["route"] = ScopeRoute(route.path, route.path, name, handler, methods)


def is_ambiguous(request: Request, scope: Scope) -> bool:
    """Returns whether a path means something else once all of it is decoded, or normalized.

    The application gets it decoded, and may drop empty and dot segments. Guards that are matched
    with the path as it was sent wouldn't have seen what the application sees then. And a parameter
    in the prefix of the mount could make `//other.example` of the root path, which applications put
    before the paths that they redirect to.

    Args:
        request: The request.
        scope: Its scope.
    """
    # A URL has no dot segments: they are resolved in it, but not in the path that guards saw.
    paths = (scope["path"], path_of_request(request))
    if _MISLEADING.search(request.root_path) or any(map(_RESOLVED.search, paths)):
        return True
    segments = _parts(request.url)[2].split("/")[1:]
    for number, segment in enumerate(segments):
        decoded = unquote(segment)
        is_inner = number < len(segments) - 1
        if (
            decoded in (".", "..")
            or "\0" in decoded
            or "/" in decoded
            or "\\" in decoded
            or (is_inner and not decoded)
        ):
            return True
    return False


def _parts(url: str) -> tuple[str, str, str, str]:
    """Returns scheme, host with port, path and query of a URL in normalized form."""
    scheme, _, rest = url.partition("#")[0].partition("://")
    rest, _, query = rest.partition("?")
    host, slash, path = rest.partition("/")
    return scheme, host.rpartition("@")[2], slash + path, query


def _parse_server(url: str) -> tuple[str, int]:
    parsed = URL(url)
    port = parsed.port or (443 if parsed.protocol == "https:" else 80)
    return parsed.hostname.strip("[]"), int(port)


def _place(request: Request, url_path: str, url_query: str) -> tuple[str, bytes | None, bytes]:
    """Returns path, raw_path and query_string.

    Uses the server's values if the request's URL still agrees with them, since a URL doesn't
    preserve everything, such as `..`.
    """
    root = request.root_path
    rest = unquote(url_path)
    has_root = f"{rest}/".startswith(f"{root}/") and not request.is_below_root_path
    path = rest if has_root else root + rest
    raw_path: bytes | None = quote(path[: len(path) - len(rest)]).encode() + url_path.encode()
    query = url_query.encode()
    scope = request.scope
    if scope is None:
        return path, raw_path, query
    seen_path, seen_raw = _whole(scope)
    if url_path == "/" and f"{seen_path}/" == path:
        seen_path, seen_raw = path, seen_raw and seen_raw + b"/"
    seen = URL(f"http://host{_as_target(seen_path, seen_raw)}")
    if path == seen_path or (path == rest and seen.pathname == url_path):
        path, raw_path = seen_path, seen_raw
    seen_query: bytes = scope.get("query_string", b"")
    if URL(f"http://host/?{seen_query.decode('utf-8', 'replace')}").search.lstrip("?") == url_query:
        query = seen_query
    return path, raw_path, query


def _whole(scope: Mapping[str, Any]) -> tuple[str, bytes | None]:
    """Returns path and raw_path including the root path, as the specification requires.

    hypercorn omits it.
    """
    path, raw_path = scope["path"], scope.get("raw_path")
    root = (scope.get("root_path") or "").rstrip("/")
    if root and not f"{path}/".startswith(f"{root}/"):
        return root + path, raw_path and quote(root).encode() + raw_path
    return path, raw_path


def _as_target(path: str, raw_path: bytes | None) -> str:
    if raw_path is None:
        target = quote(path, safe=SAFE_IN_PATH)
    else:
        target = raw_path.decode("utf-8", "replace")
    return target if target.startswith("/") else f"/{target}"
