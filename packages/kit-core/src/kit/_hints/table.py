# SPDX-License-Identifier: MIT
"""The most frequent mistakes, and what to write instead.

Code that finds a mistake raises an error that says what was expected and what was given, and
appends the sentence from `hint`. If Python itself raises the exception in a handler, `explain` adds
the sentence as a note. This module is imported only after a mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CoroutineType, FunctionType, MethodType
from typing import Any, get_origin

from kit.authoring.signatures import accepts, is_factory, parameter_names

_MARKERS = ("fastapi.params", "kit.typed", "litestar.params")
_MODELS = ("__dataclass_fields__", "__struct_fields__", "__attrs_attrs__", "model_dump")


def hint(place: str, value: Any) -> str:
    """Returns a sentence for the end of an error that says what to write instead of a value.

    Args:
        place: Where the mistake was made: a key of `HINTS`.
        value: The value.

    Returns:
        A colon and the sentence; "" if the table has no entry.
    """
    for is_mistake, sentence in HINTS[place]:
        if is_mistake(value):
            return f": {sentence.format(name=getattr(value, '__name__', 'function'))}"
    return ""


def explain(error: Exception) -> None:
    """Adds a note to an exception of a handler or middleware that says what to write instead.

    Args:
        error: The exception.
    """
    found = hint("raised", error)
    if found and not getattr(error, "__notes__", None):
        error.add_note(found[2:])


def _is_one_of(*names: str) -> Callable[[Any], bool]:
    return frozenset(names).__contains__


def _read_from_kit(*names: str) -> Callable[[Any], bool]:
    """Recognizes the exception for a missing attribute of a Kit object."""
    return lambda error: (
        isinstance(error, AttributeError)
        and error.name in names
        and type(error.obj).__module__.partition(".")[0] == "kit"
    )


def _says(part: str) -> Callable[[Any], bool]:
    return lambda error: part in str(error)


def _expects_response(error: Exception) -> bool:
    """Recognizes the exception for reading an attribute of a response from None."""
    names = ("body", "headers", "status", "status_code")
    return _says("'NoneType' object has no")(error) and getattr(error, "name", None) in names


def _is_a(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _is_app(value: Any) -> bool:
    return hasattr(value, "base_path") and hasattr(value, "fetch")


def _is_data(value: Any) -> bool:
    return isinstance(value, (dict, list)) or any(hasattr(value, name) for name in _MODELS)


def _is_factory(handler: Any) -> bool:
    return is_factory(handler) or (_takes_nothing(handler) and bool(_keyword_defaults(handler)))


def _is_alias(handler: Any) -> bool:
    return get_origin(handler) is not None


def _takes_nothing(handler: Any) -> bool:
    return accepts(handler, 0)


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


# By place: how a mistake is recognized, and the sentence; {name} is the name of the value.
HINTS: dict[str, list[tuple[Callable[[Any], object], str]]] = {
    # What was registered as a handler or middleware.
    "handler": [
        (_is_a(CoroutineType), "write the function itself, {name}, without calling it"),
        (_is_app, "write app.route(path, other) to add another app"),
        (_is_alias, "write Depends(function) for a dependency"),
        (_is_a(type), "give a function or an object that can be called, not a class"),
        (_is_factory, "write {name}(...), which makes the middleware"),
        (_takes_nothing, "add the parameter c, the context"),
        (_takes_websocket, "put @upgrade_websocket of kit.websocket above it"),
        (
            _is_for_typed,
            "read parameters from c.req, or put @typed of kit.typed above it; for a guard, write "
            "Depends({name})",
        ),
    ],
    # The keywords of a registering method.
    "keyword": [
        (_is_one_of("methods"), "write @app.on([...], path), or @app.post(path) for one method"),
        (
            _is_one_of("status_code", "response_class", "response_model"),
            "give the response its status, c.json(..., 201), or use @typed of kit.typed",
        ),
        (_is_one_of("dependencies", "guards", "middleware"), "write use=[...]"),
        (
            _is_one_of("deprecated", "description", "operation_id", "responses", "summary", "tags"),
            "write @describe(...) of kit.openapi above the handler",
        ),
    ],
    # The attributes of an app.
    "app": [
        (_is_one_of("listen", "run"), "run it with `kit serve app.py`, or `kit dev app.py`"),
        (
            _is_one_of("include_router", "register", "register_blueprint"),
            "write app.route(path, other)",
        ),
        (
            _is_one_of("add_middleware", "after_request", "before_request", "middleware"),
            "write middleware (c, next), and app.use() before the routes",
        ),
        (
            _is_one_of("add_event_handler", "on_event", "on_shutdown", "on_startup", "state"),
            "write a lifespan, Kit(lifespan=...), and read what it yields from c.env",
        ),
        (
            _is_one_of("add_exception_handler", "errorhandler", "exception_handler"),
            "write @app.on_error(SomeError), and @app.not_found() for unmatched requests",
        ),
        (
            _is_one_of("add_api_route", "add_route", "add_url_rule", "api_route"),
            "write app.get(path, handler), or app.on([...], path, handler)",
        ),
        (
            _is_one_of("url_for", "url_path_for"),
            "write app.path_to(handler, id=7), or c.path_to(...) in a request",
        ),
        (_is_one_of("websocket"), "write @app.get(path) above @upgrade_websocket of kit.websocket"),
    ],
    # What a handler returned.
    "result": [
        (_is_a(str), "use c.text(...) or c.html(...)"),
        (_is_a(tuple), "the status and headers follow the data, as in c.json(..., 201)"),
        (_is_a(BaseException), "raise it"),
        (_is_a(FunctionType, MethodType), "call it; middleware is called when it is registered"),
        (_is_data, "use c.json(...)"),
    ],
    # The exception of a handler or middleware.
    "raised": [
        (_says("coroutine"), "write `await` before the call that returned it"),
        (_says("argument 'status_code'"), "write status=..., as in c.json(..., status=201)"),
        (_says("next() takes"), "write `await next()`, which takes no arguments"),
        (_says("'mappingproxy' object"), "write c.set('name', value) and c.get('name')"),
        (_expects_response, "`await next()` returns None: the response is then c.res"),
        (_read_from_kit("request"), "write c.req"),
        (
            _read_from_kit("args", "params", "path_params", "query_params"),
            "write c.req.query('name') for the query, c.req.param('name') for the path",
        ),
        (_read_from_kit("url_for", "url_path_for"), "write c.path_to(handler, id=7)"),
        (
            _read_from_kit("cookies", "headers", "set_cookie"),
            "write c.req.header('name') or c.header('name', 'value'); kit.cookie has get_cookie()",
        ),
        (
            _read_from_kit("body", "data", "files", "form", "get_json"),
            "write `await c.req.json()`, `parse_body()` for forms, or `bytes()`",
        ),
        (
            _read_from_kit("session", "state", "user"),
            "write c.set('name', value) and c.get('name'); kit.session has get_session(c)",
        ),
    ],
}
