# SPDX-License-Identifier: MIT
"""Walks through msgspec's description of a type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def walk_nodes(node: Any) -> Iterator[Any]:
    """Yields a `msgspec.inspect.Type` and all types in it, each once: a class may hold itself."""
    waiting, seen = [node], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        for name in ("type", "item_type", "key_type", "value_type"):
            inner = getattr(each, name, None)
            if inner is not None:
                waiting.append(inner)
        waiting += getattr(each, "types", ())
        waiting += getattr(each, "item_types", ())
        waiting += [field.type for field in getattr(each, "fields", ())]
