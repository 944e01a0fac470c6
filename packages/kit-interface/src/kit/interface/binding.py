# SPDX-License-Identifier: MIT
"""Handlers that are made for the place they are registered at.

A handler that carries `__kit_bind__(method, pattern)` isn't run itself: an app calls the hook for
each method and whole pattern that it is registered under, again when the pattern changes because
the app becomes part of another one, and runs what the hook returns. `kit.typed` reads parameters by
it, since the pattern tells which of them are in the path.

What the hook returns may carry `__kit_check__(before)`. An app calls that at startup, and at the
first request, with the routes registered before the handler's own; an exception that it raises
prevents the start. Its `__kit_origin__` is the function that errors name.

A handler of WebSockets carries `__kit_bind_websocket__(method, pattern)`, which the function that
accepts connections, such as `upgrade_websocket`, calls in its own `__kit_bind__`. What that hook
returns is called with the context of the handshake and returns, or is awaited for, a function of
the connection, which is called once the connection is accepted. A handler that is called with a
connection only raises in `__kit_bind__`, since nothing above it accepts one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FunctionType
from typing import Any, Protocol

from ._router import RouterRoute

__all__ = ("Bindable", "BindableWebSocket", "bind", "check", "is_bindable")

_HOOK = "__kit_bind__"
_WEBSOCKET_HOOK = "__kit_bind_websocket__"
_CHECK = "__kit_check__"


class Bindable(Protocol):
    """A handler that is made for the place it is registered at."""

    def __kit_bind__(self, method: str, pattern: str, /) -> Callable[..., Any]:
        """Returns the handler for a place.

        Args:
            method: Upper-case method, or `ALL`.
            pattern: The whole pattern, prefixes of apps included. An optional parameter is written
                as such, also where the app registers several patterns in its place.

        Raises:
            TypeError: If it can't be registered there.
        """


class BindableWebSocket(Protocol):
    """A handler of WebSockets that is made for the place it is registered at."""

    def __kit_bind_websocket__(self, method: str, pattern: str, /) -> Callable[..., Any]:
        """Returns what makes, of the context of a handshake, a function of the connection.

        Args:
            method: Upper-case method, or `ALL`.
            pattern: The whole pattern; see `Bindable`.

        Raises:
            TypeError: If it can't be registered there.
        """


def is_bindable(handler: Any, *, websocket: bool = False) -> bool:
    """Returns whether a handler, or a function that it wraps, has to be bound.

    Args:
        handler: Any handler.
        websocket: Whether it has to be bound as a handler of WebSockets.
    """
    hook = _WEBSOCKET_HOOK if websocket else _HOOK
    return any(hook in dir(type(each)) for each in _layers(handler))


def bind(handler: Any, method: str, pattern: str, *, websocket: bool = False) -> Any:
    """Returns what runs in place of a handler that is registered somewhere.

    A function that wraps a bindable handler, as `functools.wraps` makes one, is copied, so that
    the facts of the copy are those of this place. The function runs the handler as it is.

    Args:
        handler: Any handler.
        method: Upper-case method, or `ALL`.
        pattern: The whole pattern.
        websocket: Whether it is bound as a handler of WebSockets.

    Returns:
        What the hook returned; the handler itself if nothing in it has to be bound.

    Raises:
        TypeError: If it can't be registered there.
    """
    hook = _WEBSOCKET_HOOK if websocket else _HOOK
    layers = []
    for each in _layers(handler):
        if hook in dir(type(each)):
            bound = getattr(each, hook)(method, pattern)
            break
        layers.append(each)
    else:
        return handler
    for layer in reversed(layers):
        if not isinstance(layer, FunctionType):
            return handler
        bound = _around(layer, bound)
    return bound


def check(handler: Any, before: Sequence[RouterRoute]) -> None:
    """Calls the check of a bound handler, or of one that it wraps.

    Args:
        handler: What `bind` returned.
        before: The routes that are registered before it, in order.

    Raises:
        Exception: What the check raises.
    """
    for each in _layers(handler):
        hook = getattr(each, "__dict__", {}).get(_CHECK)
        if hook is not None:
            hook(before)
            return


def _layers(handler: Any) -> Iterator[Any]:
    seen: set[int] = set()
    while handler is not None and id(handler) not in seen:  # something may wrap itself
        seen.add(id(handler))
        yield handler
        if isinstance(handler, partial):
            handler = handler.func
        else:
            handler = getattr(handler, "__dict__", {}).get("__wrapped__")


def _around(wrapper: FunctionType, bound: Any) -> FunctionType:
    copy = FunctionType(
        wrapper.__code__,
        wrapper.__globals__,
        wrapper.__name__,
        wrapper.__defaults__,
        wrapper.__closure__,
    )
    copy.__kwdefaults__ = wrapper.__kwdefaults__
    copy.__qualname__ = wrapper.__qualname__
    copy.__module__ = wrapper.__module__
    copy.__doc__ = wrapper.__doc__
    copy.__dict__.update(wrapper.__dict__)
    copy.__wrapped__ = bound  # type: ignore[attr-defined]  # as functools.wraps does
    return copy
