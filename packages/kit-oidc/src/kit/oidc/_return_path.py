# SPDX-License-Identifier: MIT
"""The path to return to after a login: within this site, and nowhere else."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from kit.interface import Context

__all__ = ("is_return_path", "own_path")

# APPSEC: browsers read `//host` and `/\\host` as the address of another host, and drop tabs and
# newlines before that.
_is_path = re.compile(r"/(?![/\\])[!-\[\]-~]{0,2000}").fullmatch


def is_return_path(value: Any) -> bool:
    """Returns whether a value is a path of this site, with or without a query.

    Args:
        value: What a client sent, or an option.
    """
    return isinstance(value, str) and _is_path(value) is not None


def own_path(c: Context[Any, Any]) -> str | None:
    """Returns the path and query of a request; None if it isn't one to return to."""
    parts = urlsplit(c.req.url)
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return path if is_return_path(path) else None
