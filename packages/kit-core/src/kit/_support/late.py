# SPDX-License-Identifier: MIT
"""Imports at first use, at no cost to later uses."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_late(namespace: dict[str, Any], module: str, *names: str) -> None:
    """Puts stand-ins for functions and classes of a module into a namespace.

    The first call of a stand-in imports the module, replaces the stand-in, and is passed on. So
    later calls cost no more than those of a name that was imported at the top.

    Args:
        namespace: The `globals()` of the importing module, which imports the same names under
            `TYPE_CHECKING`, and uses them only for calls.
        module: The module.
        names: The names in it.
    """
    for name in names:
        namespace[name] = _stand_in(namespace, module, name)


def _stand_in(namespace: dict[str, Any], module: str, name: str) -> Any:
    def call_first(*arguments: Any, **keywords: Any) -> Any:
        found = namespace[name] = getattr(import_module(module), name)
        return found(*arguments, **keywords)

    return call_first
