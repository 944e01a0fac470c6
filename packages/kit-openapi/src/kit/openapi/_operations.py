# SPDX-License-Identifier: MIT
"""Finds the operations among the routes of an app, and the middleware before each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kit.authoring.signatures import describe
from kit.interface import METHOD_NAME_ALL, App, Codecs, RouterRoute
from kit.interface.metadata import Facts, get_facts
from kit.router.patterns import PatternIndex, covers

from ._describable import check_describable
from ._describe import check_described
from ._patterns import Template, templates
from ._source import UNKNOWN, innermost

# The methods listed for a handler of every method; nobody documents TRACE.
_OF_ALL = ("GET", "PUT", "POST", "DELETE", "PATCH")
_UNLISTED = ("HEAD", "OPTIONS")


@dataclass
class Operation:
    """One method of one path.

    Attributes:
        method: Upper-case method.
        template: The path in its route.
        shown: The path in the document; the parameters may have other names.
        handler: The handler.
        function: The function behind its wrappers.
        base_path: The prefix of its route.
        facts: The facts of the middleware that covers it, outermost first, and of the handler.
        described: Their descriptions from `describe`; the handler's description takes precedence.
        id: The operation id.
        name: The id that it would have if no other operation had the same name.
        validation_status: The status of validation errors.
        error_type: The type of the bodies of other errors, or `UNKNOWN`.
        body_limits: The names of the limits of bodies that were set.
    """

    method: str
    template: Template
    shown: Template
    handler: Any
    base_path: str
    facts: list[Facts]
    function: Any = None
    described: dict[str, Any] = field(default_factory=dict)
    id: str = ""
    name: str = ""
    validation_status: int = 400
    error_type: Any = UNKNOWN
    body_limits: frozenset[str] = frozenset()


def find_operations(app: App, base_path: str, notes: list[str]) -> list[Operation]:
    """Finds the operations of an app, in order of registration, without ids.

    Args:
        app: The app.
        base_path: Only routes below this prefix are included; `/` for all.
        notes: Receives the omitted routes with the reasons.

    Raises:
        TypeError: If nothing can describe a type that validates a request, or that `describe` has.
    """
    middleware: PatternIndex[RouterRoute] = PatternIndex()
    shapes: dict[tuple[str | None, ...], Template] = {}
    taken: dict[tuple[str, tuple[str | None, ...]], RouterRoute] = {}
    found: list[Operation] = []
    for route in app.routes:
        facts = get_facts(route.handler)
        _check_validated(route, facts, app.codecs)
        _check_described(facts, app.codecs)
        if route.takes_next and not facts.mounted:
            middleware.add(route.path, route)
        elif _is_below(route.path, base_path) and not facts.describes.get("hidden"):
            for operation in _operations(route, facts, middleware, notes):
                shape = operation.template.shape
                earlier = taken.setdefault((operation.method, shape), route)
                if earlier is not route:
                    notes.append(_clash(operation, earlier))
                    continue
                operation.shown = shapes.setdefault(shape, operation.template)
                if not operation.described.get("hidden"):
                    operation.validation_status = route.validation_status or app.validation_status
                    operation.error_type = _error_type(route.error_format or app.error_format)
                    operation.body_limits = frozenset({*app.body_limits, *route.body_limits})
                    found.append(operation)
    return found


def _error_type(format: Any) -> Any:
    """Returns the type of the bodies that an app's `format_errors` makes, if it is known."""
    return get_facts(format).others.get("error_type", UNKNOWN)


def _check_validated(route: RouterRoute, facts: Facts, codecs: Codecs) -> None:
    for target, kind in facts.validates.items():
        if kind is Any:
            continue
        try:
            check_describable(kind, codecs)
        except TypeError as error:
            raise TypeError(
                f"attach(validates=...) of {describe(route.handler)} has the type {kind!r:.100} "
                f"for {target!r}, which neither msgspec nor pydantic can describe: {error}"
            ) from None


def _check_described(facts: Facts, codecs: Codecs) -> None:
    for value in facts.describes.get("responses", {}).values():
        check_described("describe(responses=...)", value, codecs)
    check_described("describe(request_body=...)", facts.describes.get("request_body"), codecs)


def _operations(
    route: RouterRoute, facts: Facts, middleware: PatternIndex[RouterRoute], notes: list[str]
) -> Iterator[Operation]:
    methods = _OF_ALL if route.method == METHOD_NAME_ALL else (route.method,)
    if route.method in _UNLISTED or (route.path in ("*", "/*") and facts == Facts()):
        return  # e.g. a fallback for a page, which isn't part of an API
    shown = f"{route.method} {route.path}"
    if facts.mounted:
        notes.append(f"{shown} is left out: it is a mounted application")
        return
    if facts.others.get("kit_websocket"):
        notes.append(f"{shown} is left out: OpenAPI doesn't support WebSockets")
        return
    try:
        paths = [*templates(route.path)]
    except ValueError as error:
        notes.append(f"{shown} is left out: {error}")
        return
    for path in paths:
        for method in methods:
            before = _covering(route, method, middleware)
            described = _described([*before, facts])
            yield Operation(
                method,
                path,
                path,
                route.handler,
                route.base_path,
                [*before, facts],
                innermost(route.handler),
                described,
            )


def _covering(
    route: RouterRoute, method: str, middleware: PatternIndex[RouterRoute]
) -> list[Facts]:
    found = [
        get_facts(each.handler)
        for each in middleware.candidates(route.path)
        if each.method in (METHOD_NAME_ALL, method) and covers(each.path, route.path)
    ]
    return [facts for facts in found if facts != Facts() and not _is_exempt(route.path, facts)]


def _is_exempt(path: str, facts: Facts) -> bool:
    """Returns whether `except_` of kit-combine excludes the whole route."""
    return any(covers(each, path) for each in facts.others.get("combine_except", ()))


def _described(facts: list[Facts]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for each in facts:
        for name, value in each.describes.items():
            old = merged.get(name)
            both = name == "responses" and isinstance(old, Mapping)
            merged[name] = {**old, **value} if both and old is not None else value
    return merged


def _is_below(path: str, base_path: str) -> bool:
    base = base_path.rstrip("/")
    return not base or path == base or path.startswith(base + "/")


def _clash(operation: Operation, earlier: RouterRoute) -> str:
    shown = f"{operation.method} {operation.template.path}"
    if any(each.path == operation.template.path for each in templates(earlier.path)):
        return f"{shown} is left out: an earlier route handles it"
    return (
        f"{shown} is left out: OpenAPI can't distinguish it from {operation.method} "
        f"{earlier.path}, which differs only in its parameters"
    )
