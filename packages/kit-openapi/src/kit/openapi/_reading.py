# SPDX-License-Identifier: MIT
"""Reads off a handler's source what it raises, which answers it makes, and what it reads.

Followed are functions that the handler calls by a plain name, whichever module of the app defines
them, three levels deep. What can't be told is left out.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from types import FunctionType, GenericAlias
from typing import Any

from kit.interface import HTTPException, ProblemError
from kit.interface.metadata import facts_of

from ._source import UNKNOWN, Tree, argument, innermost, own_nodes, tree_of, value_of

DEEPEST = 3
# What the context makes answers with: the position of the status, and the media type.
_ANSWERS: dict[str, tuple[int, str | None]] = {
    "text": (1, "text/plain"),
    "json": (1, "application/json"),
    "html": (1, "text/html"),
    "body": (1, None),
    "new_response": (1, None),
    "redirect": (1, None),
}
# What contexts and requests are called.
_CONTEXTS = {"c", "ctx", "context"}
_REQUESTS = {"req", "request"}
_OF_TARGETS = {"param": "param", "query": "query", "queries": "query", "header": "header"}


@dataclass
class Raised:
    """An answer that is given by raising.

    Attributes:
        message: What it says; empty if that is not known.
        is_problem: Whether it is a problem document.
        kind: The type of its body, if the class of the exception tells.
    """

    message: str = ""
    is_problem: bool = False
    kind: Any = UNKNOWN


@dataclass
class Parameter:
    """A value that a handler reads by its name.

    Attributes:
        target: `param`, `query` or `header`.
        name: Its name.
        kind: Its type.
        default: Its default; `UNKNOWN` if there is none.
    """

    target: str
    name: str
    kind: Any
    default: Any = UNKNOWN


@dataclass
class Reading:
    """What the source of a handler tells.

    Attributes:
        raised: Answers given by raising, by status.
        answers: Answers made by the context: status (None if not known) to media types.
        is_complete: Whether every `return` is such an answer.
        parameters: What is read by name.
        json: The type that a JSON body is read as; `UNKNOWN` if none is read.
        form: Whether a form is read.
    """

    raised: dict[int, Raised] = field(default_factory=dict)
    answers: dict[int | None, set[str | None]] = field(default_factory=dict)
    is_complete: bool = True
    parameters: list[Parameter] = field(default_factory=list)
    json: Any = UNKNOWN
    form: bool = False


def read(handler: Any) -> Reading:
    """Reads the source of a handler.

    What else runs for it, such as the dependencies of a typed endpoint, is read as well if it is
    among its facts: `attach(handler, typed_calls=(function, ...))`.

    Args:
        handler: The handler.

    Returns:
        What it tells; nothing if the source is missing.
    """
    reading = Reading()
    reader = _Reader(reading, set())
    reader.read(innermost(handler), 0)
    for function in facts_of(handler).others.get("typed_calls", ()):
        reader.read(innermost(function), 1)
    return reading


class _Reader:
    """Reads one function after the other into one `Reading`.

    Args:
        reading: Where to.
        seen: The functions that were read.
    """

    def __init__(self, reading: Reading, seen: set[Any]) -> None:
        self._reading = reading
        self._seen = seen

    def read(self, function: Any, depth: int) -> None:
        """Reads a function and those that it calls."""
        tree = tree_of(function)
        if tree is None:
            if depth == 0:
                self._reading.is_complete = False
            return
        self._seen.add(function)
        _read_body(self._reading, tree, function)
        self._read_returns(tree, function, depth)
        if depth < DEEPEST:
            for node in own_nodes(tree):
                if isinstance(node, ast.Call):
                    called = _function_of(node, function)
                    if called is not None and called not in self._seen:
                        self.read(called, depth + 1)

    def _read_returns(self, tree: Tree, function: FunctionType, depth: int) -> None:
        if depth:
            return
        returned = _returned(tree)
        if not returned and not any(isinstance(each, ast.Raise) for each in own_nodes(tree)):
            self._reading.is_complete = False
        for node in returned:
            if not self._add_answer(node, function, 0):
                self._reading.is_complete = False

    def _add_answer(self, node: ast.expr | None, function: FunctionType, depth: int) -> bool:
        """Adds what an expression that is returned answers; tells whether it is known."""
        if isinstance(node, ast.Await):
            node = node.value
        if isinstance(node, ast.IfExp):
            parts = [self._add_answer(each, function, depth) for each in (node.body, node.orelse)]
            return all(parts)
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute) and _is_context(node.func.value, function):
            return self._add_own_answer(node, node.func.attr, function)
        called = _function_of(node, function)
        tree = tree_of(called) if called is not None and depth < DEEPEST else None
        if tree is None or called is None:
            return False
        returned = _returned(tree)
        known = [self._add_answer(each, called, depth + 1) for each in returned]
        return bool(known) and all(known)

    def _add_own_answer(self, call: ast.Call, name: str, function: FunctionType) -> bool:
        if name == "not_found":
            self._reading.raised.setdefault(404, Raised())
            return True
        if name not in _ANSWERS:
            return False
        position, media_type = _ANSWERS[name]
        node = argument(call, position, "status")
        status: Any = 302 if name == "redirect" else 200
        if node is not None:
            given = value_of(node, function)
            status = status if given is None else given
        if argument(call, position + 1, "headers") is not None and name != "json":
            media_type = None
        known = int(status) if isinstance(status, int) else None
        self._reading.answers.setdefault(known, set()).add(media_type)
        return True


def _returned(tree: Tree) -> list[ast.expr | None]:
    if isinstance(tree, ast.Lambda):
        return [tree.body]
    return [node.value for node in own_nodes(tree) if isinstance(node, ast.Return)]


def _read_body(reading: Reading, tree: Tree, function: FunctionType) -> None:
    for node in own_nodes(tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            _add_raised(reading, node.exc, function)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            _add_read(reading, node, node.func, function)


def _add_raised(reading: Reading, node: ast.expr, function: FunctionType) -> None:
    call = node if isinstance(node, ast.Call) else None
    kind = value_of(call.func if call else node, function)
    if not (isinstance(kind, type) and issubclass(kind, HTTPException)):
        return
    found = _declared(kind)
    if found is None and call is not None and _takes_status(kind):
        found = _called(call, kind, function)
    for status, raised in (found or {}).items():
        # The first text counts; a problem says more than a text.
        old = reading.raised.setdefault(status, raised)
        if raised.is_problem and not old.is_problem:
            reading.raised[status] = raised


def _declared(kind: type[HTTPException]) -> dict[int, Raised] | None:
    """What a class of exceptions says of itself: by facts, by `status`, or in its `__init__`."""
    is_problem = issubclass(kind, ProblemError)
    facts = facts_of(kind)
    if facts.responses:
        return {
            status: Raised(each, is_problem)
            if isinstance(each, str)
            else Raised(_text_of(kind), is_problem, UNKNOWN if each is None else each)
            for status, each in facts.responses.items()
        }
    status = vars(kind).get("status", getattr(kind, "status", None))
    if isinstance(status, int):
        return {int(status): Raised(_text_of(kind), is_problem)}
    for each in kind.__mro__:
        if each in (HTTPException, ProblemError):
            return None
        constructor = vars(each).get("__init__")
        tree = tree_of(constructor)
        for call in ast.walk(tree) if tree is not None else ():
            if isinstance(call, ast.Call) and _is_super_init(call):
                return _called(call, kind, constructor, _text_of(kind))
    return None


def _takes_status(kind: type) -> bool:
    """Whether the first argument of an exception is its status, as in HTTPException."""
    code = getattr(getattr(kind, "__init__", None), "__code__", None)
    return code is not None and code.co_varnames[1:2] == ("status",)


def _text_of(kind: type) -> str:
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
    status = value_of(argument(call, 0, "status"), function)
    if not isinstance(status, int):
        return None
    is_problem = issubclass(kind, ProblemError)
    message = value_of(argument(call, 1, "title" if is_problem else "message"), function)
    return {int(status): Raised(text or (message if isinstance(message, str) else ""), is_problem)}


def _add_read(
    reading: Reading, call: ast.Call, called: ast.Attribute, function: FunctionType
) -> None:
    if not _is_request(called.value, function):
        return
    if called.attr in _OF_TARGETS:
        name = value_of(argument(call, 0, "key"), function)
        if isinstance(name, str):
            kind: Any = value_of(argument(call, 1, "type"), function)
            kind = str if kind is UNKNOWN else kind
            kind = GenericAlias(list, (kind,)) if called.attr == "queries" else kind
            given = next((each.value for each in call.keywords if each.arg == "default"), None)
            default = value_of(given, function)
            reading.parameters.append(Parameter(_OF_TARGETS[called.attr], name, kind, default))
    elif called.attr == "json":
        kind = value_of(argument(call, 0, "type"), function)
        reading.json = Any if kind is UNKNOWN else kind
    elif called.attr in ("form_data", "parse_body"):
        reading.form = True


def _is_context(node: ast.expr, function: FunctionType) -> bool:
    return isinstance(node, ast.Name) and node.id in _CONTEXTS & {*_parameters(function)}


def _is_request(node: ast.expr, function: FunctionType) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "req" and _is_context(node.value, function)
    return isinstance(node, ast.Name) and node.id in _REQUESTS & {*_parameters(function)}


def _parameters(function: FunctionType) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _function_of(call: ast.Call, function: FunctionType) -> FunctionType | None:
    """The function that is called by a plain name; None for those of Kit and of classes."""
    if not isinstance(call.func, ast.Name):
        return None
    called = innermost(value_of(call.func, function))
    if not isinstance(called, FunctionType):
        return None
    module = called.__module__ or ""
    return None if module == "kit" or module.startswith("kit.") else called
