# SPDX-License-Identifier: MIT
"""The attributes of a request, by the semantic conventions for HTTP."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from kit.authoring.instrumentation import redact_query, split_target
from kit.conninfo import ConnInfo
from kit.interface import Context, Request, Response
from kit.route import endpoint

__all__ = ("Attributes", "Described", "Settings", "known_methods", "sent_headers")

Attributes: TypeAlias = dict[str, Any]
"""Names and values of a span's attributes."""

_REDACTED = ("REDACTED",)
# APPSEC: these are credentials, even if the options list them.
_SECRET_HEADERS = frozenset(
    (
        "authorization",
        "authentication-info",
        "cookie",
        "proxy-authentication-info",
        "proxy-authorization",
        "set-cookie",
        "x-api-key",
        "x-auth-token",
        "x-csrf-token",
        "x-xsrf-token",
    )
)
# SPEC: semantic conventions, "http.request.method": the methods of RFC 9110 section 9,
# RFC 5789 and RFC 10008.
_METHODS = "CONNECT,DELETE,GET,HEAD,OPTIONS,PATCH,POST,PUT,QUERY,TRACE"
_METHODS_VARIABLE = "OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS"
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Maximum length of stored texts from clients, in characters.
_LONGEST = 4096
_LONGEST_NAME = 256
_OF_PROPAGATION = frozenset((b"traceparent", b"tracestate", b"baggage"))
_logger = logging.getLogger("kit")
_READ = frozenset((b"host", b"user-agent", b"content-length"))


def known_methods() -> frozenset[str]:
    """Returns the methods that are not `_OTHER`, which an environment variable may set."""
    methods = os.environ.get(_METHODS_VARIABLE) or _METHODS
    return frozenset(method.strip() for method in methods.split(","))


class Settings:
    """What spans record, from the options of the middleware.

    Args:
        query: Whether to record the query.
        redacted: Names of query parameters whose values aren't recorded, in lower case.
        request_headers: Names of request headers to record, in lower case.
        response_headers: Names of response headers to record, in lower case.
        conn_info: Returns the address of the client.
    """

    __slots__ = (
        "_has_failed",
        "conn_info",
        "methods",
        "query",
        "read",
        "redacted",
        "response_headers",
        "wanted",
    )

    def __init__(
        self,
        *,
        query: bool,
        redacted: Collection[str],
        request_headers: Iterable[str],
        response_headers: Iterable[str],
        conn_info: Callable[[Context[Any, Any]], ConnInfo] | None,
    ) -> None:
        self.query = query
        self.redacted = redacted
        self.wanted = {name.encode(): f"http.request.header.{name}" for name in request_headers}
        self.read = _READ | _OF_PROPAGATION | self.wanted.keys()
        self.response_headers = {name: f"http.response.header.{name}" for name in response_headers}
        self.conn_info = conn_info
        self.methods = known_methods()
        self._has_failed = False

    def failed(self, error: Exception) -> None:
        """Logs the first exception that kept a request from being recorded."""
        if not self._has_failed:
            self._has_failed = True
            _logger.error("Some requests aren't recorded; they were not affected", exc_info=error)


class Described:
    """The description of a request for spans and metrics.

    Attributes:
        name: The name of its span.
        attributes: The attributes of the span.
        route: The pattern of the route, or None.
        is_propagated: Whether it has a header of W3C Trace Context or Baggage.
        size: The length of its body in bytes, or None if that is not known.
    """

    __slots__ = ("attributes", "is_propagated", "name", "route", "size")

    def __init__(self, c: Context[Any, Any], request: Request, settings: Settings) -> None:
        scope = request.scope or {}
        found, self.is_propagated = _headers(request, settings.read)
        host = found.get(b"host")
        method = request.method
        is_known = method in settings.methods
        attributes: Attributes = _of_many(
            method if is_known else None,
            (scope.get("scheme") or request.url.partition(":")[0])[:_LONGEST_NAME],
            scope.get("http_version"),
            None if host is None else host[0][:_LONGEST_NAME],
        ).copy()
        if not is_known:
            attributes["http.request.method_original"] = method[:_LONGEST_NAME]
        path, query = split_target(request)
        attributes["url.path"] = path[:_LONGEST]
        if query and settings.query:
            attributes["url.query"] = redact_query(query, settings.redacted)[:_LONGEST]
        shown = method if is_known else "HTTP"
        route = endpoint(c)
        if route is None:
            self.name, self.route = shown, None
        else:
            self.route = attributes["http.route"] = request.root_pattern + route.path
            self.name = f"{shown} {self.route}"
        _add_connection(attributes, scope)
        if settings.conn_info is not None:
            attributes["client.address"] = settings.conn_info(c).remote.address
            if attributes["client.address"] is None:
                del attributes["client.address"]
        agent = found.get(b"user-agent")
        if agent is not None and agent[0]:
            attributes["user_agent.original"] = agent[0].decode("latin-1")[:_LONGEST_NAME]
        if settings.wanted:
            _add_headers(attributes, found, settings.wanted)
        length = found.get(b"content-length")
        self.size = None if length is None else _size(length[0])
        self.attributes = attributes

    @property
    def measured(self) -> Attributes:
        """The attributes of the metric of active requests."""
        attributes = self.attributes
        return {name: attributes[name] for name in ("http.request.method", "url.scheme")}


