# SPDX-License-Identifier: MIT
"""Finds the messages of a WebSocket in the source of its handler. Anything unknown is `Any`.

Functions of the app that the handler names are read as well, e.g. tasks that it starts.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from .._handler_source import DEEPEST
from .._source import UNKNOWN, argument, evaluate_node, innermost, is_of_kit, parse_source
from .members import list_members

_CONNECTIONS = ("ws", "websocket", "socket")
_RECEIVED = ("receive", "receive_json")
_SENT = ("send", "send_json")


def read_messages(handler: Any) -> tuple[list[Any], list[Any]]:
    """Returns the types of received and of sent messages.

    Args:
        handler: The handler of the handshake.
    """
    received: list[Any] = []
    sent: list[Any] = []
    function = innermost(handler)
    if parse_source(function) is None:
        return [Any], [Any]
    _read(function, 0, set(), received, sent)
    return received, sent


def _read(
    function: FunctionType, depth: int, seen: set[Any], received: list[Any], sent: list[Any]
) -> None:
    seen.add(function)
    tree = parse_source(function)
    body = () if tree is None else tree.body if isinstance(tree.body, list) else (tree.body,)
    for node in (each for part in body for each in ast.walk(part)):
        if isinstance(node, (ast.AsyncFor, ast.comprehension)) and _is_connection(node.iter):
            _add(received, Any)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if not _is_connection(node.func.value):
                continue
            if node.func.attr in _RECEIVED:
                _add(received, evaluate_node(argument(node, 0, "type"), function))
            elif node.func.attr in _SENT:
                _add(sent, _find_type(argument(node, 0, "data"), function, node.func.attr))
        elif isinstance(node, ast.Name) and depth < DEEPEST:
            named = innermost(evaluate_node(node, function))
            if isinstance(named, FunctionType) and named not in seen and not is_of_kit(named):
                _read(named, depth + 1, seen, received, sent)


def _is_connection(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in _CONNECTIONS


def _find_type(node: ast.expr | None, function: FunctionType, method: str) -> Any:
    """Returns the type of a sent value: that of a constant, or a class that is called."""
    if isinstance(node, ast.JoinedStr):
        return str if method == "send" else Any
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
        return type(node.value) if method == "send" else Any
    if isinstance(node, ast.Call):
        kind = evaluate_node(node.func, function)
        if isinstance(kind, type) and (method == "send_json" or kind in (str, bytes)):
            return kind
    return Any


def _add(kinds: list[Any], kind: Any) -> None:
    for each in list_members(Any if kind is UNKNOWN else kind):
        if each not in kinds:
            kinds.append(each)
