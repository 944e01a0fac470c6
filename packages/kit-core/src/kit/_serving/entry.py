# SPDX-License-Identifier: MIT
"""The `__call__` of an app, which servers call."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cache, partial
from types import MethodType
from typing import TYPE_CHECKING, Any

from .http import serve

if TYPE_CHECKING:
    from kit._state.app_state import AppState


class _SignatureOfCall:
    """The signature of an object for `inspect`, which would look for a method `__call__`."""

    def __get__(self, instance: Any, owner: object = None) -> Any:
        if instance is None:
            raise AttributeError("__signature__")  # a class has that of its constructor
        import inspect

        return inspect.signature(instance.__call__)


class Served:
    """An object that servers call.

    PERF: `__call__` is an attribute of each object instead of a method. So it can be replaced after
    the first request, and its checks for mistakes cost later requests nothing.
    """

    __signature__ = _SignatureOfCall()

    if TYPE_CHECKING:
        # Any: servers and frameworks have different types for ASGI.
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            """Serves one ASGI 3 scope: http, websocket or lifespan."""

    else:
        __slots__ = ("__call__",)  # pyright wouldn't bind a method with this name

    def _enter_by(self, call: Callable[..., Coroutine[Any, Any, None]]) -> None:
        """Sets the function that servers call, even if a subclass has its own `__call__`."""
        vars(Served)["__call__"].__set__(self, call)


class Opening(partial[Coroutine[Any, Any, None]]):
    """The `__call__` of an app until the app has matched a request.

    A call with a single function means that the app was used as a decorator by mistake. Any other
    call is served.

    It is a partial of the function that serves, since `inspect` looks through partials: servers ask
    it whether an app is a coroutine function.

    Args:
        state: The state of the app.
        refuse: Called with the function that the app was to decorate; raises.
        end: Called with the function that serves once the app has matched a request.
    """

    _state: AppState
    _refuse: Callable[[Any], object]
    _end: Callable[[Callable[..., Coroutine[Any, Any, None]]], object]

    def __new__(
        cls,
        state: AppState,
        refuse: Callable[[Any], object],
        end: Callable[[Callable[..., Coroutine[Any, Any, None]]], object],
    ) -> Opening:
        self = super().__new__(cls, MethodType(serve, state))
        self._state = state
        self._refuse = refuse
        self._end = end
        return self

    def __call__(self, /, *arguments: Any, **keywords: Any) -> Coroutine[Any, Any, None]:
        """Serves a scope; the arguments are those of ASGI.

        Raises:
            TypeError: If the only argument is a function.
        """
        if len(arguments) == 1 and not keywords and callable(arguments[0]):
            self._refuse(arguments[0])
        if self._state.table.closed:
            self._end(self.func)
        return self.func(*arguments, **keywords)


@cache
def rsgi_server() -> Callable[[AppState, Any, Any], Coroutine[Any, Any, None]]:
    """Imports `serve_rsgi` with the first request of an RSGI server."""
    from .rsgi.entry import serve_rsgi

    return serve_rsgi
