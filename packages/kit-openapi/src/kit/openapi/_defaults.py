# SPDX-License-Identifier: MIT
"""The defaults of fields as JSON values.

`with_json_defaults` replaces struct defaults that JSON can't represent, since msgspec can't
describe them. `find_made_default` finds those that functions make.
"""

from __future__ import annotations

import copy
import dataclasses
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NotRequired, Required, get_args, get_origin, get_type_hints

import msgspec

from kit.authoring.models import keep_if_unsafe

_LEFT_OUT = {"default": msgspec.UNSET}

# What each call of these returns is the same.
_MAKERS = (list, dict, set, frozenset, tuple, str, int, float, bool)


def find_made_default(factory: Any) -> Any:
    """Returns the default that a function makes, as a JSON value.

    Args:
        factory: The `default_factory` of a field.

    Returns:
        The value; None if calls may return different ones, or JSON can't represent it.
    """
    if not _is_stable(factory, ()):
        return None
    try:
        return msgspec.to_builtins(factory(), str_keys=True)
    except Exception:  # also one that a class raises
        return None


def _is_stable(factory: Any, within: tuple[Any, ...]) -> bool:
    """Returns whether each call returns the same: of built-in types, and of classes with defaults.

    A copy of a value does as well, as typed endpoints make it of a list. A function such as
    `uuid4` doesn't, and a document has to.
    """
    if factory in _MAKERS or (isinstance(factory, partial) and factory.func is copy.deepcopy):
        return True
    if not isinstance(factory, type) or factory in within or hasattr(factory, "__post_init__"):
        return False
    fields: Iterable[Any] = ()
    missing: Any = msgspec.NODEFAULT
    if issubclass(factory, msgspec.Struct):
        fields = msgspec.structs.fields(factory)
    elif dataclasses.is_dataclass(factory):
        fields, missing = dataclasses.fields(factory), dataclasses.MISSING
    else:
        return False
    return all(
        each.default_factory is missing or _is_stable(each.default_factory, (*within, factory))
        for each in fields
    )


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
    return copy_with_types(kind, fields, {each.name: each.type for each in fields})


def list_fields(kind: type) -> Iterable[msgspec.structs.FieldInfo]:
    """Returns the fields of a class with fields, as those of a Struct.

    Args:
        kind: A Struct, a dataclass, an attrs class, a TypedDict or a named tuple.
    """
    if issubclass(kind, msgspec.Struct):
        return msgspec.structs.fields(kind)
    own: Any = kind
    hints = get_type_hints(kind, include_extras=True)
    if hasattr(kind, "__total__"):  # a TypedDict, also of typing_extensions
        return [
            _info(name, get_args(hint)[0], {} if get_origin(hint) is Required else _LEFT_OUT)
            if get_origin(hint) in (Required, NotRequired)
            else _info(name, hint, {} if name in own.__required_keys__ else _LEFT_OUT)
            for name, hint in hints.items()
        ]
    found: dict[str, dict[str, Any]] = {}
    if hasattr(kind, "__attrs_attrs__"):
        for each in own.__attrs_attrs__:
            made = getattr(each.default, "factory", None)
            found[each.name] = (
                {"default": each.default} if made is None else {"default_factory": made}
            )
            if each.default is sys.modules["attrs"].NOTHING:
                found[each.name] = {}
    elif dataclasses.is_dataclass(kind):
        for each in dataclasses.fields(kind):
            given = {"default": each.default, "default_factory": each.default_factory}
            found[each.name] = {
                name: value for name, value in given.items() if value is not dataclasses.MISSING
            }
    else:
        for name in own._fields:
            defaults = own._field_defaults
            found[name] = {"default": defaults[name]} if name in defaults else {}
    return [_info(name, hints.get(name, Any), each) for name, each in found.items()]


def _info(name: str, kind: Any, default: Mapping[str, Any]) -> msgspec.structs.FieldInfo:
    return msgspec.structs.FieldInfo(name=name, encode_name=name, type=kind, **default)


def copy_with_types(
    kind: type, fields: Iterable[msgspec.structs.FieldInfo], types: Mapping[str, Any]
) -> type:
    """Returns a Struct like a class, for schemas.

    Args:
        kind: The class.
        fields: Its fields; see `list_fields`.
        types: Their types by name, which may be others.
    """
    config: Any = getattr(kind, "__struct_config__", None)
    is_array = hasattr(kind, "_fields") or getattr(config, "array_like", False)
    # Not the signature that a dataclass has in place of a docstring.
    doc = kind.__doc__ if not (kind.__doc__ or "").startswith(f"{kind.__name__}(") else None
    copy = msgspec.defstruct(
        kind.__name__,
        [(each.name, types[each.name], _field(each)) for each in fields],
        module=kind.__module__,
        namespace={"__doc__": doc, "__qualname__": kind.__qualname__},
        tag=getattr(config, "tag", None),
        tag_field=getattr(config, "tag_field", None),
        forbid_unknown_fields=getattr(config, "forbid_unknown_fields", False),
        omit_defaults=getattr(config, "omit_defaults", False),
        array_like=is_array,
        kw_only=not is_array,
    )
    keep_if_unsafe(copy, types.values())
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
