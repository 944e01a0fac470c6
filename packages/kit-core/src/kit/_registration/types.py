# SPDX-License-Identifier: MIT
"""Types of the arguments that users pass to an app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from kit.context import B, Context, V
from kit.interface import HandlerResult, Next
from kit.web import Request, Response

Handler: TypeAlias = Callable[[Context[B, V]], HandlerResult]
Middleware: TypeAlias = Callable[[Context[B, V], Next], HandlerResult]
AnyHandler: TypeAlias = Handler[B, V] | Middleware[B, V]
ErrorHandler: TypeAlias = Callable[[Exception, Context[B, V]], HandlerResult]
GetPath: TypeAlias = Callable[[Request], str]

ApplicationHandler: TypeAlias = Callable[..., Response | Awaitable[Response | None] | None]
"""Another framework's handler: `(request, *arguments)`, plain or async."""

OptionHandler: TypeAlias = Callable[[Context[Any, Any]], Any]
ReplaceRequest: TypeAlias = Callable[[Request], Request]
