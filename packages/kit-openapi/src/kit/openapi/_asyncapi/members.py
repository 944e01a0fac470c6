# SPDX-License-Identifier: MIT
"""The members of a union of messages."""

from __future__ import annotations

from types import UnionType
from typing import Any, Union, get_args, get_origin


def list_members(kind: Any) -> list[Any]:
    """Returns the members of a union, also behind an alias; of another type, the type itself."""
    alias = getattr(kind, "__value__", None)
    if alias is not None and not isinstance(kind, type):
        return list_members(alias)
    if get_origin(kind) in (Union, UnionType):
        return [member for each in get_args(kind) for member in list_members(each)]
    return [kind]
