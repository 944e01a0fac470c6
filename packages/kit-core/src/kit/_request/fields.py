# SPDX-License-Identifier: MIT
"""Parses query strings."""

from __future__ import annotations

from kit.interface.paths import decode_component


def decode_query(text: str) -> str:
    """Decodes a name or value of a query; `+` stands for a space."""
    return decode_component(text.replace("+", " ")) if "+" in text or "%" in text else text


def query_pairs(query: str) -> list[tuple[str, str]]:
    """Returns decoded names and values in order; pairs with an empty name are dropped."""
    pairs = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name:
            pairs.append((decode_query(name), decode_query(value)))
    return [pair for pair in pairs if pair[0]]


def query_value(query: str, key: str) -> str | None:
    """Returns the first value of a key, or None.

    Args:
        query: The query string without `?`.
        key: The decoded key.
    """
    if not key:
        return None
    is_plain = "%" not in key and "+" not in key
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if is_plain and name == key:
            return decode_query(value)
        if ("%" in name or "+" in name) and decode_query(name) == key:
            return decode_query(value)
    return None
