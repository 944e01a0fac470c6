# SPDX-License-Identifier: MIT
"""The ASGI application that ASGI middleware wraps: the handlers after it."""

from __future__ import annotations

from typing import Any

from kit.interface import Context, HandlerError, Next

from ._exchange import Exchange
from ._types import Receive, Scope, Send

_KEY = "kit.asgi.call"
_OF_THE_ROUTE = ("type", "method", "path", "raw_path")


class Call:
    """A call of a middleware, for one request.

    Args:
        c: The context.
        next: Runs the handlers after the middleware.
        scope: The scope that the ASGI middleware gets, to which this is added.

    Attributes:
        exchange: The exchange with the ASGI middleware; None for a WebSocket connection.
    """

    def __init__(self, c: Context[Any, Any], next: Next, scope: Scope) -> None:
        self.exchange: Exchange | None = None
        self._c = c
        self._next = next
        self._place = _find_place(scope)
        self._is_used = False
        self._raised: BaseException | None = None
        scope[_KEY] = self

    @staticmethod
    def of(scope: Scope, name: str) -> Call:
        """Returns the call that a scope belongs to.

        Raises:
            HandlerError: If it is a scope that the ASGI middleware made itself.
        """
        call = scope.get(_KEY)
        if not isinstance(call, Call):
            raise HandlerError(name, "called the application with a scope that isn't the request's")
        return call

    async def serve(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Runs the handlers.

        Raises:
            HandlerError: If they ran already, or the scope is that of another route.
            Exception: See `kit.serving.serve_rest`.
        """
        if self._is_used:
            raise HandlerError(name, "called the application twice; call it once")
        changed = [key for key, value in _find_place(scope).items() if value != self._place[key]]
        if changed:
            raise HandlerError(
                name,
                f"changed {changed[0]!r} of the scope, but the routes are found already: put it "
                "around the app, app = Middleware(app)",
            )
        self._is_used = True
        from kit.serving import serve_rest  # it loads asyncio

        try:
            await serve_rest(self._c, self._next, scope, receive, send)
        except Exception as error:
            self._raised = error
            raise

    def is_of_handlers(self, error: BaseException) -> bool:
        """Returns whether an exception, or each one of a group, comes from the handlers."""
        if isinstance(error, BaseExceptionGroup) and error is not self._raised:
            return all(map(self.is_of_handlers, error.exceptions))
        return error is self._raised


def _find_place(scope: Scope) -> Scope:
    """Returns the parts of a scope for which a route is found."""
    return {key: scope.get(key) for key in _OF_THE_ROUTE}


async def serve_lifespan(receive: Receive, send: Send) -> None:
    """Answers the events: the lifespan of the app runs around that of its middleware."""
    event = ""
    while event != "shutdown":
        event = (await receive())["type"].partition(".")[2]
        await send({"type": f"lifespan.{event}.complete"})
