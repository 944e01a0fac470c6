# SPDX-License-Identifier: MIT
"""The middleware that sets the X-Powered-By header."""

from __future__ import annotations

from typing import Any

from kit.authoring.options import OptionChecks
from kit.http.fields import is_field_value
from kit.interface import AsyncMiddleware, Context, Next

_HEADER = "X-Powered-By"


def powered_by(*, server_name: str = "Kit") -> AsyncMiddleware:
    """Returns middleware that sets the `X-Powered-By` header of every response.

    Errors and 404 responses get it too. It replaces a value set by a handler.

    Args:
        server_name: Value of the header (RFC 9110, section 5.5); may be empty.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If `server_name` is not a str.
        ValueError: If `server_name` can't be sent in a header.

    Example:
        app.use(powered_by())
    """
    check = OptionChecks("powered_by")
    if not is_field_value(check.text("server_name", server_name)):
        check.unusable(
            "server_name",
            server_name,
            "latin-1 text without control characters or surrounding spaces",
        )

    async def powered_by(c: Context[Any, Any], next: Next) -> None:
        await next()
        c.header(_HEADER, server_name)

    return powered_by
