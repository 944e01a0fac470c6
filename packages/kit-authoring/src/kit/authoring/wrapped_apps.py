# SPDX-License-Identifier: MIT
"""Finds the Kit app within ASGI middleware: `app = BrotliMiddleware(site)`.

For commands and test clients, which need the routes of the app but call what is around it.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterator
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any

__all__ = ("find_app", "is_app")

_MISSING = object()
_OF_APPS = ("routes", "fetch")
# What libraries call the application that a middleware wraps.
_NAMES = ("app", "_app", "asgi_app", "application", "_application", "inner", "wrapped", "func")
# ASGI middleware around ASGI middleware; more is something else.
_MOST_LAYERS = 32
_ASGI_ARGUMENTS = 3


def is_app(value: Any) -> bool:
    """Returns whether a value is a Kit app, without importing the core."""
    if isinstance(value, (type, ModuleType)):
        return False
    # Statically: a mock or proxy returns, or raises, anything when it is asked for an attribute.
    return all(inspect.getattr_static(value, name, _MISSING) is not _MISSING for name in _OF_APPS)


def find_app(value: Any) -> Any:
    """Returns a Kit app, or the one that ASGI middleware wraps.

    It is found in the attributes of an object, such as `app`, in the arguments of a `partial`, and
    in the variables that a function encloses. It may also be a global variable of a function that
    takes `(scope, receive, send)`.

    Args:
        value: A Kit app, ASGI middleware, or anything else.

    Returns:
        The app; None if there is none.
    """
    waiting = deque([value])
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_LAYERS:
        layer = waiting.popleft()
        if is_app(layer):
            return layer
        if callable(layer) and not isinstance(layer, type) and id(layer) not in seen:
            seen.add(id(layer))
            waiting.extend(_find_wrapped(layer))
    return None


def _find_wrapped(layer: Any) -> Iterator[Any]:
    """Yields what a layer may wrap."""
    yield from _find_in_attributes(layer)
    yield from _find_in_variables(layer)


def _find_in_attributes(layer: Any) -> Iterator[Any]:
    if isinstance(layer, MethodType):
        yield layer.__self__
    elif isinstance(layer, partial):
        yield from (*layer.args, *layer.keywords.values())
    attributes = getattr(layer, "__dict__", {})
    for name in (*_NAMES, "__wrapped__"):
        wrapped = attributes.get(name, _MISSING)
        if wrapped is _MISSING:
            wrapped = _read_slot(layer, name)
        if wrapped is not _MISSING:
            yield wrapped
    yield from (value for value in attributes.values() if is_app(value) or _takes_scope(value))


def _find_in_variables(layer: Any) -> Iterator[Any]:
    function = _find_function(layer)
    if function is None:
        return
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # it isn't assigned yet
            continue
    if _takes_scope(layer):
        for name in function.__code__.co_names:
            value = function.__globals__.get(name)
            if is_app(value) or _takes_scope(value):
                yield value


def _find_function(layer: Any) -> FunctionType | None:
    """Returns the function that a call of a layer runs, if it is written in Python."""
    if isinstance(layer, MethodType):
        layer = layer.__func__
    if not isinstance(layer, FunctionType):
        layer = inspect.getattr_static(type(layer), "__call__", None)
    return layer if isinstance(layer, FunctionType) else None


def _takes_scope(value: Any) -> bool:
    """Returns whether a call takes three arguments, `(scope, receive, send)`, and no others."""
    function = None if isinstance(value, type) else _find_function(value)
    if function is None:
        return False
    is_bound = function is not value
    return function.__code__.co_argcount - is_bound == _ASGI_ARGUMENTS


def _read_slot(layer: Any, name: str) -> Any:
    """Returns the value of a slot; other descriptors may run code."""
    slot = inspect.getattr_static(type(layer), name, _MISSING)
    if not (inspect.ismemberdescriptor(slot) or inspect.isgetsetdescriptor(slot)):
        return _MISSING
    try:
        return getattr(layer, name, _MISSING)
    except ValueError:  # a proxy that isn't initialized
        return _MISSING
