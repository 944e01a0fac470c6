# SPDX-License-Identifier: MIT
"""Finds the responses of raised exceptions: from the class, or from the arguments."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from kit.interface import HTTPException, ProblemError
from kit.interface.metadata import get_facts

from ._catching import Catchers, is_caught
from ._docstrings import parse
from ._source import UNKNOWN, argument, evaluate_node, parse_source


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


def find_raised(node: ast.expr, function: FunctionType, catchers: Catchers) -> dict[int, Raised]:
    """Returns the responses of a raised exception by status; empty if it isn't known.

    Args:
        node: The raised expression.
        function: The function that contains it.
        catchers: The handlers for exceptions around it.
    """
    call = node if isinstance(node, ast.Call) else None
    kind = evaluate_node(call.func if call else node, function)
    if not (isinstance(kind, type) and issubclass(kind, HTTPException)):
        return {}
    if is_caught(kind, catchers):
        return {}
    found = _declared(kind)
    if found is None and call is not None and _takes_status(kind):
        found = _called(call, kind, function)
    return found or {}


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
