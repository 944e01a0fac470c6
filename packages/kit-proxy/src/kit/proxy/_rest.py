# SPDX-License-Identifier: MIT
"""The rest of a path, which the wildcard at the end of a pattern has matched."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from kit.authoring.instrumentation import split_target
from kit.http.paths import decode_path
from kit.interface import Context

from ._target import encode_path

__all__ = ("count_segments", "split_path")


def count_segments(pattern: str) -> int | None:
    """Returns how many segments of a pattern precede its wildcard; None if it has none at its end.

    Args:
        pattern: The whole pattern of a route.

    Raises:
        TypeError: If the number of segments depends on the request.
    """
    if "{" in pattern or "?" in pattern:
        raise TypeError(
            f"reverse_proxy() can't tell the rest of the path at {pattern!r}, which has an "
            "optional parameter or a regular expression: expected a pattern such as '/api/*', or "
            "keep_prefix=True"
        )
    return pattern.count("/") - 1 if pattern.endswith("*") else None


def split_path(c: Context[Any, Any], segments: int | None) -> tuple[str, str]:
    """Returns the path before the wildcard, as the client sees it, and the rest; both encoded.

    The escapes are those that the client sent, if they mean the path that was routed.

    Args:
        c: The context.
        segments: The number of segments before the wildcard; None if there is no wildcard.

    Raises:
        HTTPException: 400 if the path has dot segments or control characters, in any encoding.
    """
    raw = c.req.raw
    sent = split_target(raw)[0]
    routed = c.req.path.split("/")
    count = 0 if segments is None else max(0, len(routed) - segments - 1)
    cut = sent.split("/")
    wanted = "/".join(["", *routed[len(routed) - count :]]) if count else ""
    rest = "/".join(["", *cut[len(cut) - count :]]) if count else ""
    if decode_path(rest) == wanted:
        rest = encode_path(rest.encode("latin-1"))
        prefix = encode_path("/".join(cut[: len(cut) - count]).encode("latin-1"))
    else:  # a `get_path` or a middleware has changed the path
        rest = encode_path(wanted)
        prefix = encode_path("/".join(routed[: len(routed) - count]))
    root = quote(raw.root_path)
    if root and not f"{prefix}/".startswith(f"{root.removesuffix('/')}/"):
        prefix = root.removesuffix("/") + prefix
    return prefix, rest
