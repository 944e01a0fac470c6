# SPDX-License-Identifier: MIT
"""Which types can be described by a schema, and which is that of uploaded files."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from kit.authoring.models import check_union, find_model
from kit.authoring.recursive_types import is_part
from kit.authoring.text_values import describe_scalar
from kit.interface import Codecs, File

# Those of `kit.interface.File`, which another class may have.
_OF_FILES = ("name", "type", "size", "last_modified", "stream")


def check_describable(kind: Any, codecs: Codecs | None = None) -> None:
    """Rejects a type for which there can be no schema.

    Args:
        kind: The type. A file, see `kit.interface.File`, may be in it.
        codecs: The encoders and decoders of the app; None if the app isn't known yet, which may
            have an encoder for any class.

    Raises:
        TypeError: If neither msgspec nor pydantic can describe it. Without msgspec, only the unions
            of `check_union` are rejected, since nothing else reads the type.
    """
    if find_spec("msgspec") is None:
        if find_model(kind) is None:
            check_union(kind)
        return
    with suppress(Exception):  # pydantic doesn't know a class in it, but msgspec may
        if find_model(kind) is not None:
            return
    check_union(kind)
    _check_with_msgspec(kind, codecs)


def _check_with_msgspec(kind: Any, codecs: Codecs | None) -> None:
    from msgspec import json

    from ._mixed_unions import find_members, separate_unions

    def describe(each: Any) -> dict[str, Any]:
        members = find_members(each)
        for member in members:
            if member is not kind:
                check_describable(member, codecs)
        has_schema = codecs is None or is_file(each) or each is object or is_part(each)
        is_known = members or has_schema or hasattr(each, "__pydantic_validator__")
        if is_known or _is_converted(each, codecs):
            return {"format": "binary"}  # msgspec takes an empty one for none
        raise TypeError(f"{each!r:.100} isn't a type of data")

    try:
        json.schema_components([separate_unions(kind)], schema_hook=describe)
    except Exception as error:
        reason = str(error).partition("\n")[0].rstrip(":")
        if reason.startswith("Encoding objects"):
            return  # a default that JSON doesn't have, which schemas leave out
        raise TypeError(reason) from None


def _is_converted(kind: Any, codecs: Any) -> bool:
    is_known = codecs.find_json_type(kind, is_sent=False) is not None
    return is_known or describe_scalar(kind) is not None


def is_file(kind: Any) -> bool:
    """Returns whether a type is the type of uploaded files."""
    return kind is File or (
        isinstance(kind, type) and all(hasattr(kind, name) for name in _OF_FILES)
    )
