# SPDX-License-Identifier: MIT
"""Finds the exceptions, responses and inputs of a handler in its source.

It follows functions that the handler calls by a plain name, in any module of the app, three levels
deep. Anything unknown is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from types import FunctionType, GenericAlias
from typing import Any

from kit.http.media_types import media_type as media_type_of
from kit.interface import HTTPException
from kit.interface.metadata import Facts, get_facts

from ._catching import Catchers, is_caught, nodes_in_try
from ._raised import Raised, find_raised
from ._source import (
    UNKNOWN,
    Tree,
    argument,
    evaluate_node,
    innermost,
    is_of_kit,
    own_nodes,
    parse_source,
    wrappers,
)
from ._statuses import Status, Statuses

DEEPEST = 3
# The methods of the context for responses: the position of the status, and the media type.
_ANSWERS: dict[str, tuple[int, str | None]] = {
    "text": (1, "text/plain"),
    "json": (1, "application/json"),
    "html": (1, "text/html"),
    "body": (1, None),
    "new_response": (1, None),
    "redirect": (1, None),
}
# The names of contexts and requests.
_CONTEXTS = {"c", "ctx", "context"}
_REQUESTS = {"req", "request"}
_RAW = ("text", "bytes", "array_buffer", "blob")
_OF_TARGETS = {"param": "param", "query": "query", "queries": "query", "header": "header"}


@dataclass
class Parameter:
    """A value that a handler reads by name.

    Attributes:
        target: `param`, `query` or `header`.
        name: Its name.
        kind: Its type.
        default: Its default; `UNKNOWN` if there is none.
        can_fail: Whether a value of another type raises an error that leaves the handler.
    """

    target: str
    name: str
    kind: Any
    default: Any = UNKNOWN
    can_fail: bool = True


@dataclass
class HandlerSource:
    """Information from the source of a handler.

    Attributes:
        raised: Raised responses by status.
        answers: Responses created by the context: a mapping of status (None if unknown) to media
            types.
        results: The statuses of returned values other than None that aren't such responses, which
            a typed endpoint sends as its result; None if one is unknown.
        by_alias: The values of `by_alias` in calls of `c.json`, by status; None if there is none.
        is_complete: Whether every `return` is such a response.
        status: The status of a response that is created without one; None if it is unknown.
        parameters: The values that it reads by name.
        json: The type of the JSON body; `UNKNOWN` if it isn't read.
        form: Whether it reads a form.
        raw: Whether it reads the body as text or bytes.
        limits: The names of limits that it sets for a form.
        can_fail: Whether an invalid body raises an error that leaves the handler.
    """

    raised: dict[int, Raised] = field(default_factory=dict)
    answers: dict[int | None, set[str | None]] = field(default_factory=dict)
    results: set[int | None] = field(default_factory=set)
    by_alias: dict[int | None, set[bool | None]] = field(default_factory=dict)
    is_complete: bool = True
    status: int | None = 200
    parameters: list[Parameter] = field(default_factory=list)
    json: Any = UNKNOWN
    form: bool = False
    raw: bool = False
    limits: set[str] = field(default_factory=set)
    can_fail: bool = False


def read(handler: Any, before: Sequence[Facts] = ()) -> HandlerSource:
    """Reads the source of a handler.

    Other functions that run for it, such as the dependencies of a typed endpoint and of the guards
    before it, are read as well if the facts list them: `attach(handler, typed_calls=(function,
    ...))`.

    Args:
        handler: The handler.
        before: The facts of the middleware before it.

    Returns:
        The information; empty if the source is missing.
    """
    reading = HandlerSource()
    reader = _Reader(reading, set())
    for wrapper in wrappers(handler):
        reader.read(wrapper, 1)
    reader.read(_called_by(innermost(handler)), 0)
    for facts in (get_facts(handler), *before):
        for function in facts.others.get("typed_calls", ()):
            reader.read(innermost(function), 1)
    return reading


def _called_by(function: Any) -> Any:
    """Returns the function that runs when an object is called."""
    if isinstance(function, (FunctionType, type)):
        return function
    return getattr(type(function), "__call__", function)  # noqa: B004


class _Reader:
    """Reads one function after the other into one `HandlerSource`.

    Args:
        reading: Receives the information.
        seen: The functions that have been read.
    """

    def __init__(self, reading: HandlerSource, seen: set[Any]) -> None:
        self._handler_source = reading
        self._seen = seen

    def read(self, function: Any, depth: int, around: Catchers = ()) -> None:
        """Reads a function and the functions that it calls.

        Args:
            function: The function.
            depth: How many calls away from the handler it is.
            around: The handlers for exceptions around its call.
        """
        tree = parse_source(function)
        if tree is None:
            if depth == 0:
                self._handler_source.is_complete = False
            return
        self._seen.add((function, around))
        for node, within in nodes_in_try(tree, function):
            catchers = (*around, *within)
            _read_node(self._handler_source, node, function, catchers)
            called = _find_function(node, function) if isinstance(node, ast.Call) else None
            if called is not None and depth < DEEPEST and (called, catchers) not in self._seen:
                self.read(called, depth + 1, catchers)
        self._read_returns(tree, function, depth)

    def _read_returns(self, tree: Tree, function: FunctionType, depth: int) -> None:
        if depth:
            return
        statuses = _statuses(tree, function, {200})
        self._handler_source.status = statuses.last
        returned = _returned(tree, statuses)
        if not returned and not any(isinstance(each, ast.Raise) for each in own_nodes(tree)):
            self._handler_source.is_complete = False
        for node, before in returned:
            if not self._add_answer(node, function, 0, before):
                self._handler_source.is_complete = False

    def _add_answer(
        self, node: ast.expr | None, function: FunctionType, depth: int, statuses: Set[Status]
    ) -> bool:
        """Adds the response of a returned expression; returns whether it is known.

        Args:
            node: The expression.
            function: The function that returns it.
            depth: How many calls away from the handler it is.
            statuses: The statuses that a response created without one may have.
        """
        if isinstance(node, ast.Await):
            node = node.value
        if isinstance(node, ast.IfExp):
            choices = (node.body, node.orelse)
            parts = [self._add_answer(each, function, depth, statuses) for each in choices]
            return all(parts)
        call = node if isinstance(node, ast.Call) else None
        if call and isinstance(call.func, ast.Attribute) and _is_context(call.func.value, function):
            return self._add_own_answer(call, call.func.attr, function, statuses)
        called = None if call is None else _find_function(call, function)
        tree = parse_source(called) if called is not None and depth < DEEPEST else None
        if tree is None or called is None:
            if node is not None and not (isinstance(node, ast.Constant) and node.value is None):
                self._handler_source.results |= statuses
            return False
        returned = _returned(tree, _statuses(tree, called, statuses))
        known = [self._add_answer(each, called, depth + 1, own) for each, own in returned]
        return bool(known) and all(known)

    def _add_own_answer(
        self, call: ast.Call, name: str, function: FunctionType, default: Set[Status]
    ) -> bool:
        if name == "not_found":
            self._handler_source.raised.setdefault(404, Raised())
            return True
        if name not in _ANSWERS:
            return False
        position, media_type = _ANSWERS[name]
        node = argument(call, position, "status")
        statuses: Set[Status] = {302} if name == "redirect" else default
        given = None if node is None else evaluate_node(node, function)
        if given is not None:
            statuses = {int(given) if isinstance(given, int) else None}
        headers = argument(call, position + 1, "headers")
        if headers is not None and name != "json":
            media_type = _find_media_type(headers, media_type)
        for status in statuses:
            self._handler_source.answers.setdefault(status, set()).add(media_type)
            if name == "json":
                by_alias = evaluate_node(argument(call, position + 2, "by_alias"), function)
                own = by_alias if isinstance(by_alias, bool) else None
                self._handler_source.by_alias.setdefault(status, set()).add(own)
        return True


def _find_media_type(headers: ast.expr, default: str | None) -> str | None:
    """Returns the media type that headers set, or None if it is unknown.

    Args:
        headers: The expression of the headers.
        default: The media type without them.
    """
    if not isinstance(headers, ast.Dict):
        return None
    for key, value in zip(headers.keys, headers.values, strict=True):
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            return None
        if key.value.lower() == "content-type":
            text = value.value if isinstance(value, ast.Constant) else None
            return media_type_of(text) if isinstance(text, str) else None
    return default


def _returned(tree: Tree, statuses: Statuses) -> list[tuple[ast.expr | None, Set[Status]]]:
    """Returns the returned expressions, each with the statuses that may have been set before."""
    if isinstance(tree, ast.Lambda):
        return [(tree.body, statuses.all)]
    found = [node for node in own_nodes(tree) if isinstance(node, ast.Return)]
    return [(node.value, statuses.at(node)) for node in found]


def _statuses(tree: Tree, function: FunctionType, first: Set[Status]) -> Statuses:
    def find_status(call: ast.Call) -> Status:
        called = call.func
        if not (isinstance(called, ast.Attribute) and called.attr == "status"):
            raise LookupError
        if not _is_context(called.value, function):
            raise LookupError
        status = evaluate_node(argument(call, 0, "code"), function)
        return int(status) if isinstance(status, int) else None

    return Statuses(tree.body if isinstance(tree.body, list) else [], first, find_status)


def _read_node(
    reading: HandlerSource, node: ast.AST, function: FunctionType, catchers: Catchers
) -> None:
    if isinstance(node, ast.Raise) and node.exc is not None:
        _add_raised(reading, node.exc, function, catchers)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        can_fail = not is_caught(HTTPException, catchers)
        _add_read(reading, node, node.func, function, can_fail=can_fail)


def _add_raised(
    reading: HandlerSource, node: ast.expr, function: FunctionType, catchers: Catchers
) -> None:
    for status, raised in find_raised(node, function, catchers).items():
        # The first text counts; a problem document is more specific than a text.
        old = reading.raised.setdefault(status, raised)
        if raised.is_problem and not old.is_problem:
            reading.raised[status] = raised


def _add_read(
    reading: HandlerSource,
    call: ast.Call,
    called: ast.Attribute,
    function: FunctionType,
    *,
    can_fail: bool,
) -> None:
    if not _is_request(called.value, function):
        return
    if called.attr in _OF_TARGETS:
        name = evaluate_node(argument(call, 0, "key"), function)
        if isinstance(name, str):
            kind: Any = evaluate_node(argument(call, 1, "type"), function)
            kind = str if kind is UNKNOWN else kind
            kind = GenericAlias(list, (kind,)) if called.attr == "queries" else kind
            given = next((each.value for each in call.keywords if each.arg == "default"), None)
            default = evaluate_node(given, function)
            target = _OF_TARGETS[called.attr]
            reading.parameters.append(Parameter(target, name, kind, default, can_fail))
    elif called.attr == "json":
        kind = evaluate_node(argument(call, 0, "type"), function)
        reading.json = Any if kind is UNKNOWN else kind
        reading.can_fail = reading.can_fail or can_fail
    elif called.attr in ("form_data", "parse_body"):
        reading.form = True
        reading.limits |= {each.arg for each in call.keywords if each.arg is not None}
        reading.can_fail = reading.can_fail or can_fail
    elif called.attr in _RAW:
        reading.raw = True


def _is_context(node: ast.expr, function: FunctionType) -> bool:
    return isinstance(node, ast.Name) and node.id in _CONTEXTS & {*_parameters(function)}


def _is_request(node: ast.expr, function: FunctionType) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "req" and _is_context(node.value, function)
    return isinstance(node, ast.Name) and node.id in _REQUESTS & {*_parameters(function)}


def _parameters(function: FunctionType) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _find_function(call: ast.Call, function: FunctionType) -> FunctionType | None:
    """Returns the function called by a plain name; None for functions of Kit, and for classes."""
    if not isinstance(call.func, ast.Name):
        return None
    called = innermost(evaluate_node(call.func, function))
    if not isinstance(called, FunctionType):
        return None
    return None if is_of_kit(called) else called
