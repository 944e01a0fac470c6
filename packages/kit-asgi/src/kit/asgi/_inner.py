# SPDX-License-Identifier: MIT
"""The ASGI application that ASGI middleware wraps: the handlers after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kit.concurrency import Signal
from kit.interface import Context, HandlerError, Next
from kit.interface.websocket import WebSocketDisconnectedError

from ._exchange import Exchange
from ._types import Message, Receive, Scope, Send

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
        self._is_running = False
        self._has_answered = False
        self._cancel_scope: Any = None
        self._changed = Signal()
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
            HandlerError: If they ran already, the scope is that of another route, or the middleware
                has answered itself; or if a handler raised SystemExit.
            Exception: The exception of a handler, once its response is sent; or that of a streamed
                body, which cuts the response off. See `kit.serving.serve_rest`.
        """
        self._check(name, scope)
        self._is_used = self._is_running = True
        try:
            failure = await self._serve(scope, receive, send)
        except SystemExit as error:
            # In a task of the middleware, it would end the event loop, and so the server.
            raise HandlerError(name, f"got {error!r} from a handler") from error
        finally:
            self._is_running = False
            self._changed.tell()
        if not isinstance(self.exchange, Exchange):
            self.exchange.failure_of_handlers = failure
        if failure is not None and not isinstance(failure, WebSocketDisconnectedError):
            self._raised = failure
            raise failure

    def _check(self, name: str, scope: Scope) -> None:
        """Checks that the handlers may run.

        Raises:
            HandlerError: See `serve`.
        """
        if self._is_used:
            raise HandlerError(name, "called the application twice; call it once")
        if isinstance(self.exchange, Exchange) and self.exchange.has_head:
            raise HandlerError(name, "called the application after it had answered itself")
        changed = [key for key, value in _find_place(scope).items() if value != self._place[key]]
        if changed:
            raise HandlerError(
                name,
                f"changed {changed[0]!r} of the scope, but the routes are found already: put it "
                "around the app, app = Middleware(app)",
            )

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> Exception | None:
        """Runs the handlers; returns and raises what `kit.serving.serve_rest` does."""
        from anyio import CancelScope

        from kit.serving import serve_rest  # it loads asyncio

        raised_by_send: Exception | None = None

        async def send_noted(message: Message) -> None:
            nonlocal raised_by_send
            self._has_answered = True
            try:
                await send(message)
            except Exception as error:
                raised_by_send = error
                raise

        try:
            with CancelScope() as self._cancel_scope:
                return await serve_rest(self._c, self._next, scope, receive, send_noted)
        except Exception as error:
            if isinstance(self.exchange, Exchange) and error is not raised_by_send:
                self.exchange.cut_off(error)
            raise
        return None

    async def stop(self) -> None:
        """Cancels the handlers if the middleware has answered before them, and waits for them.

        They share the context with those around the middleware, whose response they would replace.
        """
        if self._is_running and not self._has_answered:
            self._cancel_scope.cancel()
            while self._is_running:
                await self._changed.wait()

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
