# SPDX-License-Identifier: MIT
"""Context variables that belong to a request, for functions that aren't passed its context.

    _current: RequestVar[str] = RequestVar("kit.request_id")

    def request_id() -> AsyncMiddleware:
        def request_id(c: Context, next: Next) -> Awaitable[None]:
            return _current.run(new_id(), c, next)

        return request_id

`_current.get()` then returns the value everywhere in the request: in handlers, in their tasks and
threads (started by anyio or asyncio), in streamed bodies, and in work passed to `wait_until`.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Generic, TypeVar

from kit.interface import Context, Next

from .bodies import read_within

__all__ = ("RequestVar",)

T = TypeVar("T")


class _Entry(Generic[T]):
    """A value, and whether the middleware that set it is still running."""

    __slots__ = ("running", "value")

    def __init__(self, value: T) -> None:
        self.value = value
        self.running = True


class RequestVar(Generic[T]):
    """A value that belongs to the current request.

    Args:
        name: Name of the context variable, for debuggers.
    """

    __slots__ = ("_variable",)

    def __init__(self, name: str) -> None:
        self._variable: ContextVar[_Entry[T] | None] = ContextVar(name, default=None)

    def get(self) -> T | None:
        """Returns the value; None outside of a request that has one."""
        entry = self._variable.get()
        return None if entry is None else entry.value

    async def run(self, value: T, c: Context[Any, Any], next: Next) -> None:
        """Runs `next` with the value set.

        A server runs each request in a separate task. There, the value stays set afterwards, while
        the body is sent and the server writes its log. A request made in process shares the task of
        its caller, so the caller's value is restored; a streamed body keeps the value.

        Args:
            value: The value.
            c: The context of the request.
            next: The `next` of the middleware.
        """
        variable = self._variable
        outer = variable.get()
        entry = _Entry(value)
        variable.set(entry)
        stays = (outer is None or not outer.running) and c.req.raw.scope is not None
        try:
            await next()
        finally:
            entry.running = False
            if not stays:
                variable.set(outer)
        if not stays and c.finalized:
            read_within(c, entry, variable.get, variable.set)
