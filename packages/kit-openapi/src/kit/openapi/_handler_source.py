# SPDX-License-Identifier: MIT
"""Finds the exceptions, responses and inputs of a handler in its source.

It follows functions that the handler calls by a plain name, in any module of the app, three levels
deep. Anything unknown is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FunctionType, GenericAlias
from typing import Any

from kit.interface import HTTPException, ProblemError
from kit.interface.metadata import Facts, get_facts

from ._catching import Catchers, is_caught, nodes_in_try
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
_OF_TARGETS = {"param": "param", "query": "query", "queries": "query", "header": "header"}


@dataclass
class Raised:
    """A raised response.

    Attributes:
        message: Its message; empty if unknown.
        is_problem: Whether it is a problem document.
        kind: The type of its body, if the exception class defines it.
    """

    message: str = ""
    is_problem: bool = False
    kind: Any = UNKNOWN


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
        by_alias: The values of `by_alias` in calls of `c.json`, by status; None if there is none.
        is_complete: Whether every `return` is such a response.
        status: The status of a response that is created without one; None if it is unknown.
        parameters: The values that it reads by name.
        json: The type of the JSON body; `UNKNOWN` if it isn't read.
        form: Whether it reads a form.
        can_fail: Whether an invalid body raises an error that leaves the handler.
    """

    raised: dict[int, Raised] = field(default_factory=dict)
    answers: dict[int | None, set[str | None]] = field(default_factory=dict)
    by_alias: dict[int | None, set[bool | None]] = field(default_factory=dict)
    is_complete: bool = True
    status: int | None = 200
    parameters: list[Parameter] = field(default_factory=list)
    json: Any = UNKNOWN
    form: bool = False
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
        statuses = _statuses(tree, function, 200)
        self._handler_source.status = statuses.last
        returned = _returned(tree, statuses)
        if not returned and not any(isinstance(each, ast.Raise) for each in own_nodes(tree)):
            self._handler_source.is_complete = False
        for node, status in returned:
            if not self._add_answer(node, function, 0, status):
                self._handler_source.is_complete = False

    def _add_answer(
        self, node: ast.expr | None, function: FunctionType, depth: int, status: Status
    ) -> bool:
        """Adds the response of a returned expression; returns whether it is known.

        Args:
            node: The expression.
            function: The function that returns it.
            depth: How many calls away from the handler it is.
            status: The status of a response that is created without one.
        """
        if isinstance(node, ast.Await):
            node = node.value
        if isinstance(node, ast.IfExp):
            parts = [
                self._add_answer(each, function, depth, status) for each in (node.body, node.orelse)
            ]
            return all(parts)
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute) and _is_context(node.func.value, function):
            return self._add_own_answer(node, node.func.attr, function, status)
        called = _find_function(node, function)
        tree = parse_source(called) if called is not None and depth < DEEPEST else None
        if tree is None or called is None:
            return False
        returned = _returned(tree, _statuses(tree, called, status))
        known = [self._add_answer(each, called, depth + 1, own) for each, own in returned]
        return bool(known) and all(known)

    def _add_own_answer(
        self, call: ast.Call, name: str, function: FunctionType, default: Status
    ) -> bool:
        if name == "not_found":
            self._handler_source.raised.setdefault(404, Raised())
            return True
        if name not in _ANSWERS:
            return False
        position, media_type = _ANSWERS[name]
        node = argument(call, position, "status")
        status: Any = 302 if name == "redirect" else default
        if node is not None:
            given = evaluate_node(node, function)
            status = status if given is None else given
        if argument(call, position + 1, "headers") is not None and name != "json":
            media_type = None
        known = int(status) if isinstance(status, int) else None
        self._handler_source.answers.setdefault(known, set()).add(media_type)
        if name == "json":
            by_alias = evaluate_node(argument(call, position + 2, "by_alias"), function)
            own = by_alias if isinstance(by_alias, bool) else None
            self._handler_source.by_alias.setdefault(known, set()).add(own)
        return True


def _returned(tree: Tree, statuses: Statuses) -> list[tuple[ast.expr | None, Status]]:
    """Returns the returned expressions, each with the status that was set before."""
    if isinstance(tree, ast.Lambda):
        return [(tree.body, statuses.last)]
    found = [node for node in own_nodes(tree) if isinstance(node, ast.Return)]
    return [(node.value, statuses.at(node)) for node in found]


def _statuses(tree: Tree, function: FunctionType, first: Status) -> Statuses:
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
    call = node if isinstance(node, ast.Call) else None
    kind = evaluate_node(call.func if call else node, function)
    if not (isinstance(kind, type) and issubclass(kind, HTTPException)):
        return
    if is_caught(kind, catchers):
        return
    found = _declared(kind)
    if found is None and call is not None and _takes_status(kind):
        found = _called(call, kind, function)
    for status, raised in (found or {}).items():
        # The first text counts; a problem document is more specific than a text.
        old = reading.raised.setdefault(status, raised)
        if raised.is_problem and not old.is_problem:
            reading.raised[status] = raised


def _declared(kind: type[HTTPException]) -> dict[int, Raised] | None:
    """Returns the response of an exception class: from facts, `status`, or its `__init__`."""
    is_problem = issubclass(kind, ProblemError)
    facts = get_facts(kind)
    if facts.responses:
        return {
            status: Raised(each, is_problem)
            if isinstance(each, str)
            else Raised(_find_text(kind), is_problem, UNKNOWN if each is None else each)
            for status, each in facts.responses.items()
        }
    status = vars(kind).get("status", getattr(kind, "status", None))
    if isinstance(status, int):
        return {int(status): Raised(_find_text(kind), is_problem)}
    for each in kind.__mro__:
        if each in (HTTPException, ProblemError):
            return None
        constructor = vars(each).get("__init__")
        tree = parse_source(constructor)
        for call in ast.walk(tree) if tree is not None else ():
            if isinstance(call, ast.Call) and _is_super_init(call):
                found = _called(call, kind, constructor, _find_text(kind))
                if found is not None:  # otherwise, a base class may define it
                    return found
    return None


def _takes_status(kind: type) -> bool:
    """Returns whether the first argument of an exception is its status, as in HTTPException."""
    code = getattr(getattr(kind, "__init__", None), "__code__", None)
    return code is not None and code.co_varnames[1:2] == ("status",)


def _find_text(kind: type) -> str:
    from ._docstrings import parse

    doc = vars(kind).get("__doc__")
    return parse(doc).summary if isinstance(doc, str) else ""


def _is_super_init(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "__init__"
        and isinstance(call.func.value, ast.Call)
        and getattr(call.func.value.func, "id", "") == "super"
    )


def _called(call: ast.Call, kind: type, function: Any, text: str = "") -> dict[int, Raised] | None:
    status = evaluate_node(argument(call, 0, "status"), function)
    if not isinstance(status, int):
        return None
    is_problem = issubclass(kind, ProblemError)
    message = evaluate_node(argument(call, 1, "title" if is_problem else "message"), function)
    return {int(status): Raised(text or (message if isinstance(message, str) else ""), is_problem)}


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
        reading.can_fail = reading.can_fail or can_fail


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
