# SPDX-License-Identifier: MIT
"""The types of handlers and middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from ._context import Context
from ._web import Response

Next: TypeAlias = Callable[[], Awaitable[None]]
"""Runs what comes after a middleware; when it is done, `c.res` is the response."""

HandlerResult: TypeAlias = Response | Awaitable[Response | None] | None
"""What a handler or middleware may return: a response, nothing, or an awaitable of either."""

Handler: TypeAlias = Callable[[Context[Any, Any]], HandlerResult]
"""Answers a request: `def handler(c)`, plain or async."""

Middleware: TypeAlias = Callable[[Context[Any, Any], Next], HandlerResult]
"""Runs around others: `async def middleware(c, next)`."""

AsyncMiddleware: TypeAlias = Callable[[Context[Any, Any], Next], Awaitable[Response | None]]
"""Async middleware, which other middleware can wrap: `return await login_required(c, next)`.

What factories return, since `Middleware` may be a plain function, whose result can't be awaited.
"""

ErrorHandler: TypeAlias = Callable[[Exception, Context[Any, Any]], HandlerResult]
"""Answers an exception: `def on_error(error, c)`, plain or async."""
