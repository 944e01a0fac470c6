# SPDX-License-Identifier: MIT
"""Context variables that belong to a request, for functions that aren't passed its context.

    _current: Current[str] = Current("kit.request_id")

    def request_id() -> AsyncMiddleware:
        def request_id(c: Context, next: Next) -> Awaitable[None]:
            return _current.run(new_id(), c, next)

        return request_id

`_current.get()` then returns the value everywhere in the request: in handlers, in their tasks and
threads (started by anyio or asyncio), in streamed bodies, and in work passed to `wait_until`.
"""

from __future__ import annotations

from collections.abc import AsyncIterable
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

from ._context import Context
from ._handlers import Next

__all__ = ("Current",)

T = TypeVar("T")


class _Entry(Generic[T]):
    """A value, and whether the middleware that set it is still running."""

    __slots__ = ("running", "value")

    def __init__(self, value: T) -> None:
        self.value = value
        self.running = True


class Current(Generic[T]):
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
            self._keep_in_body(entry, c)

    def _keep_in_body(self, entry: _Entry[T], c: Context[Any, Any]) -> None:
        response = c.res
        body = response.body
        if body is None or isinstance(body, bytes) or response.body_used:
            return
        length = response.headers.get("content-length")
        c.res = response.replace(body=_Body(body, self._variable, entry))
        if length is not None:
            c.header("content-length", length)


class _Body:
    """A streamed body that is read with a context variable set.

    Not an async generator: closing one that hasn't started would not close the body.
    """

    __slots__ = ("_chunks", "_entry", "_variable")

    def __init__(self, body: AsyncIterable[bytes], variable: ContextVar[Any], entry: Any) -> None:
        self._chunks = body.__aiter__()
        self._variable = variable
        self._entry = entry

    def __aiter__(self) -> _Body:
        return self

    async def __anext__(self) -> bytes:
        outer = self._variable.get()
        self._variable.set(self._entry)
        try:
            return await self._chunks.__anext__()
        finally:
            self._variable.set(outer)

    async def aclose(self) -> None:
        close = getattr(self._chunks, "aclose", None)
        if close is None:
            return
        outer = self._variable.get()
        self._variable.set(self._entry)
        try:
            await close()
        finally:
            self._variable.set(outer)
