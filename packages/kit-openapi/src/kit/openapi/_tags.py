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
    """Returns the Tag Objects of a document: first the given ones, then those of descriptions.

    Args:
        given: Tag Objects; their members take precedence.
        operations: The operations of the document.

    Raises:
        ValueError: If two descriptions describe one tag in different ways.
    """
    found: dict[str, tuple[Mapping[str, Any], Operation]] = {}
    for operation in operations:
        for tag in operation.described.get("tags", ()):
            if isinstance(tag, Mapping):
                other, first = found.setdefault(tag["name"], (tag, operation))
                if other != tag:
                    raise ValueError(
                        f"the tag {tag['name']!r:.100} is described in two ways, for "
                        f"{first.method} {first.shown.path} and for {operation.method} "
                        f"{operation.shown.path}: describe it in one place, and name it elsewhere"
                    )
    own = {tag["name"]: dict(found[tag["name"]][0]) for tag in given if tag["name"] in found}
    merged = [{**own.get(tag["name"], {}), **tag} for tag in given]
    return merged + [dict(tag) for name, (tag, _) in found.items() if name not in own]
