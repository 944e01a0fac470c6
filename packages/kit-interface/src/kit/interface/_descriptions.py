# SPDX-License-Identifier: MIT
"""Merges the descriptions of functions in front of one another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_BY_NAME = ("responses", "headers", "callbacks", "extensions")


def merge_descriptions(descriptions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Merges descriptions, as in `Facts.describes`.

    Responses, callbacks and extensions are merged by name, headers and parameters member by member.
    Any other field replaces the one before it.

    Args:
        descriptions: The descriptions; later ones take precedence.
    """
    merged: dict[str, Any] = {}
    for each in descriptions:
        for name, value in each.items():
            old = merged.get(name)
            if old is None:
                merged[name] = value
            elif name == "parameters":
                merged[name] = _merge_parameters([*old, *value])
            elif name == "headers":
                merged[name] = {**old, **{key: _merge(old.get(key), value[key]) for key in value}}
            elif name in _BY_NAME:
                merged[name] = {**old, **value}
            else:
                merged[name] = value
    return merged


def _merge(old: Any, new: Any) -> Any:
    """Merges two objects; anything else replaces the first."""
    return {**old, **new} if isinstance(old, Mapping) and isinstance(new, Mapping) else new


def _merge_parameters(parameters: Iterable[Any]) -> list[Any]:
    """Merges parameters that have the same place and name."""
    merged: dict[tuple[Any, Any], Any] = {}
    for each in parameters:
        place, name = each.get("in"), each.get("name")
        # RFC 9110, section 5.1: the names of headers are case-insensitive.
        key = place, name.lower() if place == "header" and isinstance(name, str) else name
        merged[key] = {**merged.get(key, {}), **each}
    return [*merged.values()]
