# SPDX-License-Identifier: MIT
"""The types of handlers and middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias

from ._context import Context
from ._web import Response

Next: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
"""Runs the middleware and handlers that follow; afterwards, `c.res` is the response."""

HandlerResult: TypeAlias = Response | Awaitable[Response | None] | None
"""The result of a handler or middleware: a response, None, or an awaitable of either."""

Handler: TypeAlias = Callable[[Context[Any, Any]], HandlerResult]
"""Handles a request: `def handler(c)`, plain or async."""

Middleware: TypeAlias = Callable[[Context[Any, Any], Next], HandlerResult]
"""Wraps later middleware and handlers: `async def middleware(c, next)`."""

AsyncMiddleware: TypeAlias = Callable[[Context[Any, Any], Next], Awaitable[Response | None]]
"""Async middleware, which other middleware can call: `return await login_required(c, next)`.

Factories return this type, since `Middleware` may be a plain function with a result that can't be
awaited.
"""

ErrorHandler: TypeAlias = Callable[[Exception, Context[Any, Any]], HandlerResult]
"""Handles an exception: `def on_error(error, c)`, plain or async."""
