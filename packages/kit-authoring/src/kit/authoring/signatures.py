# SPDX-License-Identifier: MIT
"""Determines how functions are called, and describes them in errors.

`inspect`, which takes longer to import than all of Kit, is imported only for unusual callables.
"""

from __future__ import annotations

import builtins
from functools import partial
from types import CodeType, FunctionType, MethodType, NoneType, UnionType
from typing import Any, get_origin

__all__ = (
    "accepts",
    "behind_wrappers",
    "copy_names",
    "describe",
    "describe_signature",
    "find_code",
    "is_async",
    "is_factory",
    "is_generator",
    "parameter_names",
    "takes_next",
)

_CO_VARARGS = 0x04  # inspect.CO_VARARGS
_CO_COROUTINE = 0x80  # inspect.CO_COROUTINE
_CO_GENERATORS = 0x20 | 0x200  # inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_TYPES_OF_MIDDLEWARE = ("AsyncMiddleware", "Middleware")
# What handlers of WebSockets call their second parameter.
_OF_CONNECTIONS = ("ws", "websocket")
# Where the defaults come from that other frameworks and @typed take as instructions.
_OF_MARKERS = ("fastapi.params", "kit.typed", "litestar.params")


def takes_next(handler: Any, route: str) -> bool:
    """Returns whether a handler is middleware: whether it is called with `(c, next)` or `(c)`.

    An optional second parameter counts as `next` if it has that name. For a wrapper that passes on
    `*args`, the signature of the wrapped function counts.

    Args:
        handler: The function or another callable.
        route: Method and pattern of its route, for the error, e.g. `GET '/users/:id'`.

    Returns:
        True for middleware, False for other handlers.

    Raises:
        TypeError: If it isn't callable, or accepts neither, judging by its parameters or their
            annotations; the message has the route.
    """
    if not callable(handler):
        raise TypeError(
            f"The handler of {route} is not callable: expected a function (c) or (c, next), "
            f"not {handler!r:.100}"
        )
    if get_origin(handler) is not None:
        raise TypeError(
            f"The handler of {route} is the type {handler!r:.100}, not a function (c) or (c, next)"
        )
    shown = behind_wrappers(handler)
    if hasattr(type(shown), "__kit_bind__"):  # see kit.interface.hooks
        return bool(getattr(type(shown), "__kit_takes_next__", False))
    takes_one, takes_two = accepts(shown, 1), accepts(shown, 2)
    is_middleware = takes_two and (not takes_one or _means_next(shown))
    if (
        not (takes_one or takes_two)
        or is_factory(handler)
        or (type(shown) is FunctionType and _has_other_parameters(shown, is_middleware))
        or (isinstance(shown, type) and _makes_no_response(shown))
    ):
        raise TypeError(
            f"The handler of {route} is neither a handler (c) nor middleware (c, next): "
            f"its signature is {describe_signature(handler)}"
        )
    return is_middleware


def accepts(function: Any, count: int) -> bool:
    """Returns whether a function can be called with a number of positional arguments.

    Args:
        function: The function or another callable. C code without a signature is assumed to accept
            one argument.
        count: The number of arguments.

    Returns:
        Whether such a call matches the signature; False for objects that aren't callable.
    """
    # Plain functions, the usual case, are inspected directly, without importing inspect.
    if type(function) is FunctionType and not function.__kwdefaults__:
        code = function.__code__
        if not code.co_flags & _CO_VARARGS and not code.co_kwonlyargcount:
            most = code.co_argcount
            return most - len(function.__defaults__ or ()) <= count <= most
    try:
        _signature(function).bind(*(None,) * count)
    except TypeError:
        return False
    except ValueError:  # a callable of C code without a signature
        return count == 1
    return True


def find_code(function: Any) -> CodeType | None:
    """Returns the Python code of a function; None if it has none, or is a mock of a function."""
    code = getattr(function, "__code__", None)
    return code if type(code) is CodeType else None


def parameter_names(function: Any) -> tuple[str, ...]:
    """Returns the names of the positional parameters of a Python function.

    Args:
        function: The function or method.

    Returns:
        The names, without that of a method's object; empty for callables without Python code.
    """
    code = find_code(function)
    names = () if code is None else code.co_varnames[: code.co_argcount]
    return names[1:] if type(function) is MethodType else names


