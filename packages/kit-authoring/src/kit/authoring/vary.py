# SPDX-License-Identifier: MIT
"""Informs caches of the request headers that a handler depends on through its middleware.

Middleware that reads a header for the handlers, e.g. a session cookie, adds that header to Vary
after the handlers have run. By then, a cache registered after the middleware has already stored the
response. Such middleware therefore calls `depend_on` before the handlers run, or when they use the
data that it provides. So does everything else that hands a header to the handlers as data: cookies,
typed parameters and validated values.
"""

from __future__ import annotations

from typing import Any

from kit.interface import Context

__all__ = ("depend_on", "get_vary")

_VARIABLE = "kit.depends_on"


def depend_on(c: Context[Any, Any], names: str) -> None:
    """Records that the response to this request depends on some of its headers.

    It doesn't set Vary; the caller still has to.

    Args:
        c: The context.
        names: The names as in Vary (RFC 9110, section 12.5.5), such as `"Accept-Language, Cookie"`;
            `"*"` if the response is for this request only.
    """
    noted = c.get(_VARIABLE)
    if noted is None:
        c.set(_VARIABLE, names)
    elif names != noted and names not in noted.split(", "):  # a handler may read it often
        c.set(_VARIABLE, f"{noted}, {names}")


def get_vary(c: Context[Any, Any]) -> str | None:
    """Returns the recorded headers of this request, as a value of Vary; None if there are none.

    Args:
        c: The context.
    """
    found: str | None = c.get(_VARIABLE)
    return found
