# SPDX-License-Identifier: MIT
"""The routing path of a request that a server received."""

from __future__ import annotations

import re
from typing import Any

from kit._support.paths import encode_delimiters
from kit.interface.paths import decode_path

# The escapes that decodeURI leaves alone, and that of the percent sign.
_KEPT_IN_PATH = re.compile(rb"%(?:2[3-6BCFbcf]|3[ABDFabdf]|40)")


def path_of_scope(scope: Any) -> str:
    """Gives the routing path of an ASGI http scope.

    It is the percent-encoded `raw_path`, decoded as `decode_path` does, without `root_path`.
    Where there is none, or a host has changed `path` alone, what can't stand unencoded in a path
    is encoded again.

    PERF: what the server decoded is the same, unless there is an escape that `decode_path` keeps
    or bytes that are no UTF-8; then it takes half the time.
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
        # By segments: the root is decoded, and what is encoded in the path may differ from it.
        path = "/" + "/".join(path.split("/")[root.count("/") + 1 :])
    return path or "/"


def _is_decoded(path: str, raw: str) -> bool:
    """Whether a path is what a server makes of the encoded one."""
    from urllib.parse import unquote

    return unquote(raw) == path
