# SPDX-License-Identifier: MIT
"""The types of handlers and middleware."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias

from ._web import Response

Next: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
"""Runs the middleware and handlers that follow; afterwards, `c.res` is the response."""

HandlerResult: TypeAlias = Response | Awaitable[Response | None] | None
"""The result of a handler or middleware: a response, None, or an awaitable of either."""

AnyContext: TypeAlias = Any
"""The context that a function of an app takes: a `Context`, annotated as whatever class it is.

A parameter of a callable accepts no narrower type, so with `Context` here, a function that
annotates its context as `kit.Context`, or as one with its own bindings, would be refused.
"""

Handler: TypeAlias = Callable[[AnyContext], HandlerResult]
"""Handles a request: `def handler(c)`, plain or async."""

Middleware: TypeAlias = Callable[[AnyContext, Next], HandlerResult]
"""Wraps later middleware and handlers: `async def middleware(c, next)`."""

AsyncMiddleware: TypeAlias = Callable[[AnyContext, Next], Awaitable[Response | None]]
"""Async middleware, which other middleware can call: `return await login_required(c, next)`.

Factories return this type, since `Middleware` may be a plain function with a result that can't be
awaited.
"""

ErrorHandler: TypeAlias = Callable[[Exception, AnyContext], HandlerResult]
"""Handles an exception: `def on_error(error, c)`, plain or async."""
