# SPDX-License-Identifier: MIT
"""Parses query strings."""

from __future__ import annotations

from kit.http.paths import decode_component


def decode_query(text: str) -> str:
    """Decodes a name or value of a query; `+` stands for a space."""
    if "+" in text:
        text = text.replace("+", " ")
    return decode_component(text) if "%" in text else text


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
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name == key if "%" not in name and "+" not in name else decode_query(name) == key:
            return decode_query(value) if "+" in value or "%" in value else value
    return None
