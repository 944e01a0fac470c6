# SPDX-License-Identifier: MIT
"""Finds out which names of a module come from other modules."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from types import ModuleType
from typing import Any

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def imported_names(module: ModuleType) -> frozenset[str]:
    """Returns the names that a module binds by `from ... import` alone.

    Args:
        module: A module that was imported. Of one without source code, nothing is known.
    """
    bindings = _Bindings()
    bindings.visit(_tree(module))
    imported = {*bindings.imported, *(vars(module) if bindings.has_star else ())}
    return frozenset(imported - bindings.own)


def _tree(module: ModuleType) -> ast.Module:
    # Not by inspect, which asks the module for attributes: its `__getattr__` may raise anything.
    spec: Any = vars(module).get("__spec__")
    get_source = getattr(getattr(spec, "loader", None), "get_source", None)
    try:
        return ast.parse((get_source and get_source(spec.name)) or "")
    except (ImportError, OSError, SyntaxError):  # the file was changed or deleted meanwhile
        return ast.parse("")


class _Bindings(ast.NodeVisitor):
    """Collects the names that the code at the top of a module binds, also within `if` and `try`."""

    def __init__(self) -> None:
        self.imported: set[str] = set()
        self.own: set[str] = set()
        self.has_star = False

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.has_star |= alias.name == "*"
            self.imported.add(alias.asname or alias.name)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.own.add(node.id)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, _SCOPES):
            self.own.add(node.name)
        if isinstance(node, (*_SCOPES, ast.Lambda)):
            # Names in it are its own, except those that it declares global.
            self.own.update(_globals(ast.walk(node)))
        else:
            super().visit(node)


def _globals(nodes: Iterable[ast.AST]) -> Iterable[str]:
    return (name for node in nodes if isinstance(node, ast.Global) for name in node.names)