def copy_names(wrapper: Any, function: Any) -> None:
    """Copies the name, module and docstring of a function to one that stands for it.

    Args:
        wrapper: The function that stands for the other one.
        function: Any callable. A mock has mocks as names, which are left out.
    """
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        value = getattr(function, name, None)
        if isinstance(value, str):
            setattr(wrapper, name, value)


def is_async(function: Any) -> bool:
    """Returns whether a call of a function is known to return a coroutine.

    Args:
        function: The function or another callable: a partial, a method, an object whose `__call__`
            is async, an `AsyncMock`.

    Returns:
        False for a plain function. It may still return an awaitable, as decorators do that call an
        async function: see `kit.authoring.maybe_await.is_awaitable` for the result.
    """
    return _flags(function) & _CO_COROUTINE != 0


def is_generator(function: Any) -> bool:
    """Returns whether a call of a function is known to return a generator, plain or async.

    Args:
        function: The function or another callable, as for `is_async`.
    """
    return _flags(function) & _CO_GENERATORS != 0


def _flags(function: Any) -> int:
    """Returns the flags of the code that a call runs; 0 if it has no code."""
    while isinstance(function, partial):
        function = function.func
    if isinstance(function, type):
        return 0
    if not isinstance(function, (FunctionType, MethodType)) and not hasattr(function, "__code__"):
        function = type(function).__call__
    # The code of an AsyncMock only has flags, and other mocks of functions have mocks of code.
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    return flags if isinstance(flags, int) else 0


def is_factory(function: Any) -> bool:
    """Returns whether a function is annotated to return middleware.

    Such a function was most likely given without being called, `app.use(logger)`.

    Args:
        function: A handler or middleware. One that is async, or wraps another one, is no factory.
    """
    if type(function) not in (FunctionType, MethodType) or hasattr(function, "__wrapped__"):
        return False
    annotation = _annotations(function).get("return")
    if annotation is None or is_async(function):  # PERF: most functions
        return False
    return _is_middleware(annotation, function)


def _is_middleware(annotation: Any, function: Any) -> bool:
    """Whether an annotation is a type of middleware, or one of its alternatives is."""
    if isinstance(annotation, str):
        # By their names: they may be imported for type checkers only.
        for each in annotation.split("|"):
            name = each.partition("[")[0].strip().rpartition(".")[2]
            if name in _TYPES_OF_MIDDLEWARE:
                return True
        annotation = _resolved(annotation, function)
    if isinstance(annotation, type):
        return parameter_names(annotation.__call__)[2:] == ("next",)
    origin = repr(getattr(annotation, "__origin__", None))
    arguments = getattr(annotation, "__args__", ())
    if origin == "<class 'collections.abc.Callable'>":
        return len(arguments) == 3  # the context, next and the result
    if type(annotation) is UnionType or origin == "typing.Union":
        return any(_is_middleware(each, function) for each in arguments)
    return False


def describe_signature(function: Any) -> str:
    """Returns the qualified name and parameters of a function, for an error.

    Args:
        function: The function or another callable.

    Returns:
        E.g. `Api.read(self, id)`; `(...)` for the parameters of C code without a signature. The
        values that a `functools.partial` has aren't shown, as they may be secret.
    """
    try:
        signature = _signature(function)
    except ValueError:
        parameters = "(...)"
    else:
        bound = getattr(function, "keywords", {}) if isinstance(function, partial) else {}
        parameters = str(
            signature.replace(
                parameters=[
                    each.replace(default=_Bound()) if name in bound else each
                    for name, each in signature.parameters.items()
                ]
            )
        )
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__qualname__", None)
    return f"{name if isinstance(name, str) else function}{parameters}"


class _Bound:
    """A value that isn't shown."""

    def __repr__(self) -> str:
        return "..."


