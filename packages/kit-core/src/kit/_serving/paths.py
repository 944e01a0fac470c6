# SPDX-License-Identifier: MIT
"""Returns the routing path of a request that a server received, and refuses what is no path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from kit._support.paths import encode_delimiters
from kit.http.paths import decode_path, parse_url_path
from kit.web import Request
from kit.web._request import has_served_path

if TYPE_CHECKING:
    from .types import Message

# The escapes that `decode_path` keeps, apart from those of bytes that aren't UTF-8.
_KEPT_IN_PATH = re.compile(rb"%(?:2[35Ff]|3[Ff])")

BAD_TARGET_BODY = b"400 Bad Request: the target must begin with a slash, and have no fragment"
BAD_TARGET_LINES = (
    (b"content-type", b"text/plain; charset=UTF-8"),
    (b"content-length", b"%d" % len(BAD_TARGET_BODY)),
)


def path_of_scope(scope: Any) -> str:
    """Returns the routing path of an ASGI http scope, which is to be checked with `is_target`.

    This is the percent-encoded `raw_path` without `root_path`, decoded as `decode_path` does. If
    there is no `raw_path`, or a host app changed only `path`, the characters of `path` that can't
    be unencoded in a URL are encoded again.

    The server's decoded path is the same, unless there is an escape that `decode_path` keeps or
    bytes that aren't UTF-8.
    """
    raw = scope.get("raw_path")
    path: str = scope["path"]
    if raw is None:
        path = encode_delimiters(path)
    elif "%" in path or "\ufffd" in path or _KEPT_IN_PATH.search(raw):
        text = raw.decode("utf-8", "replace")
        path = decode_path(text) if _is_decoded(path, text) else encode_delimiters(path)
    root = (scope.get("root_path") or "").rstrip("/")
    if root and (scope["path"] + "/").startswith(root + "/"):
        # By segments: the root is decoded, and its part of the path may be encoded differently.
        cut = root.count("/") + 1
        segments = path.split("/")
        if unquote("/".join(segments[:cut])) == root:
            path = "/" + "/".join(segments[cut:])
        else:  # a slash around it is encoded
            path = encode_delimiters(scope["path"][len(root) :])
    return path or "/"


def is_target(path: str) -> bool:
    """Returns whether a routing path is that of a request target in origin form.

    Some servers pass on other targets, such as `admin/users`, `*`, or those with a fragment. Code
    that adds the slash, or encodes or drops the fragment, would read another path than the one that
    guards were matched with.

    SPEC: RFC 9112, sections 3.2 and 3.2.1.

    Args:
        path: What `path_of_scope` returned.
    """
    return path[0] == "/" and "#" not in path


def bad_target(prefix: str = "http") -> tuple[Message, ...]:
    """Returns the messages of the plain 400 for other targets. Nothing of the app sees those.

    SPEC: RFC 9112, section 3.2; ASGI HTTP & WebSocket message format.

    Args:
        prefix: The prefix of the types: `http`, or `websocket.http` for a handshake.
    """
    return (
        {"type": f"{prefix}.response.start", "status": 400, "headers": [*BAD_TARGET_LINES]},
        {"type": f"{prefix}.response.body", "body": BAD_TARGET_BODY},
    )


def path_of_request(request: Request) -> str:
    """Returns the path that a request is routed by, unless the app has a `get_path` of its own.

    A `get_path` can build on it. Unlike the path of `request.url`, it is decoded, as guards and
    routes see it, and without the `root_path` of the server.

    Args:
        request: The request. If it was received by a server and is handed on with its path
            unchanged, its path is the one that it was served with.

    Returns:
        The path as in `c.req.path`, with a leading slash. The escapes of `/`, `?`, `#` and `%`, and
        of bytes that aren't UTF-8, stay encoded.

    Example:
        app = Kit(get_path=lambda request: f"/v1{path_of_request(request)}")
    """
    if request.scope is not None and has_served_path(request):
        return path_of_scope(request.scope)
    return parse_url_path(request.url)


def _is_decoded(path: str, raw: str) -> bool:
    """Returns whether a server would decode `raw` to `path`."""
    return unquote(raw) == path
