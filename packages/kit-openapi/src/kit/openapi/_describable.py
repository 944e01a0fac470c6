# SPDX-License-Identifier: MIT
"""Which types can be described by a schema, and which is that of uploaded files."""

from __future__ import annotations

from typing import Any

from kit.authoring.models import check_union, find_model
from kit.authoring.recursive_types import is_part
from kit.authoring.text_values import describe_scalar
from kit.interface import File

# Those of `kit.interface.File`, which another class may have.
_OF_FILES = ("name", "type", "size", "last_modified", "stream")


def check_describable(kind: Any) -> None:
    """Rejects a type for which there can be no schema.

    Args:
        kind: The type. A file, see `kit.interface.File`, may be in it.

    Raises:
        TypeError: If neither msgspec nor pydantic can describe it. Without msgspec, only the unions
            of `check_union` are rejected, since nothing else reads the type.
    """
    if find_model(kind) is not None:
        return
    check_union(kind)
    try:
        from msgspec import json
    except ImportError:
        return
    try:
        json.schema_components([kind], schema_hook=_schema_of_file)
    except Exception as error:
        reason = str(error).partition("\n")[0].rstrip(":")
        if reason.startswith("Encoding objects"):
            return  # a default that JSON doesn't have, which schemas leave out
        raise TypeError(reason) from None


def is_file(kind: Any) -> bool:
    """Returns whether a type is the type of uploaded files."""
    return kind is File or (
        isinstance(kind, type) and all(hasattr(kind, name) for name in _OF_FILES)
    )


def _schema_of_file(kind: Any) -> dict[str, Any]:
    if is_file(kind) or kind is object or is_part(kind):  # all of which have a schema
        return {"format": "binary"}  # msgspec takes an empty one for none
    schema = describe_scalar(kind)
    if schema is not None:
        return schema
    raise TypeError(f"{kind!r:.100} isn't a type of data")
