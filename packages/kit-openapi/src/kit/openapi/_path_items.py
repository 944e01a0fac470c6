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


def put_operation(item: dict[str, Any], method: str, operation: dict[str, Any]) -> None:
    """Adds an operation to a Path Item Object.

    Args:
        item: The object.
        method: The method, in upper case.
        operation: The Operation Object.
    """
    if method in FIXED_METHODS:
        item[method.lower()] = operation
    else:
        item.setdefault(ADDITIONAL, {})[method] = operation


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
