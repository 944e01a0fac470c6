# SPDX-License-Identifier: MIT
"""The middleware that sets the header X-Opentelemetry."""

from __future__ import annotations

from typing import Any

from kit.interface import AsyncMiddleware, Context, Next
from kit.interface.options import OptionChecks

_HEADER = "X-Opentelemetry"


def opentelemetry(*, value: str = "yes") -> AsyncMiddleware:
    """Returns middleware that sets the header `X-Opentelemetry` of every response.

    Args:
        value: Value of the header (RFC 9110, section 5.5).

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If `value` is not a str.
        ValueError: If `value` can't be sent in a header.

    Example:
        app.use(opentelemetry())
    """
    OptionChecks("opentelemetry").header_value("value", value)

    async def opentelemetry(c: Context[Any, Any], next: Next) -> None:
        await next()
        # After the handlers, so that error and 404 responses get it too.
        c.header(_HEADER, value)

    return opentelemetry
