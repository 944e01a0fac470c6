# SPDX-License-Identifier: MIT
"""Finds exceptions that never leave a function, because surrounding code catches them."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from types import FunctionType
from typing import Any, NamedTuple, TypeAlias

from kit.interface import HTTPException, ProblemError

from ._source import INNER, UNKNOWN, Tree, evaluate_node

# Placeholder for a class that is imported within the function.
_BY_NAME = {each.__name__: each for each in (HTTPException, ProblemError, Exception, BaseException)}


class _Handler(NamedTuple):
    """An `except`.

    Attributes:
        kinds: The exceptions that it catches.
        raises_again: Whether it raises the caught exception again.
    """

    kinds: tuple[type, ...]
    raises_again: bool


Catchers: TypeAlias = tuple[tuple[_Handler, ...], ...]
"""The `try` statements around a statement, the outermost first: the handlers of each, in order."""


def nodes_in_try(tree: Tree, function: FunctionType) -> Iterator[tuple[ast.AST, Catchers]]:
    """Yields the nodes of a function's body, each with the handlers for its exceptions.

    Args:
        tree: The syntax tree of the function.
        function: The function.
    """
    body = tree.body if isinstance(tree.body, list) else [tree.body]
    for node in body:
        yield from _walk(node, function, ())


def is_caught(kind: type, catchers: Catchers) -> bool:
    """Returns whether exceptions of a class are caught and not raised again.

    Args:
        kind: The class.
        catchers: The handlers around the statement that raises it.
    """
    for handlers in reversed(catchers):
        found = next((each for each in handlers if issubclass(kind, each.kinds)), None)
        if found is not None and not found.raises_again:
            return True
    return False


def _walk(
    node: ast.AST, function: FunctionType, catchers: Catchers
) -> Iterator[tuple[ast.AST, Catchers]]:
    if isinstance(node, INNER):
        return
    yield node, catchers
    within = (*catchers, *_around(node, function))
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child, function, within if name == "body" else catchers)


def _around(node: ast.AST, function: FunctionType) -> Catchers:
    if isinstance(node, ast.Try | ast.TryStar):
        return (tuple(_handler(each, function) for each in node.handlers),)
    if isinstance(node, ast.With | ast.AsyncWith):
        calls = [each.context_expr for each in node.items]
        return tuple(
            (_Handler(_kinds(each.args, function), raises_again=False),)
            for each in calls
            if isinstance(each, ast.Call)
            and evaluate_node(each.func, function) is contextlib.suppress
        )
    return ()


def _handler(handler: ast.ExceptHandler, function: FunctionType) -> _Handler:
    kinds: Sequence[ast.expr] = ()
    if handler.type is not None:
        is_several = isinstance(handler.type, ast.Tuple)
        kinds = handler.type.elts if is_several else [handler.type]  # type: ignore[attr-defined]
    caught = _kinds(kinds, function) if handler.type is not None else (BaseException,)
    return _Handler(caught, any(_passes_on(each, handler.name) for each in ast.walk(handler)))


def _kinds(nodes: Sequence[ast.expr], function: FunctionType) -> tuple[type, ...]:
    found: list[type] = []
    for node in nodes:
        value: Any = evaluate_node(node, function)
        if value is UNKNOWN:
            value = _BY_NAME.get(getattr(node, "attr", getattr(node, "id", "")))
        values = value if isinstance(value, tuple) else (value,)
        found += [each for each in values if isinstance(each, type)]
    return tuple(found)


def _passes_on(node: ast.AST, name: str | None) -> bool:
    if not isinstance(node, ast.Raise):
        return False
    return node.exc is None or (name is not None and getattr(node.exc, "id", None) == name)
