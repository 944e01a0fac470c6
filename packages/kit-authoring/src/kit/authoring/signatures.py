# SPDX-License-Identifier: MIT
"""Determines how functions are called, and describes them in errors.

`inspect`, which takes longer to import than all of Kit, is imported only for unusual callables.
"""

from __future__ import annotations

import builtins
from functools import partial
from types import CodeType, FunctionType, MethodType, NoneType, UnionType
from typing import Any

__all__ = (
    "accepts",
    "behind_wrappers",
    "code_of",
    "copy_names",
    "describe",
    "describe_signature",
    "hint_for_factory",
    "is_async",
    "is_generator",
    "takes_next",
)

_CO_VARARGS = 0x04  # inspect.CO_VARARGS
_CO_COROUTINE = 0x80  # inspect.CO_COROUTINE
_CO_GENERATORS = 0x20 | 0x200  # inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_TYPES_OF_MIDDLEWARE = ("AsyncMiddleware", "Middleware")
_OF_CONNECTIONS = ("ws", "websocket")
# Where the defaults come from that other frameworks and @typed take as instructions.
_OF_MARKERS = ("fastapi.params", "kit.typed", "litestar.params")
_FOR_TYPED = "; to read parameters by their annotations, put @typed of kit.typed above it"


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
            f"not {_without_address(handler)}"
        )
    shown = behind_wrappers(handler)
    if hasattr(type(shown), "__kit_bind__"):  # see kit.authoring.route_hooks
        return False
    hint = hint_for_factory(handler)
    if hint:
        raise TypeError(
            f"The handler of {route} is neither a handler (c) nor middleware (c, next): "
            f"its signature is {describe_signature(handler)}{hint}"
        )
    if accepts(shown, 2):
        is_middleware = not accepts(shown, 1) or _means_next(shown)
    elif accepts(shown, 1):
        is_middleware = False
    else:
        hint = _hint_for(shown)
        if hasattr(shown, "base_path") and hasattr(shown, "fetch"):
            raise TypeError(
                f"The handler of {route} is a Kit app: "
                "write app.route(path, other) to add the routes of another app"
            )
        raise TypeError(
            f"The handler of {route} can't be called with (c) or (c, next): "
            f"its signature is {describe_signature(handler)}{hint}"
        )
    if type(shown) is FunctionType:
        _check_parameters(shown, route, is_middleware)
    elif isinstance(shown, type) and _makes_no_response(shown):
        raise TypeError(
            f"The handler of {route} is the class {shown.__qualname__}: expected a function "
            "(c) or (c, next), or an instance that can be called with these"
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


def code_of(function: Any) -> CodeType | None:
    """Returns the Python code of a function; None if it has none, or is a mock of a function."""
    code = getattr(function, "__code__", None)
    return code if type(code) is CodeType else None


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


def hint_for_factory(function: Any) -> str:
    """Returns what to write if a function is annotated to return middleware.

    Such a function was most likely given without being called, `app.use(logger)`. Its parameters
    may well fit those of a handler.

    Args:
        function: A handler or middleware.

    Returns:
        A hint for the end of an error, e.g. `; it makes middleware when it is called: write
        logger()`; empty if the function has no such annotation, is async, or wraps another one,
        whose annotations it then has.
    """
    if type(function) not in (FunctionType, MethodType) or hasattr(function, "__wrapped__"):
        return ""
    if function.__code__.co_flags & _CO_COROUTINE:
        return ""
    try:
        annotation = function.__annotations__.get("return")
    except NameError:  # as in _check_parameters()
        return ""
    return _call_of(function) if _is_middleware_type(annotation, function) else ""


def _call_of(factory: Any) -> str:
    arguments = "" if accepts(factory, 0) else "..."
    return f"; it makes middleware when it is called: write {factory.__name__}({arguments})"


def _is_middleware_type(annotation: Any, function: Any) -> bool:
    """Whether an annotation is a type of middleware, or one of its alternatives is."""
    if annotation is None:  # PERF: most functions
        return False
    if isinstance(annotation, str):
        # By their names: they may be imported for type checkers only.
        for each in annotation.split("|"):
            name = each.partition("[")[0].strip().rpartition(".")[2]
            if name in _TYPES_OF_MIDDLEWARE:
                return True
        annotation = _resolved(annotation, function)
    if isinstance(annotation, type):
        code = getattr(annotation.__call__, "__code__", None)  # None for that of `type`
        return code is not None and code.co_varnames[: code.co_argcount][2:] == ("next",)
    origin = repr(getattr(annotation, "__origin__", None))
    arguments = getattr(annotation, "__args__", ())
    if origin == "<class 'collections.abc.Callable'>":
        return len(arguments) == 3  # the context, next and the result
    if type(annotation) is UnionType or origin == "typing.Union":
        return any(_is_middleware_type(each, function) for each in arguments)
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
    code = code_of(handler)
    if code is None:
        module = getattr(handler, "__module__", None)
        return f"{module if isinstance(module, str) else '?'}.{name}"
    return f"{name} ({code.co_filename}:{code.co_firstlineno})"


def _makes_no_response(kind: type) -> bool:
    """Whether calling a class gives an instance that can't be awaited."""
    return vars(object)["__new__"] is kind.__new__ and not hasattr(kind, "__await__")


def _without_address(handler: Any) -> str:
    if hasattr(handler, "__await__"):
        name = getattr(handler, "__name__", "handler")
        close = getattr(handler, "close", None)
        if close is not None:
            close()  # else Python warns that it was never awaited
        return f"the result of {name}(...): write {name}"
    if getattr(type(handler), "__repr__", None) is object.__repr__:
        return f"an object of the class {type(handler).__name__}"
    return f"{handler!r:.100}"


def _hint_for(function: Any) -> str:
    """Returns what to write for a function that takes neither `(c)` nor `(c, next)`."""
    name = getattr(function, "__name__", "handler")
    if isinstance(function, type):
        return f"; it is a class: give a function, or a method of an object, {name}().get"
    if accepts(function, 0):
        if getattr(getattr(function, "__code__", None), "co_kwonlyargcount", 0):
            return _call_of(function)
        write = "lambda c: ..." if name == "<lambda>" else f"{name}(c)"
        return f"; a handler takes the context: write {write}"
    annotated = {*getattr(function, "__annotations__", ())} - {"return"}
    return _FOR_TYPED if annotated else ""


def _check_parameters(function: FunctionType, route: str, is_middleware: bool) -> None:
    """Rejects parameters that are clearly not the context and `next`."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    try:
        annotations = function.__annotations__
    except NameError:  # annotations that are evaluated later may not be defined yet
        annotations = {}
    for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        if type(default).__module__.startswith(_OF_MARKERS):
            marker = type(default).__name__.replace("Dependency", "Depends")
            raise TypeError(
                f"The handler of {route} has a default made by {marker}(), which only @typed of "
                f"kit.typed reads: put @typed above {function.__qualname__}, and annotate the "
                f"parameter with Annotated[..., {marker}(...)] of kit.typed"
            )
    if names and _is_no_context(annotations.get(names[0]), function):
        raise TypeError(
            f"The handler of {route} is called with the context, but the first parameter of "
            f"{describe_signature(function)} isn't a Context: write c: Context, and read a "
            f"parameter with c.req.param({names[0]!r}) or c.req.query({names[0]!r}){_FOR_TYPED}"
        )
    if is_middleware and len(names) > 1 and names[1] in _OF_CONNECTIONS:
        raise TypeError(
            f"The handler of {route} is called with (c, next), but the second parameter of "
            f"{describe_signature(function)} is a WebSocket: put @upgrade_websocket of "
            "kit.websocket between the route and the function"
        )
    if is_middleware and len(names) > 1:
        name, annotation = names[1], annotations.get(names[1])
        if _is_no_function(annotation, function) or (
            annotation is None and not _may_be_next(name, function)
        ):
            raise TypeError(
                f"The handler of {route} is called with (c, next), but the second parameter of "
                f"{describe_signature(function)} isn't Next: write next: Next in middleware; a "
                f"handler takes only c, and reads a parameter with c.req.param({name!r}) or "
                f"c.req.query({name!r}){_FOR_TYPED}"
            )


def _may_be_next(name: str, function: FunctionType) -> bool:
    # A lambda can't declare request parameters, so the names of its arguments don't matter.
    is_lambda = function.__name__ == "<lambda>"
    return is_lambda or "next" in name or name.startswith("_") or name in ("n", "nxt")


def _is_no_context(annotation: Any, function: FunctionType) -> bool:
    return _is_refused(annotation, function, "req")


def _is_no_function(annotation: Any, function: FunctionType) -> bool:
    return _is_refused(annotation, function, "__call__")


def _is_refused(annotation: Any, function: FunctionType, needed: str) -> bool:
    """Whether an annotation is a class without an attribute, or consists only of such classes.

    Unclear annotations, such as a type variable or a name that is defined later, aren't rejected.
    """
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
    return not any(needed in vars(each) or needed in _annotated(each) for each in kind.__mro__)


def _annotated(kind: type) -> Any:
    try:
        return vars(kind).get("__annotations__", ())
    except NameError:
        return ()


def _resolved(text: str, function: FunctionType) -> Any:
    """The type of an annotation, if its names are already defined.

    Only looks up plain names and their parameters; doesn't evaluate anything.
    """
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
    code = code_of(function)
    while code is not None and code.co_flags & _CO_VARARGS and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
        code = code_of(function)
    return function


def _signature(function: Any) -> Any:
    import inspect

    if isinstance(function, FunctionType) and type(function) is not FunctionType:
        # A mock that pretends to be a function; inspect reads its attributes, which are mocks.
        return inspect.signature(type(function).__call__.__get__(function), follow_wrapped=False)
    return inspect.signature(function, follow_wrapped=False)