# PERF: nearly all requests share these with others. No cached text is longer than 256.
@lru_cache(256)
def _of_many(
    method: str | None, scheme: str, version: str | None, host: bytes | None
) -> Attributes:
    """Returns the attributes that many requests have in common.

    Args:
        method: The method; None for an unknown one.
        scheme: The scheme.
        version: The HTTP version, if the server reports it.
        host: The value of Host.
    """
    attributes: Attributes = {"http.request.method": method or "_OTHER", "url.scheme": scheme}
    if version:
        attributes["network.protocol.version"] = version
    address, port = _parsed_host(host) if host else ("", 0)
    if address:
        _add_server(attributes, address, port)
    return attributes


def _add_server(attributes: Attributes, address: str, port: int) -> None:
    attributes["server.address"] = address
    port = port or _DEFAULT_PORTS.get(attributes["url.scheme"], 0)
    if port:
        attributes["server.port"] = port


def _add_connection(attributes: Attributes, scope: Mapping[str, Any]) -> None:
    """Adds both ends of the connection."""
    client = scope.get("client")
    if client is not None and client[0]:
        attributes["network.peer.address"] = attributes["client.address"] = client[0]
        port = int(client[1] or 0)  # granian sends it as text
        if port:
            attributes["network.peer.port"] = port
    if "server.address" not in attributes:
        server = scope.get("server")
        if server is not None and server[0]:
            _add_server(attributes, server[0], int(server[1] or 0))


def _add_headers(
    attributes: Attributes, found: Mapping[bytes, list[bytes]], wanted: Mapping[bytes, str]
) -> None:
    """Adds the headers to record."""
    for name, attribute in wanted.items():
        values = found.get(name)
        if values is not None:
            attributes[attribute] = _shown(
                name.decode(), [value.decode("latin-1") for value in values]
            )


def _size(length: bytes) -> int | None:
    """Returns the number in Content-Length, if it is a number."""
    return int(length) if length.isdigit() and len(length) < 19 else None


def sent_headers(response: Response, settings: Settings) -> Attributes:
    """Returns the response headers to record."""
    attributes: Attributes = {}
    headers = response.headers
    for name, attribute in settings.response_headers.items():
        values = headers.get_all(name)
        if values:
            attributes[attribute] = _shown(name, values)
    return attributes


def _shown(name: str, values: list[str]) -> tuple[str, ...]:
    if name in _SECRET_HEADERS:
        return _REDACTED
    return tuple(value[:_LONGEST] for value in values)


def _headers(request: Request, read: Collection[bytes]) -> tuple[dict[bytes, list[bytes]], bool]:
    """Returns the header lines to read, and whether any of them is for propagation."""
    found: dict[bytes, list[bytes]] = {}
    scope = request.scope
    if scope is None:
        lines: Iterable[tuple[bytes, bytes]] = (
            (name.encode("latin-1"), value.encode("latin-1"))
            for name, value in request.headers.items()
        )
    else:
        lines = scope["headers"]
    for name, value in lines:
        if name in read:
            if name in found:
                found[name].append(value)
            else:
                found[name] = [value]
    return found, not _OF_PROPAGATION.isdisjoint(found)


def _parsed_host(host: bytes) -> tuple[str, int]:
    """Returns the name and the port in Host (RFC 9110, section 7.2); 0 for no port."""
    text = host.decode("latin-1")
    address, colon, port = text.rpartition(":")
    is_bare_ipv6 = ":" in address and not address.endswith("]")
    if not colon or not port.isdecimal() or is_bare_ipv6:
        return text.strip("[]"), 0
    number = int(port) if port.isascii() and len(port) < 6 else 0
    return address.strip("[]"), number if number < 65536 else 0
