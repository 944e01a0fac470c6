# SPDX-License-Identifier: MIT
"""The mistakes that people make most often, and what to write instead.

The code that finds a mistake raises an error that says what was expected and what was given, and
appends the sentence that `hint` returns for the value. Exceptions that Python itself raises in a
handler get it as a note, from `explain`. This module is imported only after a mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CoroutineType, FunctionType, MethodType
from typing import Any, NamedTuple

from kit.interface.signatures import accepts, is_factory, parameter_names

_MARKERS = ("fastapi.params", "kit.typed", "litestar.params")
_MODELS = ("__dataclass_fields__", "__struct_fields__", "__attrs_attrs__", "model_dump")


class Hint(NamedTuple):
    """A row of the table.

    Attributes:
        place: Where the mistake is made: `handler`, `keyword` and `app` for what was registered,
            for the keywords of a registering method and for the attributes of an app; `result` for
            what a handler returned, `raised` for an exception.
        recognize: Whether a value is this mistake.
        sentence: What to write; `{name}` stands for the name of the value.
    """

    place: str
    recognize: Callable[[Any], object]
    sentence: str


def hint(place: str, value: Any) -> str:
    """Returns what to write in place of a value, for the end of an error.

    Args:
        place: See `Hint`.
        value: The value.

    Returns:
        A colon and the sentence; "" if the table has none.
    """
    for row in HINTS:
        if row.place == place and row.recognize(value):
            name = getattr(value, "__name__", "function")
            return f": {row.sentence.format(name=name)}"
    return ""


def explain(error: Exception) -> None:
    """Adds a note that says what to write to an exception that a handler or middleware raised.

    Args:
        error: The exception.
    """
    found = hint("raised", error)
    if found and not getattr(error, "__notes__", None):
        error.add_note(found[2:])


def _one_of(*names: str) -> Callable[[Any], bool]:
    return frozenset(names).__contains__


def _read_from_kit(*names: str) -> Callable[[Any], bool]:
    """Recognizes the exception for an attribute that an object of Kit doesn't have."""
    return lambda error: (
        isinstance(error, AttributeError)
        and error.name in names
        and type(error.obj).__module__.partition(".")[0] == "kit"
    )


def _says(*parts: str) -> Callable[[Any], bool]:
    return lambda error: all(part in str(error) for part in parts)


def _is_for_typed(handler: Any) -> bool:
    values = (*(getattr(handler, "__defaults__", None) or ()), *_keyword_defaults(handler).values())
    return bool({*getattr(handler, "__annotations__", ())} - {"return"}) or any(
        type(value).__module__.startswith(_MARKERS) for value in values
    )


def _takes_websocket(handler: Any) -> bool:
    found = getattr(handler, "__annotations__", {})
    return not {"ws", "websocket"}.isdisjoint(parameter_names(handler)) or any(
        "WebSocket" in str(each) for each in found.values()
    )


def _keyword_defaults(handler: Any) -> dict[str, Any]:
    return getattr(handler, "__kwdefaults__", None) or {}


