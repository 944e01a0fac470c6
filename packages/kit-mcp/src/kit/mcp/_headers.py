# SPDX-License-Identifier: MIT
"""Decides which headers a call inherits from the MCP request, and which may be arguments."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ("forwarded", "is_callers_own")

# These describe the MCP request itself: its connection, its body, and the response it accepts.
_OF_THE_EXCHANGE = frozenset(
    {
        "accept",
        "accept-charset",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-language",
        "content-length",
        "content-location",
        "content-range",
        "content-type",
        "expect",
        "http2-settings",
        "if-match",
        "if-modified-since",
        "if-none-match",
        "if-range",
        "if-unmodified-since",
        "keep-alive",
        "last-event-id",
        "proxy-connection",
        "range",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_OF_MCP = "mcp-"
# kit-method-override and others would change the request's method.
_OVERRIDES = frozenset({"x-http-method", "x-http-method-override", "x-method-override"})
# A model must not choose the caller, the caller's address, or the framing of the request.
_CALLERS_OWN = frozenset(
    {
        "accept-encoding",
        "api-key",
        "authorization",
        "baggage",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "cookie",
        "expect",
        "forwarded",
        "host",
        "keep-alive",
        "origin",
        "proxy-authorization",
        "proxy-connection",
        "referer",
        "te",
        "traceparent",
        "tracestate",
        "trailer",
        "transfer-encoding",
        "true-client-ip",
        "upgrade",
        "via",
        "x-api-key",
        "x-csrf-token",
        "x-real-ip",
        "x-request-id",
        "x-rewrite-url",
        "x-xsrf-token",
    }
)
# Proxies set these to identify the caller, and remove them from client requests.
_CALLERS_PREFIXES = (
    _OF_MCP,
    "cf-",
    "remote-",
    "sec-",
    "x-amzn-",
    "x-auth-",
    "x-authenticated-",
    "x-client-",
    "x-envoy-",
    "x-forwarded-",
    "x-goog-",
    "x-ms-client-",
    "x-original-",
    "x-remote-",
    "x-ssl-",
    "x-user",
)


def forwarded(headers: Iterable[tuple[str, str]], *, cookies: bool) -> list[tuple[str, str]]:
    """Returns the headers of an MCP request that are forwarded to its tool calls.

    All headers are forwarded except those that describe the exchange itself. Guards that check an
    address, a token or an origin therefore decide as for a direct request of the client.

    Args:
        headers: Names in lower case, with values.
        cookies: Whether to include cookies.
    """
    return [
        (name, value)
        for name, value in headers
        if name not in _OF_THE_EXCHANGE
        and name not in _OVERRIDES
        and not name.startswith(_OF_MCP)
        and (cookies or name != "cookie")
    ]


def is_callers_own(place: str, name: str) -> bool:
    """Returns whether a parameter belongs to the caller, so that it can't be an argument.

    Args:
        place: Its place: `path`, `query`, `header` or `cookie`.
        name: Its name.
    """
    name = name.lower()
    return place == "cookie" or (
        place == "header"
        and (name in _CALLERS_OWN or name in _OVERRIDES or name.startswith(_CALLERS_PREFIXES))
    )
