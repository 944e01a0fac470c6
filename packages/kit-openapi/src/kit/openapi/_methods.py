# SPDX-License-Identifier: MIT
"""Where the operations of a Path Item Object are (OpenAPI 3.2.0, section 4.9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

FIXED_METHODS = frozenset(
    ("GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "QUERY")
)
"""The methods with a field of their own."""

ADDITIONAL = "additionalOperations"
"""The field with the operations of all other methods."""


def move_additional(item: dict[str, Any]) -> None:
    """Moves operations of methods without a field of their own to the field for them.

    Args:
        item: Operation Objects by their methods in lower case; becomes a Path Item Object.
    """
    others = [name for name in item if name.upper() not in FIXED_METHODS]
    if others:
        item[ADDITIONAL] = {name.upper(): item.pop(name) for name in others}


def get_operation(item: Mapping[str, Any], method: str) -> Mapping[str, Any]:
    """Returns the operation of a method.

    Args:
        item: The Path Item Object of OpenAPI 3.2.
        method: The method, in upper case.

    Raises:
        KeyError: If there is none.
    """
    found: Mapping[str, Any]
    found = item[method.lower()] if method in FIXED_METHODS else item[ADDITIONAL][method]
    return found


def iterate_operations(item: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields the operations of a Path Item Object, each with its method in upper case.

    Args:
        item: The object, of OpenAPI 3.2, or of 3.1 with the fields of 3.2 as extensions.
    """
    for name, value in item.items():
        if name in (ADDITIONAL, f"x-{ADDITIONAL}"):
            yield from value.items()
        elif name == "x-query":
            yield "QUERY", value
        elif name.islower() and name.upper() in FIXED_METHODS:
            yield name.upper(), value
