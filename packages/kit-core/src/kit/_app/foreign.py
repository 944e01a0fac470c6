# SPDX-License-Identifier: MIT
"""Refuses what users of other frameworks would write to make an app, and says what Kit has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import FunctionType, MethodType
from typing import Any, NoReturn, ParamSpec, TypeVar

from kit.authoring.signatures import describe_signature

_NAMES_OF_CONTEXTS = ("c", "context", "ctx", "req", "request")
_NAMES_OF_ERRORS = ("e", "err", "error", "ex", "exc", "exception")

P = ParamSpec("P")
R = TypeVar("R")


def no_attribute(app: object, name: str) -> NoReturn:
    """Refuses an attribute that apps don't have.

    Raises:
        AttributeError: Always; it says what to write if other frameworks have the name.
    """
    from .foreign_tables import ATTRIBUTES

    advice = ATTRIBUTES.get(name)
    if advice is None:
        kind = type(app).__name__
        raise AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=app)
    # Without `obj`, Python would append its own suggestion, which may be a private name.
    text = f"A Kit app has no attribute {name!r}: {advice}"
    raise AttributeError(text, name=name, obj=None)


def refuse_keywords(call: str, keywords: Mapping[str, Any], known: str) -> None:
    """Refuses keywords that a registering method doesn't have.

    Args:
        call: The call, e.g. `get('/books')`.
        keywords: The keywords.
        known: What it takes, e.g. `use`.

    Raises:
        TypeError: If there are any.
    """
    for name, value in keywords.items():
        raise TypeError(
            f"{call} takes no keyword {name!r}, but {known}: {_instead(call, name, value)}"
        )


def refuse_swapped(function: Any) -> None:
    """Refuses an error handler whose parameters are in the order of FastAPI and Starlette.

    Args:
        function: A callable that takes two arguments.

    Raises:
        TypeError: If the first parameter is the context, judging by its annotation or the names of
            both.
    """
    if type(function) not in (FunctionType, MethodType):
        return
    code = function.__code__
    names = code.co_varnames[: code.co_argcount][type(function) is MethodType :]
    if len(names) < 2:
        return
    try:
        annotation = function.__annotations__.get(names[0])
    except NameError:  # annotations that are evaluated later may not be defined yet
        annotation = None
    text = annotation if isinstance(annotation, str) else _name_of(annotation)
    is_context = text.partition("[")[0].rpartition(".")[2] == "Context"
    if is_context or (names[0] in _NAMES_OF_CONTEXTS and names[1] in _NAMES_OF_ERRORS):
        raise TypeError(
            "The handler of on_error() is called with (error, c), but the first parameter of "
            f"{describe_signature(function)} is the context: write (error, c)"
        )


def _name_of(annotation: Any) -> str:
    kind = getattr(annotation, "__origin__", annotation)  # Context[...]
    return str(getattr(kind, "__name__", ""))


def _instead(call: str, name: str, value: Any) -> str:
    if name == "methods":
        return f"write @app.on({value!r:.100}, path) for several methods, @app.post(path) for one"
    if name == "status_code":
        status = f"{value!r:.10}"
        return f"give it to the response, c.json(..., {status}), or write @typed(status={status})"
    if call.startswith("use("):
        return f"give options to the function that makes the middleware, as in cors({name}=...)"
    from .foreign_tables import ROUTES

    return ROUTES.get(name, "leave it out")


def constructor_of_kit(init: Callable[P, R]) -> Callable[P, R]:
    """Makes `Kit()` refuse the arguments of other frameworks with what to write instead.

    The app then knows which options it was given, see `kit._app.parts`.
    """
    known = [*(getattr(init, "__kwdefaults__", None) or ())]

    @wraps(init)
    def constructor(*arguments: Any, **keywords: Any) -> Any:
        for argument in arguments[1:]:
            raise TypeError(f"Kit() takes keywords only, not {argument!r:.100}: write Kit()")
        for name in keywords:
            if name not in known:
                from .foreign_tables import CONSTRUCTOR

                advice = CONSTRUCTOR.get(name)
                hint = f": {advice}" if advice else ""
                raise TypeError(f"Kit() takes no keyword {name!r}, but {', '.join(known)}{hint}")
        result = init(*arguments, **keywords)
        given = (name for name, value in keywords.items() if value is not None)
        arguments[0]._state.given.update(given)
        return result

    # For what reads the options of an app from its constructor.
    constructor.__kwdefaults__ = init.__kwdefaults__  # type: ignore[attr-defined]
    return constructor


def route_of_flask(method: Callable[P, R]) -> Callable[P, R]:
    """Makes `Kit.route` refuse the arguments of a decorator for handlers, which it isn't."""

    @wraps(method)
    def route(*arguments: Any, **keywords: Any) -> Any:
        if len(arguments) == 3 and not keywords:
            return method(*arguments)  # type: ignore[call-arg]
        path = arguments[1] if len(arguments) > 1 else "/path"
        methods = keywords.get("methods")
        write = (
            f"@app.get({path!r:.100})"
            if not methods
            else f"@app.on({methods!r:.100}, {path!r:.100})"
        )
        raise TypeError(
            f"route() takes a path and a Kit app, whose routes it adds; for a handler write {write}"
        )

    return route