def describe(handler: object) -> str:
    """Describes a handler for an error or a log: its qualified name, file and line.

    Args:
        handler: A function or any other object; a `functools.partial` has the name of its function.

    Returns:
        E.g. `read_book (/srv/app.py:12)`; `module.name` for objects without Python code.
    """
    while isinstance(handler, partial):
        handler = handler.func
    # An object built from a function, see kit.authoring.route_hooks, has the function's name.
    while hasattr(type(handler), "__kit_bind__") and hasattr(handler, "__wrapped__"):
        handler = handler.__wrapped__
    handler = getattr(handler, "__dict__", {}).get("__kit_origin__", handler)
    name = getattr(handler, "__qualname__", None)
    if not isinstance(name, str):  # that of a mock is a mock
        name = type(handler).__qualname__
    code = find_code(handler)
    if code is None:
        module = getattr(handler, "__module__", None)
        return f"{module if isinstance(module, str) else '?'}.{name}"
    return f"{name} ({code.co_filename}:{code.co_firstlineno})"


def _makes_no_response(kind: type) -> bool:
    """Whether calling a class gives an instance that can't be awaited."""
    return vars(object)["__new__"] is kind.__new__ and not hasattr(kind, "__await__")


def _has_other_parameters(function: FunctionType, is_middleware: bool) -> bool:
    """Whether the parameters are clearly not the context and `next`."""
    if any(
        type(default).__module__.startswith(_OF_MARKERS)
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    ):
        return True
    names = parameter_names(function)
    annotations = _annotations(function)
    if names and _is_refused(annotations.get(names[0]), function, "req"):
        return True
    if not is_middleware or len(names) < 2:
        return False
    annotation = annotations.get(names[1])
    if names[1] in _OF_CONNECTIONS:
        return True
    if annotation is None:
        return not _may_be_next(names[1], function)
    return _is_refused(annotation, function, "__call__")


def _may_be_next(name: str, function: FunctionType) -> bool:
    # A lambda can't declare request parameters, so the names of its arguments don't matter.
    is_lambda = function.__name__ == "<lambda>"
    return is_lambda or "next" in name or name.startswith("_") or name in ("n", "nxt")


def _is_refused(annotation: Any, function: FunctionType, needed: str) -> bool:
    """Whether an annotation consists only of classes without an attribute; False if unclear."""
    if isinstance(annotation, str):
        annotation = _resolved(annotation, function)
    origin = getattr(annotation, "__origin__", None)
    if hasattr(annotation, "__metadata__"):  # Annotated[origin, ...]
        return _is_refused(origin, function, needed)
    choices = getattr(annotation, "__args__", ())
    if type(annotation) is UnionType or repr(origin) == "typing.Union":
        return all(each is NoneType or _is_refused(each, function, needed) for each in choices)
    kind = annotation if isinstance(annotation, type) else origin
    if not isinstance(kind, type) or kind is object or kind is Any:
        return repr(origin) == "typing.Literal"
    return not any(needed in vars(each) or needed in _annotations(each) for each in kind.__mro__)


def _annotations(function: Any) -> Any:
    try:
        return getattr(function, "__annotations__", None) or {}
    except NameError:  # annotations that are evaluated later may not be defined yet
        return {}


def _resolved(text: str, function: FunctionType) -> Any:
    """The type of an annotation whose names are defined; evaluates nothing."""
    name, _, _ = text.partition("[")
    if name in ("Annotated", "typing.Annotated"):
        text = text.partition("[")[2].partition(",")[0]
        name, _, _ = text.partition("[")
    first, *rest = name.strip().split(".")
    value = function.__globals__.get(first, getattr(builtins, first, None))
    for each in rest:
        value = getattr(value, each, None)
    return value if isinstance(value, type) else None


def _means_next(handler: Any) -> bool:
    """Whether an optional second argument is `next`: it has that name, or is in `*args`."""
    positional = [
        p
        for p in _signature(handler).parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    return len(positional) < 2 or positional[1].name == "next"


def behind_wrappers(function: Any) -> Any:
    """Returns the function to which a decorator passes its `*args`.

    Args:
        function: The function, decorated or not, or another callable.

    Returns:
        The innermost function; a wrapper with its own parameters, which may differ from those of
        the wrapped function, is returned itself.
    """
    code = find_code(function)
    while code is not None and code.co_flags & _CO_VARARGS and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
        code = find_code(function)
    return function


def _signature(function: Any) -> Any:
    import inspect

    if isinstance(function, FunctionType) and type(function) is not FunctionType:
        # A mock that pretends to be a function; inspect reads its attributes, which are mocks.
        return inspect.signature(type(function).__call__.__get__(function), follow_wrapped=False)
    return inspect.signature(function, follow_wrapped=False)
