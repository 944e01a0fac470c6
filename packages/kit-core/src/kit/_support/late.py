# SPDX-License-Identifier: MIT
"""Imports at first use, at no cost to later uses."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_late(namespace: dict[str, Any], module: str, *names: str) -> None:
    """Puts stand-ins for functions and classes of a module into a namespace.

    The first call of a stand-in imports the module, replaces the stand-in, and calls the real
    object. Later calls cost no more than calls of a name imported at the top.

    Args:
        namespace: The `globals()` of the importing module, which imports the same names under
            `TYPE_CHECKING`, and uses them only for calls.
        module: The module.
        names: The names in it.
    """
    for name in names:
        namespace[name] = _StandIn(namespace, module, name)


class _StandIn:
    # PERF: a nested function would add six objects for the garbage collector instead of one.
    __slots__ = ("_module", "_name", "_namespace")

    def __init__(self, namespace: dict[str, Any], module: str, name: str) -> None:
        self._namespace = namespace
        self._module = module
        self._name = name

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        found = self._namespace[self._name] = getattr(import_module(self._module), self._name)
        return found(*arguments, **keywords)
