# SPDX-License-Identifier: MIT
"""The tags of operations and of a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._description_checks import find_tag_name
from ._operations import Operation


def find_tags(operation: Operation) -> list[str]:
    """Returns the tags of an operation; without a description, the last part of its prefix."""
    described = operation.described.get("tags")
    if described is not None:
        return [find_tag_name(tag) for tag in described]
    parts = operation.base_path.split("/")
    return [each for each in parts if each and not each.startswith(":")][-1:]


def collect_tags(
    given: Sequence[Mapping[str, Any]], operations: Iterable[Operation]
) -> list[dict[str, Any]]:
    """Returns the Tag Objects of a document: all tags that its operations have.

    Args:
        given: Tag Objects, which come first, and whose members take precedence.
        operations: The operations of the document.

    Raises:
        ValueError: If two descriptions describe one tag in different ways.
    """
    found: dict[str, dict[str, Any]] = {each["name"]: {} for each in given}
    places: dict[str, Operation] = {}
    for operation in operations:
        for tag in operation.described.get("tags", find_tags(operation)):
            if isinstance(tag, str):
                found.setdefault(tag, {"name": tag})
                continue
            name = tag["name"]
            first = places.setdefault(name, operation)
            if first is not operation and found[name] != tag:
                raise ValueError(
                    f"the tag {name!r:.100} is described in two ways, for {first.method} "
                    f"{first.shown.path} and for {operation.method} {operation.shown.path}: "
                    "describe it in one place, and name it elsewhere"
                )
            found[name] = dict(tag)
    return [
        *({**found, **{each["name"]: {**found[each["name"]], **each} for each in given}}).values()
    ]
