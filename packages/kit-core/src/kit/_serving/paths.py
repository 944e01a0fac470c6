# SPDX-License-Identifier: MIT
"""Returns the routing path of a request that a server received."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from kit._support.paths import encode_delimiters
from kit.interface.paths import decode_path, path_of_url
from kit.web import Request
from kit.web._request import has_served_path

# The escapes that decodeURI leaves alone, and that of the percent sign itself.
_KEPT_IN_PATH = re.compile(rb"%(?:2[3-6BCFbcf]|3[ABDFabdf]|40)")


def path_of_scope(scope: Any) -> str:
    """Returns the routing path of an ASGI http scope.

    This is the percent-encoded `raw_path` without `root_path`, decoded as `decode_path` does. If
    there is no `raw_path`, or a host app changed only `path`, the characters of `path` that can't
    be unencoded in a URL are encoded again.

    PERF: the server's decoded path is the same, unless there is an escape that `decode_path` keeps
    or bytes that aren't UTF-8. Using it takes half the time.
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


def path_of_request(request: Request) -> str:
    """Returns the routing path of a request that is handled in process.

    One that a server received, and that is handed on with its path as it was, has the path that it
    was served with, without `root_path`.
    """
    if request.scope is not None and has_served_path(request):
        return path_of_scope(request.scope)
    return path_of_url(request.url)


def _is_decoded(path: str, raw: str) -> bool:
    """Returns whether a server would decode `raw` to `path`."""
    return unquote(raw) == path
