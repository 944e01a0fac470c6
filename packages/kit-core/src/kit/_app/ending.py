# SPDX-License-Identifier: MIT
"""The end of a request that was handled in process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from kit.web import Request, Response
from kit.web._body import peek, put
from kit.web._streams import close_stream, iterate

RunExits: TypeAlias = Callable[[BaseException | None], Awaitable[None]]


async def end_in_process(request: Request, response: Response, run_exits: RunExits) -> None:
    """Runs the exits of a request now, or once its streamed body or WebSocket has ended.

    Args:
        request: The request.
        response: The response; its body is replaced if it is streamed.
        run_exits: Runs the exits; takes the exception that ended the request.
    """
    body = peek(response)
    handshake = (request.scope or {}).get("kit.websocket")
    if handshake is not None:
        if response.status == 101:
            handshake.end_with(run_exits)
            return
        await handshake.end()  # an inner app accepted, but its 101 was replaced
    if body is None or isinstance(body, bytes) or response.body_used:
        await run_exits(None)
    else:
        put(response, _EndingBody(body, run_exits))


class _EndingBody:
    """A streamed body that runs the exits of its request when it has ended or is closed.

    It isn't an async generator: loop shutdown would close it before the generator that reads it.

    Args:
        body: The body.
        run_exits: As for `end_in_process`.
    """

    def __init__(self, body: Any, run_exits: RunExits) -> None:
        self._body = body
        self._chunks = iterate(body)
        self._run_exits = run_exits
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
        """Closes the body, even if it was not read completely, and runs the exits."""
        await self._end()

    async def _end(self, error: BaseException | None = None) -> None:
        if self._over:
            return
        self._over = True
        try:
            await close_stream(self._chunks)
            await close_stream(self._body)
        except BaseException as failure:
            await self._run_exits(error or failure)
            raise
        await self._run_exits(error)
