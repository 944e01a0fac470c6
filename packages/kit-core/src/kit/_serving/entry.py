# SPDX-License-Identifier: MIT
"""The `__call__` of an app, which servers call."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cache
from typing import TYPE_CHECKING, Any

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

    PERF: `__call__` is an attribute of each object instead of a method, which would be one more
    coroutine for each request.
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


@cache
def rsgi_server() -> Callable[[AppState, Any, Any], Coroutine[Any, Any, None]]:
    """Imports `serve_rsgi` with the first request of an RSGI server."""
    from .rsgi.entry import serve_rsgi

    return serve_rsgi
