# SPDX-License-Identifier: MIT
"""What a reader of the code would call a handler, and where it stands."""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Iterator
from functools import partial
from types import CodeType, FunctionType
from typing import Any, NamedTuple

_LOCALS = ".<locals>."


class Place(NamedTuple):
    """Where a handler is defined: a file and a line, from 1."""

    file: str
    line: int


def describe_handler(handler: Any) -> str | None:
    """Names a handler as a reader of the code would.

    A function has its name, a method that of its class in front. What a factory made is named
    after the factory, a partial after its function, a wrapper after what it wraps, and an object
    after its class, unless they were given a `__name__` of their own.

    Args:
        handler: A function or any other callable.

    Returns:
        The name; None for a lambda.
    """
    *_, innermost = layers(handler)
    function = getattr(innermost, "__func__", innermost)  # a bound method
    name = getattr(function, "__name__", None)
    if not isinstance(name, str) or not name:
        return type(innermost).__name__
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        qualified = getattr(function, "__qualname__", None)
        ends_so = isinstance(qualified, str) and qualified.endswith(name)
        return _behind_locals(qualified) if ends_so else name
    if name != code.co_name:  # it was given another one
        return name
    return None if name == "<lambda>" else _factory_or_own(function)


def find_place(handler: Any) -> Place | None:
    """Where the code of a handler is; None if it has none in Python."""
    *_, innermost = layers(handler)
    code = find_code(innermost)
    return None if code is None else Place(code.co_filename, code.co_firstlineno)


def find_code(function: Any) -> CodeType | None:
    """The code that runs when something is called, if it is written in Python."""
    if isinstance(function, type):
        function = vars(function).get("__init__")
    for each in (function, inspect.getattr_static(type(function), "__call__", None)):
        code = getattr(each, "__code__", None)
        if isinstance(code, CodeType):
            return code
    return None


def layers(handler: Any) -> Iterator[Any]:
    """The handler, and what it stands for in turn: the function of a partial, what it wraps.

    A wrapper that was given a name of its own, which neither its code nor what it wraps has,
    stands for itself.
    """
    seen: set[int] = set()
    while id(handler) not in seen:  # something may wrap itself
        seen.add(id(handler))
        yield handler
        if isinstance(handler, partial):
            handler = handler.func
            continue
        wrapped = _wrapped(handler)
        if wrapped is None or _is_renamed(handler, wrapped):
            return
        handler = wrapped


def _wrapped(handler: Any) -> Any:
    # Statically: a mock has an attribute of any name.
    wrapped = inspect.getattr_static(handler, "__wrapped__", None)
    return wrapped if callable(wrapped) else None


def _is_renamed(handler: Any, wrapped: Any) -> bool:
    name = getattr(handler, "__name__", None)
    code = find_code(handler)
    own = (None, "__call__" if code is None else code.co_name, type(handler).__name__)
    return name not in own and name != getattr(wrapped, "__name__", type(wrapped).__name__)


def _behind_locals(qualified: Any) -> str:
    return str(qualified).rpartition(_LOCALS)[2]


def _factory_or_own(function: Any) -> str:
    """The name of a function, or of the outermost factory that returns it."""
    own = str(getattr(function, "__qualname__", function.__name__))
    around, _, inner = own.rpartition(_LOCALS)
    if not around:
        return own
    codes = {code.co_qualname: code for code in _codes_within(function, own.partition(".<")[0])}
    shown = inner
    while around in codes and "." not in inner and _returns(codes[around], inner):
        around, _, inner = around.rpartition(_LOCALS)
        shown = inner
        if not around:
            break
    return shown


def _codes_within(function: Any, top: str) -> Iterator[CodeType]:
    """The code of the function or method that a closure was made in, and all that is in it."""
    place: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in top.split("."):
        place = inspect.getattr_static(place, part, None)
    place = inspect.unwrap(getattr(place, "__func__", place))
    waiting = [place.__code__] if isinstance(place, FunctionType) else []
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _returns(factory: CodeType, name: str) -> bool:
    """Whether a function returns a function of this name that is made in it."""
    loaded: object = None
    for instruction in dis.get_instructions(factory):
        if instruction.opname == "RETURN_VALUE" and loaded == name:
            return True
        loaded = instruction.argval if instruction.opname.startswith("LOAD_") else None
    return False
