# SPDX-License-Identifier: MIT
"""The `__call__` of an app, by which servers enter it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from types import MethodType
from typing import Any, TypeAlias

from kit._state.app_state import AppState

from .http import serve
from .types import Receive, Scope, Send

Serve: TypeAlias = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]


class _SignatureOfCall:
    """The signature of an object as `inspect` asks for it; it would look for a method."""

    def __get__(self, instance: Any, owner: object = None) -> Any:
        if instance is None:
            raise AttributeError("__signature__")  # the class has that of its constructor
        import inspect

        return inspect.signature(instance.__call__)


class Served:
    """An object that servers call.

    PERF: `__call__` is an attribute of each object in place of a method. So it can be replaced: the
    check for mistakes in it costs the requests after the first one nothing.
    """

    __slots__ = ("__call__",)

    __call__: Serve
    __signature__ = _SignatureOfCall()


class Opening(partial[Coroutine[Any, Any, None]]):
    """The `__call__` of an app until the app has matched a request.

    An app that is called with one function was taken for a decorator. Any other call is served.

    It is a partial of the function that serves, since `inspect` looks through partials: servers ask
    it whether an app is a coroutine function.

    Args:
        app: The app.
        state: The state of the app.
        refuse: Called with the function that the app was to decorate; raises.
    """

    _app: Served
    _state: AppState
    _refuse: Callable[[Any], object]

    def __new__(cls, app: Served, state: AppState, refuse: Callable[[Any], object]) -> Opening:
        self = super().__new__(cls, MethodType(serve, state))
        self._app = app
        self._state = state
        self._refuse = refuse
        return self

    def __call__(self, /, *arguments: Any, **keywords: Any) -> Coroutine[Any, Any, None]:
        """Serves a scope; the arguments are those of ASGI.

        Raises:
            TypeError: If the only argument is a function.
        """
        if len(arguments) == 1 and not keywords and callable(arguments[0]):
            self._refuse(arguments[0])
        if self._state.table.closed:
            self._app.__call__ = self.func
        return self.func(*arguments, **keywords)
