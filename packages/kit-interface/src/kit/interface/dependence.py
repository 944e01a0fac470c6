# SPDX-License-Identifier: MIT
"""Informs caches of the request headers that a handler depends on through its middleware.

Middleware that reads a header for the handlers, e.g. the cookie of a session, adds that header to
Vary when the handlers are done. A cache that comes after it has stored the response by then, so
such middleware calls `depend_on` before the handlers run, or when they use what it gives them.
"""

from __future__ import annotations

from typing import Any

from ._context import Context

__all__ = ("depend_on", "dependence")

_VARIABLE = "kit.depends_on"


def depend_on(c: Context[Any, Any], names: str) -> None:
    """Notes that the response to this request depends on some of its headers.

    It sets no header: Vary is still up to the caller.

    Args:
        c: The context.
        names: The names as in Vary (RFC 9110, section 12.5.5), such as `"Accept-Language, Cookie"`;
            `"*"` if the response is for this request alone.
    """
    noted = c.get(_VARIABLE)
    c.set(_VARIABLE, names if noted is None else f"{noted}, {names}")


def dependence(c: Context[Any, Any]) -> str | None:
    """Returns what was noted for this request, as a value of Vary; None if nothing was.

    Args:
        c: The context.
    """
    found: str | None = c.get(_VARIABLE)
    return found
