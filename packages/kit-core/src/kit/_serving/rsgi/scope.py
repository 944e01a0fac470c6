# SPDX-License-Identifier: MIT
"""The ASGI scope of a request that an RSGI server received."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .types import RsgiScope

_ASGI = {"version": "3.0", "spec_version": "2.5"}
_VERSIONS = {"1": "1.0"}
_WEBSOCKET_SCHEMES = {"http": "ws", "https": "wss"}


class LazyScope(dict[str, Any]):
    """The ASGI scope of an RSGI request, built once something of it is read.

    PERF: the path, the method and the parameters of a request are known without it, and many
    handlers need no more.

    SPEC: ASGI HTTP & WebSocket message format, "HTTP Connection Scope". There is no `raw_path`:
    RSGI has the decoded path only.

    Args:
        scope: The scope of the server.
        build: Returns the items.
    """

    __slots__ = ("_build", "_source")

    def __init__(self, scope: RsgiScope, build: Callable[[RsgiScope], dict[str, Any]]) -> None:
        self._source: RsgiScope | None = scope
        self._build = build

    def fill(self) -> None:
        """Reads the scope of the server, unless that was done."""
        source, self._source = self._source, None
        if source is not None:
            for key, value in self._build(source).items():
                dict.setdefault(self, key, value)

    def __missing__(self, key: str) -> Any:
        if self._source is None:
            raise KeyError(key)
        self.fill()
        return self[key]

    def __bool__(self) -> bool:
        return True


def _filled_before(name: str) -> Callable[..., Any]:
    method = getattr(dict, name)

    def call(self: LazyScope, *arguments: Any, **keywords: Any) -> Any:
        self.fill()
        return method(self, *arguments, **keywords)

    call.__name__ = name
    return call


for _name in (
    *("__contains__", "__delitem__", "__eq__", "__iter__", "__len__", "__ne__", "__or__"),
    *("__repr__", "__reversed__", "__ror__", "copy", "get", "items", "keys", "pop", "popitem"),
    *("setdefault", "values"),
):
    setattr(LazyScope, _name, _filled_before(_name))


def http_scope(scope: RsgiScope) -> dict[str, Any]:
    """Returns the ASGI scope of an HTTP request."""
    return {
        "type": "http",
        "method": scope.method,
        **_common(scope),
        "scheme": scope.scheme,
        "extensions": {"http.response.pathsend": {}},
    }


def websocket_scope(scope: RsgiScope) -> dict[str, Any]:
    """Returns the ASGI scope of a WebSocket handshake."""
    common = _common(scope)
    offered = [v.decode() for n, v in common["headers"] if n == b"sec-websocket-protocol"]
    return {
        "type": "websocket",
        **common,
        "scheme": _WEBSOCKET_SCHEMES.get(scope.scheme, scope.scheme),
        "subprotocols": [each.strip() for line in offered for each in line.split(",")],
        "extensions": {"websocket.http.response": {}},
    }


def _common(scope: RsgiScope) -> dict[str, Any]:
    version = scope.http_version
    # Nearly all are ASCII; the server leaves out values that aren't, and can't say which they are.
    headers = [(name.encode(), value.encode()) for name, value in scope.headers.items()]
    authority = scope.authority
    if authority is not None and "host" not in scope.headers:
        headers.insert(0, (b"host", authority.encode()))  # SPEC: RFC 9113 section 8.3.1
    return {
        "asgi": _ASGI,
        "http_version": _VERSIONS.get(version, version),
        "path": scope.path,
        "query_string": scope.query_string.encode(),
        "root_path": "",
        "headers": headers,
        "client": parse_address(scope.client),
        "server": parse_address(scope.server),
    }


def parse_address(text: str) -> tuple[str, int | None] | None:
    """Returns host and port; a Unix socket has no port, its clients no address at all."""
    host, colon, port = text.rpartition(":")
    if colon and port.isdecimal():
        return host.removeprefix("[").removesuffix("]"), int(port)
    return (text, None) if text.startswith("/") else None
