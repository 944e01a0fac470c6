# SPDX-License-Identifier: MIT
"""The ASGI scope of a request that an RSGI server received."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from kit.rsgi import RsgiScope

_ASGI = {"version": "3.0", "spec_version": "2.5"}
_VERSIONS = {"1": "1.0"}
_WEBSOCKET_SCHEMES = {"http": "ws", "https": "wss"}

Read: TypeAlias = Callable[[RsgiScope], Any]


class LazyScope(dict[str, Any]):
    """The ASGI scope of an RSGI request; items are created when they are read.

    PERF: many handlers need only the path, the method, the parameters and the headers of a request,
    which don't require the whole scope.

    SPEC: ASGI HTTP & WebSocket message format, "HTTP Connection Scope". There is no `raw_path`:
    RSGI has only the decoded path.

    Args:
        source: The scope of the server.
    """

    __slots__ = ("_source",)

    def __init__(self, source: RsgiScope) -> None:
        self._source: RsgiScope | None = source

    def fill(self) -> None:
        """Creates all items, unless that was done already."""
        source, self._source = self._source, None
        if source is not None:
            for key, read in _HTTP.items():
                # Items that were set or created are kept.
                if not dict.__contains__(self, key):
                    self[key] = read(source)

    def __missing__(self, key: str) -> Any:
        if self._source is None:
            raise KeyError(key)
        value = self[key] = _HTTP[key](self._source)
        return value

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


def websocket_scope(source: RsgiScope) -> dict[str, Any]:
    """Returns the ASGI scope of a WebSocket handshake."""
    scope = {key: read(source) for key, read in _COMMON.items()}
    offered = [v.decode() for n, v in scope["headers"] if n == b"sec-websocket-protocol"]
    return {
        "type": "websocket",
        **scope,
        "scheme": _WEBSOCKET_SCHEMES.get(source.scheme, source.scheme),
        "subprotocols": [each.strip() for line in offered for each in line.split(",")],
        "extensions": {"websocket.http.response": {}},
    }


def _headers(source: RsgiScope) -> list[tuple[bytes, bytes]]:
    # Nearly all are ASCII; the server leaves out values that aren't, and can't say which they are.
    lines = source.headers
    headers = [(name.encode(), value.encode()) for name, value in lines.items()]
    if "host" not in lines and source.authority is not None:
        headers.insert(0, (b"host", source.authority.encode()))  # SPEC: RFC 9113 section 8.3.1
    return headers


def parse_address(text: str) -> tuple[str, int | None] | None:
    """Returns host and port; a Unix socket has no port, its clients no address at all."""
    host, colon, port = text.rpartition(":")
    if colon and port.isdecimal():
        return host.removeprefix("[").removesuffix("]"), int(port)
    return (text, None) if text.startswith("/") else None


_COMMON: dict[str, Read] = {
    "asgi": lambda source: _ASGI,
    "http_version": lambda source: _VERSIONS.get(source.http_version, source.http_version),
    "path": lambda source: source.path,
    "query_string": lambda source: source.query_string.encode(),
    "root_path": lambda source: "",
    "headers": _headers,
    "client": lambda source: parse_address(source.client),
    "server": lambda source: parse_address(source.server),
}
_HTTP: dict[str, Read] = {
    "type": lambda source: "http",
    "method": lambda source: source.method,
    **_COMMON,
    "scheme": lambda source: source.scheme,
    "extensions": lambda source: {"http.response.pathsend": {}},
}