HINTS = (
    Hint(
        "handler",
        lambda value: isinstance(value, CoroutineType),
        "write the function itself, {name}, without calling it",
    ),
    Hint(
        "handler",
        lambda value: hasattr(value, "base_path") and hasattr(value, "fetch"),
        "write app.route(path, other) to add another app",
    ),
    Hint(
        "handler",
        lambda value: isinstance(value, type),
        "it is a class: give a function, or an object that can be called",
    ),
    Hint(
        "handler",
        lambda value: is_factory(value) or (accepts(value, 0) and _keyword_defaults(value)),
        "it makes middleware when it is called: write {name}(...)",
    ),
    Hint("handler", lambda value: accepts(value, 0), "it takes the context: write {name}(c)"),
    Hint("handler", _takes_websocket, "put @upgrade_websocket of kit.websocket above it"),
    Hint(
        "handler",
        _is_for_typed,
        "read parameters from c.req; or put @typed of kit.typed above it, which reads them by "
        "their annotations",
    ),
    Hint(
        "keyword",
        _one_of("methods"),
        "write @app.on([...], path) for several methods, or @app.post(path) for one",
    ),
    Hint(
        "keyword",
        _one_of("status_code", "response_class", "response_model"),
        "give the response its status, as in c.json(..., 201); a @typed function of kit.typed has "
        "a status and a model",
    ),
    Hint("keyword", _one_of("dependencies", "guards", "middleware"), "write use=[...]"),
    Hint(
        "keyword",
        _one_of("deprecated", "description", "operation_id", "responses", "summary", "tags"),
        "write @describe(...) of kit.openapi above the handler",
    ),
    Hint(
        "app",
        _one_of("listen", "run"),
        "run it with `kit serve app.py`, with `kit dev app.py` while developing",
    ),
    Hint(
        "app",
        _one_of("include_router", "register", "register_blueprint"),
        "write app.route(path, other)",
    ),
    Hint(
        "app",
        _one_of("add_middleware", "after_request", "before_request", "middleware"),
        "write middleware (c, next), and app.use() before the routes",
    ),
    Hint(
        "app",
        _one_of("add_event_handler", "on_event", "on_shutdown", "on_startup", "state"),
        "write a lifespan, Kit(lifespan=...), and read what it yields from c.env",
    ),
    Hint(
        "app",
        _one_of("add_exception_handler", "errorhandler", "exception_handler"),
        "write @app.on_error(SomeError), and @app.not_found() for unmatched requests",
    ),
    Hint(
        "app",
        _one_of("add_api_route", "add_route", "add_url_rule", "api_route"),
        "write app.get(path, handler), or app.on([...], path, handler)",
    ),
    Hint(
        "app",
        _one_of("websocket", "websocket_route"),
        "write @app.get(path) above @upgrade_websocket of kit.websocket",
    ),
    Hint("result", lambda value: isinstance(value, str), "use c.text(...) or c.html(...)"),
    Hint(
        "result",
        lambda value: isinstance(value, tuple),
        "the status and headers follow the data, as in c.json(..., 201)",
    ),
    Hint(
        "result",
        lambda value: isinstance(value, BaseException),
        "raise it",
    ),
    Hint(
        "result",
        lambda value: isinstance(value, (FunctionType, MethodType)),
        "call it; a function that makes middleware is called when it is registered",
    ),
    Hint(
        "result",
        lambda value: (
            isinstance(value, (dict, list)) or any(hasattr(value, name) for name in _MODELS)
        ),
        "use c.json(...)",
    ),
    Hint("raised", _says("coroutine"), "write `await` before the call that returned it"),
    Hint(
        "raised",
        _says("unexpected keyword argument 'status_code'"),
        "write status=..., as in c.json(..., status=201)",
    ),
    Hint(
        "raised",
        _says("next() takes"),
        "write `await next()`, which takes no arguments",
    ),
    Hint(
        "raised",
        lambda error: (
            _says("'NoneType' object has no attribute")(error)
            and error.name in ("body", "headers", "status", "status_code")
        ),
        "the result of `await next()` is None: the response is then c.res",
    ),
    Hint("raised", _says("'mappingproxy' object"), "write c.set('name', value), c.get('name')"),
    Hint("raised", _read_from_kit("request"), "write c.req"),
    Hint(
        "raised",
        _read_from_kit("args", "params", "path_params", "query_params"),
        "write c.req.query('name') for the query, c.req.param('name') for the path",
    ),
    Hint(
        "raised",
        _read_from_kit("cookies", "delete_cookie", "headers", "set_cookie"),
        "write c.req.header('name') for the request, c.header('name', 'value') for the response; "
        "kit.cookie has get_cookie() and set_cookie()",
    ),
    Hint(
        "raised",
        _read_from_kit("body", "data", "files", "form", "get_json"),
        "write `await c.req.json()`, `parse_body()` for forms, or `bytes()`",
    ),
    Hint(
        "raised",
        _read_from_kit("session", "state", "user"),
        "write c.set('name', value) and c.get('name'); kit.session has get_session(c)",
    ),
)
