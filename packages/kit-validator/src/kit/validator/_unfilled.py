# SPDX-License-Identifier: MIT
"""Controls of HTML forms that nobody filled in: browsers send empty texts and files for them."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Annotated, Any, Literal, get_args, get_origin

from msgspec import inspect

from kit.authoring.text_values import choice_members

from ._problems import bare, is_union

_TEXTS = (inspect.StrType, inspect.BytesType, inspect.ByteArrayType, inspect.AnyType)
# Validators of pydantic that see what was sent.
_BEFORE = ("BeforeValidator", "PlainValidator", "WrapValidator")
_SECRETS = ("SecretStr", "SecretBytes")


def drop_unfilled(values: dict[str, Any], names: Collection[str]) -> None:
    """Removes what a browser sends for the controls of a form that nobody filled in.

    These are files without a name and content, and empty texts for types that don't accept one,
    such as numbers and dates. They count as absent.

    SPEC: HTML, section 4.10.22.4: a control is sent even if it is empty.

    Args:
        values: The values of the form by name: str, files, and lists of both. The dict is changed.
        names: The names whose empty texts are removed; see `Schema.unfilled`.
    """
    for name, value in [*values.items()]:
        takes_empty = name not in names
        if isinstance(value, list):
            kept = [each for each in value if not is_unfilled(each, takes_empty=takes_empty)]
            if len(kept) < len(value):
                values[name] = kept
                if not kept:
                    del values[name]
        elif is_unfilled(value, takes_empty=takes_empty):
            del values[name]


def is_unfilled(value: Any, *, takes_empty: bool) -> bool:
    """Returns whether a value is that of a control that nobody filled in.

    Args:
        value: The value.
        takes_empty: Whether an empty text is a value.
    """
    if isinstance(value, str):
        return not (value or takes_empty)
    return hasattr(value, "size") and value.size == 0 and not value.name


def takes_empty_text(node: Any) -> bool:
    """Returns whether an empty text is a value of a type of msgspec, or of the items of a list."""
    node = bare(node)
    if is_union(node):
        return any(map(takes_empty_text, node.types))
    if isinstance(node, inspect.CollectionType):
        return takes_empty_text(node.item_type)
    if isinstance(node, inspect.TupleType):
        return any(map(takes_empty_text, node.item_types))
    if isinstance(node, inspect.LiteralType):
        return "" in node.values
    if isinstance(node, inspect.EnumType):
        return any(each.value == "" for each in node.cls)
    if isinstance(node, inspect.CustomType):
        return any(takes_empty_text(inspect.type_info(each)) for each in choice_members(node.cls))
    return isinstance(node, _TEXTS)


def is_json_text(kind: Any) -> bool:
    """Returns whether an `Annotated` type is pydantic's `Json`: a text that contains JSON."""
    return any(
        type(each).__name__ == "Json" and type(each).__module__.startswith("pydantic.")
        for each in getattr(kind, "__metadata__", ())
    )


def sees_what_was_sent(kind: Any) -> bool:
    """Returns whether an `Annotated` type has a validator that pydantic runs before it converts."""
    names = [type(each).__name__ for each in getattr(kind, "__metadata__", ())]
    return is_json_text(kind) or any(name in _BEFORE for name in names)


def takes_empty_text_in_python(kind: Any) -> bool:
    """Returns the same for a type of pydantic; True if a validator sees what was sent."""
    kind = getattr(kind, "__value__", kind)  # an alias created by `type X = ...`
    origin, held = get_origin(kind), get_args(kind)
    if origin is Annotated:
        if is_json_text(kind):
            return False
        return sees_what_was_sent(kind) or takes_empty_text_in_python(held[0])
    if origin is Literal:
        return "" in held
    if origin is not None:  # a union, or a list
        return any(takes_empty_text_in_python(each) for each in held if each is not ...)
    if kind is Any or kind is object or not isinstance(kind, type):
        return kind in (Any, object)
    if issubclass(kind, Enum):
        return any(each.value == "" for each in kind)
    return issubclass(kind, (str, bytes)) or any(each.__name__ in _SECRETS for each in kind.__mro__)
