# SPDX-License-Identifier: MIT
"""Finds the syntax tree of a function, and the values of names in it. Never fails."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import partial
from types import FunctionType
from typing import Any, TypeAlias

Tree: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Functions: TypeAlias = dict[tuple[int, str], list[Tree]]

# By file name, each with the lines that it was read from.
_files: dict[str, tuple[list[str], _Functions]] = {}

UNKNOWN = object()
"""The value of an expression if it is unknown."""

INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
"""Nodes with a body that doesn't run in place."""

_EVALUATED = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Tuple,
    ast.List,
    ast.Constant,
    ast.BinOp,
    ast.BitOr,
    ast.UnaryOp,
    ast.USub,
    ast.Load,
    ast.expr_context,
)


def innermost(handler: Any) -> Any:
    """Returns the function behind wrappers and partial objects.

    Args:
        handler: A handler, or a bound method.
    """
    seen: set[int] = set()
    while id(handler) not in seen:
        seen.add(id(handler))
        if isinstance(handler, partial):
            handler = handler.func
        else:
            handler = getattr(handler, "__wrapped__", getattr(handler, "__func__", handler))
    return handler


def wrappers(handler: Any) -> Iterator[FunctionType]:
    """Yields the functions that decorators of the app put around a handler, outermost first.

    Args:
        handler: A handler.
    """
    end = innermost(handler)
    seen: set[int] = set()
    while handler is not end and id(handler) not in seen:
        seen.add(id(handler))
        if isinstance(handler, FunctionType) and not is_of_kit(handler):
            yield handler
        if isinstance(handler, partial):
            handler = handler.func
        else:
            handler = getattr(handler, "__wrapped__", getattr(handler, "__func__", end))


def is_of_kit(function: FunctionType) -> bool:
    """Returns whether a function is defined in a package of Kit."""
    # functools.wraps gives a wrapper the module of the wrapped function.
    module = str(function.__globals__.get("__name__", ""))
    return module == "kit" or module.startswith("kit.")


def parse_source(function: Any) -> Tree | None:
    """Returns the syntax tree of a function.

    Args:
        function: A plain function; nothing else has a tree.

    Returns:
        The tree; None if the source is missing or has changed, or a line has several lambdas.
    """
    if not isinstance(function, FunctionType):
        return None
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    known = _files.get(code.co_filename)
    if known is None or known[0] is not lines:
        known = _files[code.co_filename] = (lines, _functions("".join(lines)))
    found = known[1].get((code.co_firstlineno, code.co_name), ())
    return found[0] if len(found) == 1 else None


def forget() -> None:
    """Clears the cache of syntax trees, which are large."""
    _files.clear()


def _functions(source: str) -> _Functions:
    """Returns the functions of a file, by first line and name."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: _Functions = {}
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            key = (_first_line(node), getattr(node, "name", "<lambda>"))
            found.setdefault(key, []).append(node)
    return found


def _first_line(tree: Tree) -> int:
    decorators = getattr(tree, "decorator_list", None)
    return decorators[0].lineno if decorators else tree.lineno


def own_nodes(tree: Tree) -> Iterator[ast.AST]:
    """Yields the nodes of a function's body in order, except those of inner functions."""
    body = tree.body if isinstance(tree.body, list) else [tree.body]
    for node in body:
        yield from _walk(node)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, INNER):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _walk(child)


def evaluate_node(node: ast.expr | None, function: FunctionType) -> Any:
    """Returns the value of an expression: a literal, a global name, a type.

    Args:
        node: The expression.
        function: The function that contains it.

    Returns:
        Its value; `UNKNOWN` if it calls something or depends on local variables.
    """
    if node is None:
        return UNKNOWN
    if isinstance(node, ast.Constant):
        return node.value
    if not all(isinstance(each, _EVALUATED) for each in ast.walk(node)):
        return UNKNOWN
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    closure = _closure(function)
    local = {*function.__code__.co_varnames, *function.__code__.co_cellvars} - set(closure)
    if names & local:
        return UNKNOWN
    try:
        code = compile(ast.Expression(node), "<annotation>", "eval")
        # Only names, attributes and subscripts, since an annotation is evaluated.
        return eval(code, function.__globals__, closure)  # noqa: S307
    except Exception:
        return UNKNOWN


def _closure(function: FunctionType) -> dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """Returns an argument of a call, by position or name; None if it is missing."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if len(call.args) > position and not any(isinstance(a, ast.Starred) for a in call.args):
        return call.args[position]
    return None
