# SPDX-License-Identifier: MIT
"""Finds all options of public functions that take a function, in all packages."""

from __future__ import annotations

import builtins
import collections.abc
import functools
import importlib
import inspect
import re
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PACKAGES = Path(__file__).parents[2] / "packages"
_NAMES = re.compile(r"[A-Za-z_][\w.]*")


def callable_options() -> list[str]:
    """Returns each option once, as `module:function(option)`.

    An option takes a function if `Callable` occurs in its annotation, directly, by the name of an
    alias or in a TypedDict.
    """
    seen: set[tuple[str, str]] = set()
    found = []
    for module in _modules():
        for name, function in _functions(module):
            own = inspect.unwrap(getattr(function, "__func__", function))
            own = inspect.unwrap(own.__init__) if isinstance(own, type) else own
            scope = getattr(own, "__globals__", None) or vars(module)
            place = f"{getattr(own, '__module__', '')}.{getattr(own, '__qualname__', id(own))}"
            for each in _parameters(own):
                key = (place, each.name)
                if key not in seen and _takes_function(each.annotation, scope):
                    seen.add(key)
                    found.append(f"{module.__name__}:{name}({each.name})")
    return sorted(found)


def _parameters(function: Any) -> Iterator[inspect.Parameter]:
    """Yields the parameters of a function and of its overloads."""
    for each in (function, *_overloads(function)):
        try:
            yield from inspect.signature(each).parameters.values()
        except (TypeError, ValueError):
            continue


def _overloads(function: Any) -> list[Any]:
    try:
        return list(typing.get_overloads(function))
    except AttributeError:  # an object
        return []


def _modules() -> list[Any]:
    names = set()
    for file in _PACKAGES.glob("*/src/kit/**/*.py"):
        parts = file.with_suffix("").parts
        parts = parts[parts.index("src") + 1 :]
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if not any(part.startswith("_") for part in parts):
            names.add(".".join(parts))
    return [importlib.import_module(name) for name in sorted(names)]


def _functions(module: Any) -> Iterator[tuple[str, Any]]:
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name, None)
        if isinstance(value, type):
            if not typing.is_typeddict(value) and not getattr(value, "_is_protocol", False):
                yield name, value
                for method in dir(value):
                    if not method.startswith("_") and callable(getattr(value, method)):
                        yield f"{name}.{method}", getattr(value, method)
        elif callable(value):
            yield name, value


def _takes_function(annotation: Any, scope: dict[str, Any], depth: int = 0) -> bool:
    if annotation is collections.abc.Callable or annotation is typing.Callable:
        return True
    if depth > 8 or annotation is inspect.Parameter.empty:
        return False
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        return any(
            _takes_function(_lookup(name, scope), scope, depth + 1)
            for name in _NAMES.findall(annotation)
        )
    if typing.is_typeddict(annotation):
        own = vars(importlib.import_module(annotation.__module__))
        return any(_takes_function(each, own, depth + 1) for each in _fields(annotation))
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        return False
    parts = (typing.get_origin(annotation), *typing.get_args(annotation))
    return any(part is not None and _takes_function(part, scope, depth + 1) for part in parts)


def _fields(kind: Any) -> Iterator[Any]:
    for each in kind.__mro__:
        yield from getattr(each, "__annotations__", {}).values()


def _lookup(name: str, scope: dict[str, Any]) -> Any:
    first, *rest = name.split(".")
    # Some names are imported for type checkers only.
    value = scope.get(first, getattr(builtins, first, _aliases().get(first)))
    for each in rest:
        value = getattr(value, each, None)
    return value


@functools.cache
def _aliases() -> dict[str, Any]:
    """Returns what all modules of the packages define, by name."""
    modules = [each for name, each in sorted(sys.modules.items()) if name.startswith("kit.")]
    return {name: value for each in modules for name, value in vars(each).items()}
