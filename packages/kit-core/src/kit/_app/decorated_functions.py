# SPDX-License-Identifier: MIT
"""Remembers the functions that decorators of apps have registered.

Another decorator above, such as `@in_thread`, can't change what the app calls any more.
"""

from __future__ import annotations

# PERF: `weakref` itself is not imported by anything else that a small app needs.
from _weakref import ref
from typing import Any

_calls: dict[int, tuple[Any, str]] = {}


def remember(function: Any, call: str) -> None:
    """Remembers a function for as long as it exists.

    Args:
        function: The function; callables that can't be referenced weakly are not remembered.
        call: The call that made the decorator, e.g. `get('/books')`.
    """
    key = id(function)
    try:
        reference = ref(function, lambda _: _calls.pop(key, None))
    except TypeError:
        return
    _calls[key] = (reference, call)


def call_that_registered(function: Any) -> str | None:
    """Returns the call that registered a function as a decorator, or None.

    Args:
        function: Any object.
    """
    reference, call = _calls.get(id(function), (None, None))
    return call if reference is not None and reference() is function else None
