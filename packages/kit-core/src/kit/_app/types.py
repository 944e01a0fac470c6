# SPDX-License-Identifier: MIT
"""Type variables and aliases of the public API."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, TypeAlias

from kit.interface import HandlerResult, Next

if sys.version_info >= (3, 13):
    from typing import TypeVar
else:
    from typing_extensions import TypeVar

if TYPE_CHECKING:
    from kit.app import Kit
    from kit.context import Context
    from kit.web import Request

B = TypeVar("B", default=Any)
"""Bindings: the type of `c.env`, a TypedDict."""

V = TypeVar("V", default=Any)
"""Variables: the type of `c.var`, a TypedDict."""

Handler: TypeAlias = "Callable[[Context[B, V]], HandlerResult]"
Middleware: TypeAlias = "Callable[[Context[B, V], Next], HandlerResult]"
AnyHandler: TypeAlias = "Handler[B, V] | Middleware[B, V]"
ErrorHandler: TypeAlias = "Callable[[Exception, Context[B, V]], HandlerResult]"
GetPath: TypeAlias = "Callable[[Request], str]"
Lifespan: TypeAlias = "Callable[[Kit[B, V]], AbstractAsyncContextManager[B | None]]"
