# SPDX-License-Identifier: MIT
"""Reads the environ of a WSGI server: builds the ASGI scope, and finds the length of the body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from ._types import Scope

_UNPREFIXED = ("CONTENT_TYPE", "CONTENT_LENGTH")
# SPEC: RFC 3986 section 3.3, "pchar" and the slash; quote() leaves the unreserved alone anyway.
SAFE_IN_PATH = "/!$&'()*+,;=:@"


class _Environ(dict[str, Any]):
    """An environ that is part of a scope.

    ASGI middleware such as hypercorn's deep-copies scopes; streams in an environ can't be copied.
    """

    def __deepcopy__(self, memo: object) -> _Environ:
        return self


def scope_of_environ(environ: Mapping[str, Any], state: Mapping[str, Any]) -> Scope:
    """Returns the ASGI scope of a WSGI environ.

    SPEC: PEP 3333, "environ Variables": text is bytes, decoded as Latin-1. ASGI HTTP & WebSocket
    message format, "HTTP Connection Scope".

    Args:
        environ: The environ.
        state: The state that the application set in its lifespan.
    """
    root = _encode_field(environ.get("SCRIPT_NAME"))
    path = root + _encode_field(environ.get("PATH_INFO")) or b"/"
    server = (environ["SERVER_NAME"], int(environ["SERVER_PORT"]))
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": environ.get("SERVER_PROTOCOL", "HTTP/1.0").partition("/")[2],
        "method": environ["REQUEST_METHOD"],
        "scheme": environ["wsgi.url_scheme"],
        "path": path.decode("utf-8", "replace"),
        "raw_path": _raw_path(environ, path),
        "query_string": _encode_field(environ.get("QUERY_STRING")),
        "root_path": root.decode("utf-8", "replace"),
        "headers": [*_headers(environ)],
        "client": _client(environ),
        "server": server,
        "extensions": {},
        "state": {**state},
        "wsgi.environ": _Environ(environ),
    }


def _encode_field(value: str | None) -> bytes:
    return (value or "").encode("latin-1")


def _raw_path(environ: Mapping[str, Any], path: bytes) -> bytes:
    """Returns the path as the client encoded it, if the server provides that.

    APPSEC: if the server or middleware has rewritten the path, the request target no longer
    describes it.
    """
    target = environ.get("REQUEST_URI") or environ.get("RAW_URI") or ""
    # SPEC: RFC 9112 section 3.2.2, the absolute form.
    if not target.startswith("/") and "://" in target.partition("?")[0]:
        target = "/" + target.partition("://")[2].partition("/")[2]
    raw = _encode_field(target.partition("?")[0])
    return raw if unquote_to_bytes(raw) == path else quote(path, safe=SAFE_IN_PATH).encode()


def _headers(environ: Mapping[str, Any]) -> Iterator[tuple[bytes, bytes]]:
    for key, value in environ.items():
        if key in _UNPREFIXED:
            name = key if value else ""
        else:
            name = key.removeprefix("HTTP_") if key.startswith("HTTP_") else ""
        # Some servers have CONTENT_TYPE under both names.
        if name and (key in _UNPREFIXED or name not in _UNPREFIXED):
            yield name.replace("_", "-").lower().encode("latin-1"), _encode_field(value)


def _client(environ: Mapping[str, Any]) -> tuple[str, int] | None:
    """Returns the client. Most servers report no port; ASGI requires one, so it is 0 then."""
    address = environ.get("REMOTE_ADDR")
    return (address, int(environ.get("REMOTE_PORT") or 0)) if address else None


def refuse_unmeasured(environ: Mapping[str, Any], start_response: Any) -> list[bytes] | None:
    """Responds to a request if the server doesn't report the end of its body; otherwise None.

    Reading until the end could block forever; treating the body as empty would silently lose it.

    SPEC: RFC 9110 section 15.5.12, 411 (Length Required).
    """
    if "HTTP_TRANSFER_ENCODING" not in environ or body_length(environ) is None:
        return None
    start_response("411 Length Required", [("content-type", "text/plain; charset=UTF-8")])
    return [b"Length Required"]


def body_length(environ: Mapping[str, Any]) -> int | None:
    """Returns the length of a request's body; None if only reading it shows its end."""
    length = environ.get("CONTENT_LENGTH")
    if not length and environ.get("wsgi.input_terminated"):
        return None
    return int(length or 0)
