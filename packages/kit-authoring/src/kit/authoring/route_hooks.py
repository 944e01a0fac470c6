# SPDX-License-Identifier: MIT
"""Calls the hooks of handlers, which `kit.interface.hooks` describes, as an app does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any

from kit.interface import Codecs, RouterRoute

__all__ = ("bind", "check", "check_env", "find_bound", "is_bindable")

_HOOK = "__kit_bind__"
_WEBSOCKET_HOOK = "__kit_bind_websocket__"
_CHECK = "__kit_check__"
_CHECK_ENV = "__kit_check_env__"
_CHECK_AFTER = "__kit_check_after__"
_PARTS = "__kit_parts__"


def is_bindable(handler: Any, *, websocket: bool = False) -> bool:
    """Returns whether a handler, or a function that it wraps, has to be bound."""
    hook = _WEBSOCKET_HOOK if websocket else _HOOK
    return any(hook in dir(type(each)) for each in _layers(handler))


def bind(
    handler: Any, method: str, pattern: str, codecs: Codecs, *, websocket: bool = False
) -> Any:
    """Returns the function to run instead of a registered handler.

    A function that wraps a bindable handler, e.g. with `functools.wraps`, is copied, so that the
    copy has the facts for this route. The function still runs the original handler.

    Args:
        handler: Any handler.
        method: Upper-case method, or `ALL`.
        pattern: The whole pattern.
        codecs: The encoders and decoders of the app.
        websocket: Whether to bind it as a WebSocket handler.

    Returns:
        The result of the hook; the handler itself if nothing in it has to be bound.

    Raises:
        TypeError: If it can't be registered there.
    """
    hook = _WEBSOCKET_HOOK if websocket else _HOOK
    layers = []
    for each in _layers(handler):
        if hook in dir(type(each)):
            bound = getattr(each, hook)(method, pattern, codecs)
            break
        layers.append(each)
    else:
        return handler
    for layer in reversed(layers):
        if not isinstance(layer, FunctionType):
            return handler
        bound = _around(layer, bound)
    return bound


def check(
    handler: Any,
    before: Sequence[RouterRoute],
    route: RouterRoute | None = None,
    after: Sequence[RouterRoute] | None = None,
) -> None:
    """Calls the checks of a bound handler, or of one that it wraps, whose exceptions it raises.

    Args:
        handler: The result of `bind`.
        before: The routes registered before it, in order.
        route: Its own route. Without it, nothing is checked that depends on the route.
        after: The routes registered after it, in order. Without it, nothing is checked that depends
            on them.
    """
    for hook in find_bound(handler, _CHECK):
        hook(before, route)
    if after is not None:
        for hook in find_bound(handler, _CHECK_AFTER):
            hook(after)


def check_env(handler: Any, env: Mapping[str, Any]) -> None:
    """Calls the check of the bindings of a bound handler, whose exception it raises.

    Args:
        handler: The result of `bind`.
        env: The bindings that every request will have.
    """
    for hook in find_bound(handler, _CHECK_ENV):
        hook(env)


def find_bound(handler: Any, name: str) -> Iterator[Any]:
    """Yields the values of an attribute of bound handlers.

    Args:
        handler: The result of `bind`. Functions that it wraps are searched, outermost first, and
            the parts of a middleware that consists of several; see `kit.interface.hooks`.
        name: The name of the attribute.
    """
    for each in _layers(handler):
        own = getattr(each, "__dict__", {})
        if name in own:
            yield own[name]
            return
        if _PARTS in own:
            for part in own[_PARTS]:
                yield from find_bound(part, name)
            return


def _layers(handler: Any) -> Iterator[Any]:
    seen: set[int] = set()
    while handler is not None and id(handler) not in seen:  # an object may wrap itself
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
