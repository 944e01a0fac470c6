# SPDX-License-Identifier: MIT
"""Replaces struct defaults that JSON can't represent, since msgspec can't describe them."""

from __future__ import annotations

from typing import Any

import msgspec

from kit.authoring.models import keep_if_unsafe


def with_json_defaults(kind: Any) -> Any:
    """Returns a type with the schema of a struct, without such defaults.

    Args:
        kind: The type.

    Returns:
        A copy of the struct, in which functions create these defaults; any other type unchanged.
    """
    if not isinstance(kind, type) or not issubclass(kind, msgspec.Struct):
        return kind
    fields = msgspec.structs.fields(kind)
    if all(_is_encoded(each.default) for each in fields):
        return kind
    config = kind.__struct_config__
    copy = msgspec.defstruct(
        kind.__name__,
        [(each.name, each.type, _field(each)) for each in fields],
        module=kind.__module__,
        namespace={"__doc__": kind.__doc__, "__qualname__": kind.__qualname__},
        tag=config.tag,
        tag_field=config.tag_field,
        forbid_unknown_fields=config.forbid_unknown_fields,
        array_like=config.array_like,
        kw_only=not config.array_like,
    )
    keep_if_unsafe(copy, (each.type for each in fields))
    return copy


def _field(field: msgspec.structs.FieldInfo) -> Any:
    name = field.encode_name
    if field.default_factory is not msgspec.NODEFAULT:
        return msgspec.field(default_factory=field.default_factory, name=name)
    if not _is_encoded(field.default):
        return msgspec.field(default_factory=lambda: field.default, name=name)
    return msgspec.field(default=field.default, name=name)


def _is_encoded(default: Any) -> bool:
    if default is msgspec.NODEFAULT or default is msgspec.UNSET:
        return True
    try:
        msgspec.to_builtins(default, str_keys=True)
    except Exception:
        return False
    return True
