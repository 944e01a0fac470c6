# SPDX-License-Identifier: MIT
"""The tags of a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def declare_tags(
    given: Sequence[Mapping[str, Any]], paths: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Returns the Tag Objects of a document: all tags that its operations have.

    Args:
        given: Tag Objects passed to `openapi`, which come first.
        paths: The Paths Object.
    """
    tags = {each["name"]: dict(each) for each in given}
    for item in paths.values():
        for operation in item.values():
            for name in operation.get("tags", ()):
                tags.setdefault(name, {"name": name})
    return [*tags.values()]
