# SPDX-License-Identifier: MIT
"""The ASGI application that ASGI middleware wraps: the handlers after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kit.interface import Context, HandlerError, Next
from kit.interface.websocket import WebSocketDisconnectedError

from ._exchange import Exchange
from ._types import Receive, Scope, Send

if TYPE_CHECKING:
    from ._websocket import WebSocketExchange

_KEY = "kit.asgi.call"
_OF_THE_ROUTE = ("type", "method", "path", "raw_path")


class Call:
    """A call of a middleware, for one request.

    Args:
        c: The context.
        next: Runs the handlers after the middleware.
        scope: The scope that the ASGI middleware gets, to which this is added.

    Attributes:
        exchange: The exchange with the ASGI middleware.
    """

    exchange: Exchange | WebSocketExchange

    def __init__(self, c: Context[Any, Any], next: Next, scope: Scope) -> None:
        self._c = c
        self._next = next
        self._place = _find_place(scope)
        self._is_used = False
        self._raised: BaseException | None = None
        scope[_KEY] = self

    def __deepcopy__(self, memo: dict[int, Any]) -> Call:
        """Returns this call: hypercorn's `ProxyFixMiddleware` copies scopes with all they have."""
        return self

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
            HandlerError: If they ran already, or the scope is that of another route; or if a
                handler raised SystemExit.
            Exception: The exception of a handler, once its response is sent; or that of a streamed
                body, which cuts the response off. See `kit.serving.serve_rest`.
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

        exchange = self.exchange
        try:
            failure = await serve_rest(self._c, self._next, scope, receive, send)
        except Exception as error:
            if isinstance(exchange, Exchange):
                exchange.cut_off(error)
            raise
        except SystemExit as error:
            # In a task of the middleware, it would end the event loop, and so the server.
            raise HandlerError(name, f"got {error!r} from a handler") from error
        if not isinstance(exchange, Exchange):
            exchange.failure_of_handlers = failure
        if failure is not None and not isinstance(failure, WebSocketDisconnectedError):
            self._raised = failure
            raise failure

    def is_of_handlers(self, error: BaseException) -> bool:
        """Returns whether an exception, or each one of a group, is one that was answered."""
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
