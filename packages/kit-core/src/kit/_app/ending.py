# SPDX-License-Identifier: MIT
"""The end of a request that was answered in process."""

from __future__ import annotations

from typing import Any

from kit.context import Context
from kit.web import Response
from kit.web._body import peek, put
from kit.web._streams import close_stream, iterate


async def end_in_process(c: Context[Any, Any], response: Response) -> None:
    """Runs the exits of a request now, or once the streamed body of its response has ended.

    Args:
        c: The context.
        response: The response; its body is replaced if it is streamed.
    """
    body = peek(response)
    if body is None or isinstance(body, bytes) or response.body_used:
        await c._run_exits()
    else:
        put(response, _EndingBody(body, c))


class _EndingBody:
    """A streamed body that runs the exits of its request when it has ended or is closed.

    Not an async generator: loop shutdown would close it before the generator that reads it.

    Args:
        body: The body.
        c: The context of the request.
    """

    def __init__(self, body: Any, c: Context[Any, Any]) -> None:
        self._body = body
        self._chunks = iterate(body)
        self._c = c
        self._over = False

    def __aiter__(self) -> _EndingBody:
        return self

    async def __anext__(self) -> bytes:
        try:
            return await anext(self._chunks)
        except StopAsyncIteration:
            await self._end()
            raise
        except BaseException as error:
            await self._end(error)
            raise

    async def aclose(self) -> None:
        """Closes the body, read to its end or not, and runs the exits."""
        await self._end()

    async def _end(self, error: BaseException | None = None) -> None:
        if self._over:
            return
        self._over = True
        try:
            await close_stream(self._chunks)
            await close_stream(self._body)
        except Exception as failure:
            await self._c._run_exits(error or failure)
            raise
        await self._c._run_exits(error)
