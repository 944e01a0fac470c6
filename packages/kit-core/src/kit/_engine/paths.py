# SPDX-License-Identifier: MIT
"""Returns the path that a request is routed by."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from kit.http.paths import decode_path, parse_url_path
from kit.web import Request
from kit.web._paths import encode_delimiters
from kit.web._request import has_served_path

_PERCENT = ord("%")  # PERF: searching bytes for an int is four times as fast as for b"%"


def parse_scope_path(scope: Any) -> str:
    """Returns the routing path of an ASGI http scope.

    The path is the percent-encoded `raw_path` without `root_path`, decoded by `decode_path`. If
    there is no `raw_path`, or a host app changed only `path`, the characters of `path` that a URL
    can't contain are encoded again.
    """
    path: str = scope["path"]
    raw = scope.get("raw_path")
    if raw is None:
        path = encode_delimiters(path)
    elif _PERCENT in raw or "%" in path:
        text = raw.decode("utf-8", "replace")
        is_decoded = unquote(text) == path
        path = decode_path(text) if is_decoded else encode_delimiters(path)
    root = scope.get("root_path")
    if root:
        path = _without_root(path, scope["path"], root.rstrip("/"))
    return path or "/"


def _without_root(path: str, decoded: str, root: str) -> str:
    """Returns a path below a root.

    Args:
        path: The routing path.
        decoded: The path as decoded by the server.
        root: The root, decoded.
    """
    if not root or not (decoded + "/").startswith(root + "/"):
        return path
    # Compare segments: the root is decoded, but its part of the path may be encoded.
    cut = root.count("/") + 1
    segments = path.split("/")
    if unquote("/".join(segments[:cut])) == root:
        return "/" + "/".join(segments[cut:])
    return encode_delimiters(decoded[len(root) :])  # a slash of the root is encoded in the path


def path_of_request(request: Request) -> str:
    """Returns the path that a request is routed by, unless the app has its own `get_path`.

    A `get_path` can build on this function. Unlike the path in `request.url`, the result is decoded
    as guards and routes see it, and excludes the server's `root_path`.

    Args:
        request: The request. If it came from a server and its path is unchanged, the function
            returns the path that it was served with.

    Returns:
        The path as in `c.req.path`, with a leading slash. The escapes of `/`, `?`, `#` and `%`, and
        of bytes that aren't UTF-8, stay encoded.

    Example:
        app = Kit(get_path=lambda request: f"/v1{path_of_request(request)}")
    """
    if request.scope is not None and has_served_path(request):
        return parse_scope_path(request.scope)
    return parse_url_path(request.url)
