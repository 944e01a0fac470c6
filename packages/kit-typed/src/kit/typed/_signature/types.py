# SPDX-License-Identifier: MIT
"""The meaning of an annotation: its values and constraints."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import types
import uuid
from collections import abc
from collections.abc import Container, Iterator
from importlib import import_module
from typing import (
    Annotated,
    Any,
    Literal,
    NewType,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from kit.authoring.models import find_model, is_read_by_pydantic
from kit.authoring.numerals import RULES, DecimalRules, decimal_rules
from kit.authoring.recursive_types import is_part
from kit.authoring.text_values import is_scalar, with_choices

from .socket import Socket

_SINGLE = (
    str,
    int,
    float,
    bool,
    bytes,
    types.NoneType,
    datetime.date,
    datetime.datetime,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    enum.Enum,
    uuid.UUID,
    msgspec.UnsetType,
)
_MANY = (list, tuple, set, frozenset, collections.deque)
_MANY_ABSTRACT = (abc.Iterable, abc.Collection, abc.Sequence, abc.MutableSequence, abc.Set)
_MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)
# Attributes of dataclasses, Structs, attrs classes, named tuples and pydantic models.
_OBJECTS = (
    "__dataclass_fields__",
    "__struct_fields__",
    "__attrs_attrs__",
    "_fields",
    "model_validate_json",
)
_FILE = {"array_buffer", "last_modified", "name", "size"}
_CONTEXT = {"add_cleanup", "execution_ctx", "matched_routes", "req"}
_WEBSOCKET = {"__aiter__", "close", "ready_state", "receive_json", "send_json"}
_CONSTRAINTS = ("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "pattern", "tz")
_DIGITS = ("max_digits", "decimal_places")  # of Decimals
# The libraries whose metadata are rules; metadata of others is ignored.
_RULES = ("annotated_types", "pydantic")
_WITHOUT_RULE = ("DocInfo", "SkipJsonSchema", "Unit", "WithJsonSchema")
_TOLD = ("title", "description", "examples", "extra_json_schema", "extra")

Kind = Literal["single", "many", "object", "file", "context", "websocket", "unknown"]


def split(annotation: Any) -> tuple[Any, list[Any]]:
    """Splits an annotation into a type and the metadata of `Annotated`, also behind an alias."""
    if get_origin(annotation) is Annotated:
        kind, *metadata = get_args(annotation)
        inner, before = split(kind)
        return inner, before + metadata
    value = aliased(annotation)
    if value is not None:
        kind, metadata = split(value)
        if metadata:
            return kind, metadata
    return annotation, []


def aliased(annotation: Any) -> Any:
    """Returns the type behind an alias, `type X = ...`; None if it isn't an alias."""
    origin = get_origin(annotation)
    alias = annotation if origin is None else origin
    if isinstance(alias, type) or isinstance(annotation, type):
        return None
    value = getattr(alias, "__value__", None)
    if value is None or origin is None:
        return value
    return _substituted(value, dict(zip(alias.__type_params__, get_args(annotation), strict=False)))


def inner_metadata(annotation: Any, seen: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Yields the metadata of the types within a type, e.g. those in a list or a union."""
    value = aliased(annotation)
    if value is not None:
        held = () if annotation in seen else (value,)
        seen = (*seen, annotation)
    else:
        held = () if get_origin(annotation) is Literal else get_args(annotation)
    for each in held:
        kind, metadata = split(each)
        yield from metadata
        yield from inner_metadata(kind, seen)


def classify(annotation: Any, decoded: Container[type] = ()) -> Kind:
    """Returns the kind of value of an annotation.

    `single` is built from one string, `many` from several; `object` has named fields, or contains
    such objects.

    Args:
        annotation: The annotation.
        decoded: The classes that decoders of the app build from a string.
    """
    origin = get_origin(annotation)
    if origin is Annotated:
        kind, *metadata = get_args(annotation)
        if any(map(is_json_text, metadata)):
            return "single"
        found = classify(kind, decoded)
        # Its metadata may have a validator that builds a value of any class.
        return "single" if found == "unknown" and find_model(annotation) is not None else found
    behind = annotation.__supertype__ if isinstance(annotation, NewType) else aliased(annotation)
    if behind is not None:
        return classify(behind, decoded)
    if origin is Literal:
        return "single"
    if origin in (Union, types.UnionType):
        held = [each for each in get_args(annotation) if each is not None]
        return _kind_of_union({classify(each, decoded) for each in held})
    kind = annotation if origin is None else origin
    if annotation is None:
        return "single"
    if not isinstance(kind, type):
        return "unknown"
    return "single" if kind in decoded else _kind_of_class(kind, get_args(annotation), decoded)


def _kind_of_union(kinds: set[Kind]) -> Kind:
    for kind in ("unknown", "context", "websocket", "file", "object", "many"):
        if kind in kinds:
            return kind
    return "single"


def _kind_of_class(kind: type, arguments: tuple[Any, ...], decoded: Container[type]) -> Kind:
    if _has(kind, _WEBSOCKET) or issubclass(kind, Socket):
        return "websocket"
    if is_typed_dict(kind) or any(hasattr(kind, mark) for mark in _OBJECTS):
        return "context" if _has(kind, _CONTEXT) else "object"
    if kind in _MAPPINGS or kind is msgspec.Raw or is_part(kind):
        return "object"
    if issubclass(kind, _MANY) or kind in _MANY_ABSTRACT:
        inner = _kind_of_union({classify(each, decoded) for each in arguments if each is not ...})
        return "many" if inner == "single" else inner
    if issubclass(kind, _SINGLE) or is_scalar(kind) or is_read_by_pydantic(kind):
        return "single"
    if _has(kind, _CONTEXT):
        return "context"
    return "file" if _has(kind, _FILE) else "unknown"


def is_json_text(item: Any) -> bool:
    """Returns whether an item of `Annotated` is pydantic's `Json`: a text that contains JSON."""
    return type(item).__name__ == "Json" and _root(item) == "pydantic"


def is_typed_dict(kind: Any) -> bool:
    """Returns whether a type is a TypedDict, also one of typing_extensions."""
    is_dict = isinstance(kind, type) and issubclass(kind, dict)
    return is_dict and hasattr(kind, "__required_keys__")


def is_object(annotation: Any) -> bool:
    """Returns whether an annotation is a class with fields, possibly a generic one."""
    kind = get_origin(annotation) or annotation
    is_class = isinstance(kind, type)
    return is_class and (is_typed_dict(kind) or any(hasattr(kind, mark) for mark in _OBJECTS))


def _has(kind: type, names: set[str]) -> bool:
    return all(hasattr(kind, name) for name in names)


def takes_many(annotation: Any) -> bool:
    """Returns whether an annotation takes all values with a name: a list, or a union with one."""
    origin = get_origin(annotation)
    if origin is Annotated and any(map(is_json_text, annotation.__metadata__)):
        return False
    if origin in (Annotated, Union, types.UnionType):
        return any(map(takes_many, get_args(annotation)))
    behind = aliased(annotation)
    if behind is not None:
        return takes_many(behind)
    kind = annotation if origin is None else origin
    if not isinstance(kind, type) or hasattr(kind, "_fields"):
        return False
    return issubclass(kind, _MANY) or kind in _MANY_ABSTRACT


def is_type(value: Any) -> bool:
    """Returns whether a value is a type, such as one of an annotation."""
    is_special = value is Any or hasattr(value, "__supertype__")  # a NewType
    return (
        is_special or isinstance(value, type) or (get_origin(value) or aliased(value)) is not None
    )


def is_mapping(annotation: Any) -> bool:
    """Returns whether an annotation is a dict, or an abstract mapping."""
    return (get_origin(annotation) or annotation) in _MAPPINGS


def has_literal_bool(annotation: Any) -> bool:
    """Returns whether a Literal contains True or False, to which text is never converted."""
    behind = aliased(annotation)
    if behind is not None:
        return has_literal_bool(behind)
    held = get_args(annotation)
    if get_origin(annotation) is Literal:
        return any(isinstance(each, bool) for each in held)
    return any(map(has_literal_bool, held))


def holds(annotation: Any, kind: type) -> bool:
    """Returns whether an annotation is a type, or has it in a union or a list."""
    behind = aliased(annotation)
    if behind is not None:
        return holds(behind, kind)
    if get_origin(annotation) is not None:
        return any(holds(each, kind) for each in get_args(annotation))
    return annotation is kind


def never_fits(provided: Any, wanted: Any) -> bool:
    """Returns whether no value of one type can be a value of another.

    Types that can't be compared here, such as a Protocol, may always fit.

    Args:
        provided: The type of the existing values.
        wanted: The type that is expected.
    """
    ours, theirs = find_classes(provided), find_classes(wanted)
    if not ours or not theirs:
        return False
    return not any(_overlap(one, other) for one in ours for other in theirs)


def find_classes(annotation: Any) -> tuple[type, ...] | None:
    """Returns the classes of the values of a type, without None; None if they aren't known."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return find_classes(get_args(annotation)[0])
    behind = annotation.__supertype__ if isinstance(annotation, NewType) else aliased(annotation)
    if behind is not None:
        return find_classes(behind)
    if origin in (Union, types.UnionType):
        members = [find_classes(each) for each in get_args(annotation)]
        if any(each is None for each in members):
            return None
        return tuple(kind for each in members for kind in each or ())
    if origin is Literal:
        return tuple({type(each) for each in get_args(annotation)} - {types.NoneType})
    if annotation is None or annotation is types.NoneType:
        return ()
    kind = annotation if origin is None else origin
    if not isinstance(kind, type) or kind in (Any, object) or getattr(kind, "_is_protocol", False):
        return None
    return (dict,) if is_typed_dict(kind) else (kind,)


def _overlap(one: type, other: type) -> bool:
    """Returns whether an object may be of both classes; an int also stands for a float."""
    numbers = (int, float, complex)
    if one in numbers and other in numbers:
        return numbers.index(one) <= numbers.index(other)
    return issubclass(one, other) or issubclass(other, one)


def allows_none(annotation: Any) -> bool:
    """Returns whether None is one of the values."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return allows_none(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return any(map(allows_none, get_args(annotation)))
    if origin is Literal:
        return None in get_args(annotation)
    behind = aliased(annotation)
    if behind is not None:
        return allows_none(behind)
    return annotation is None or annotation is types.NoneType or annotation is Any


def without_none(annotation: Any) -> Any:
    """Returns a type without None and without the metadata of `Annotated`."""
    if get_origin(annotation) is Annotated:
        return without_none(get_args(annotation)[0])
    behind = aliased(annotation)
    if behind is not None:
        return without_none(behind) if allows_none(behind) else annotation
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation
    members = [each for each in get_args(annotation) if each is not types.NoneType]
    return Union[tuple(members)]  # noqa: UP007 - of a tuple


def find_hints(kind: Any) -> dict[str, Any]:
    """Returns the types of the fields of a class, with the arguments of a generic one."""
    origin = get_origin(kind) or kind
    hints = get_type_hints(origin, include_extras=True)
    own = getattr(origin, "__annotations__", {})
    for base in reversed(vars(origin).get("__orig_bases__", origin.__bases__)):
        if isinstance(get_origin(base) or base, type):
            inherited = find_hints(base)
            hints.update({name: inherited[name] for name in inherited.keys() - own.keys()})
    arguments = dict(zip(getattr(origin, "__parameters__", ()), get_args(kind), strict=False))
    return {name: _substituted(_unqualified(hint), arguments) for name, hint in hints.items()}


def _unqualified(hint: Any) -> Any:
    """Returns the type of a field of a TypedDict without `NotRequired` and the like."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, metadata = split(hint)
        kind = _unqualified(inner)
        if kind is inner:
            return hint
        for each in metadata:
            kind = Annotated[kind, each]
        return kind
    # Compared by name, since typing_extensions has its own objects on older versions of Python.
    is_qualifier = getattr(origin, "_name", None) in ("NotRequired", "Required", "ReadOnly")
    return _unqualified(get_args(hint)[0]) if is_qualifier else hint


def _substituted(hint: Any, arguments: dict[Any, Any]) -> Any:
    """Replaces the type variables in a type."""
    if isinstance(hint, TypeVar):
        return arguments.get(hint, hint)
    held = () if isinstance(hint, type) else getattr(hint, "__parameters__", ())
    return hint[tuple(arguments.get(each, each) for each in held)] if held else hint


class RuleError(TypeError):
    """A rule in an annotation that would not be applied."""


class UnappliedRuleError(RuleError):
    """A rule that msgspec can't apply, but pydantic may."""


def constrained(kind: Any, metadata: list[Any], own: msgspec.Meta | None) -> Any:
    """Returns a type with its metadata, in the form of the library that validates it.

    Constraints of `annotated_types` and of pydantic's `Field` become msgspec constraints, also
    within lists and unions. Constraints of a union go to its members, since msgspec rejects them
    for the union. A pydantic type keeps its metadata, and msgspec constraints become pydantic
    constraints.

    Args:
        kind: The type.
        metadata: The metadata in its `Annotated`.
        own: The constraints of a marker.

    Raises:
        RuleError: If pydantic's metadata has a rule that msgspec can't apply.
    """
    if find_model(kind) is not None:
        return of_pydantic(kind, metadata, own)
    found = [meta for each in metadata for meta in find_rules(each)]
    if own is not None:
        found.append(own)
    limits = [meta for each in found for meta in _limits(each)]
    found = [meta for meta in found if RULES not in (meta.extra or {})] + [
        msgspec.Meta(**told) for meta in found if (told := _told_beside_rules(meta))
    ]
    kind = _translated(kind)
    if get_origin(kind) in (Union, types.UnionType):
        members = [
            each if each is types.NoneType else _with(each, limits) for each in get_args(kind)
        ]
        kind = Union[tuple(members)]  # noqa: UP007 - of a tuple
    else:
        kind = _with(kind, limits)
    return _with(with_choices(kind), [meta for each in found for meta in _only(each, _TOLD)])


def of_pydantic(kind: Any, metadata: list[Any], own: msgspec.Meta | None) -> Any:
    """Returns a type for pydantic with its metadata; msgspec constraints become pydantic's."""
    # Already imported, since the type comes from it; type checkers may not have it.
    pydantic: Any = import_module("pydantic")

    rules = [each for each in metadata if _root(each) in _RULES or is_read_by_pydantic(each)]
    metas = [each for each in [*metadata, own] if isinstance(each, msgspec.Meta)]
    for meta in metas:
        limits = {name: v for name in _CONSTRAINTS if (v := getattr(meta, name)) is not None}
        digits = (meta.extra or {}).get(RULES)
        if digits is not None:
            limits |= {name: v for name, v in digits._asdict().items() if v is not None}
        if limits:
            rules.append(pydantic.Field(**limits))
    for rule in rules:
        kind = Annotated[kind, rule]
    return _with(kind, [told for meta in metas for told in _only(meta, _TOLD)])


def for_pydantic(annotation: Any) -> Any:
    """Returns a type with its msgspec constraints as pydantic constraints."""
    origin, held = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return of_pydantic(for_pydantic(held[0]), list(held[1:]), None)
    if origin in (Union, types.UnionType):
        return Union[tuple(map(for_pydantic, held))]  # noqa: UP007 - of a tuple
    if origin in (*_MANY, *_MANY_ABSTRACT, *_MAPPINGS):
        return origin[tuple(map(for_pydantic, held))]
    return annotation


def _translated(annotation: Any) -> Any:
    """Translates the metadata of the types within a type."""
    origin, held = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return constrained(held[0], list(held[1:]), None)
    behind = aliased(annotation)
    if behind is not None:
        translated = _translated(behind)
        return annotation if translated is behind else translated
    is_union = origin in (Union, types.UnionType)
    if not (is_union or origin in (*_MANY, *_MANY_ABSTRACT, *_MAPPINGS)):
        return annotation
    inner = tuple(map(_translated, held))
    if all(new is old for new, old in zip(inner, held, strict=True)):
        return annotation
    return Union[inner] if is_union else origin[inner]  # noqa: UP007 - of a tuple


def _with(kind: Any, metas: list[msgspec.Meta]) -> Any:
    if split(kind)[0] is decimal.Decimal:
        return _with_decimal_rules(kind, metas)
    if any(RULES in (meta.extra or {}) for meta in metas):
        raise RuleError(f"max_digits and decimal_places are for Decimal, not {kind!r:.100}")
    for meta in metas:
        kind = Annotated[kind, meta]
    return kind


def _limits(meta: msgspec.Meta) -> list[msgspec.Meta]:
    """Returns the constraints in a `Meta`, including a Decimal's."""
    rules = (meta.extra or {}).get(RULES)
    given = [] if rules is None else [msgspec.Meta(extra={RULES: rules})]
    return [*_only(meta, _CONSTRAINTS), *given]


def _told_beside_rules(meta: msgspec.Meta) -> dict[str, Any]:
    """Returns the contents of a `Meta` besides the rules of a Decimal."""
    if RULES not in (meta.extra or {}):
        return {}
    names = ("title", "description", "examples")
    return {name: value for name in names if (value := getattr(meta, name)) is not None}


def _with_decimal_rules(kind: Any, metas: list[msgspec.Meta]) -> Any:
    """Returns a Decimal type with constraints that msgspec doesn't apply to Decimals."""
    kind, before = split(kind)
    rules: dict[str, Any] = {}
    others = []
    for meta in [*before, *metas]:
        if not isinstance(meta, msgspec.Meta):
            continue
        given = (meta.extra or {}).get(RULES)
        for name in DecimalRules._fields:
            value = getattr(meta, name, None) if given is None else getattr(given, name)
            if value is not None:
                rules[name] = value
        if given is None:
            others += _only(meta, tuple(set(_CONSTRAINTS) - set(DecimalRules._fields)))
            others += _only(meta, _TOLD)
    for meta in [*([decimal_rules(**rules)] if rules else []), *others]:
        kind = Annotated[kind, meta]
    return kind


def _only(meta: msgspec.Meta, names: tuple[str, ...]) -> list[msgspec.Meta]:
    given: dict[str, Any] = {
        name: value for name in names if (value := getattr(meta, name)) is not None
    }
    return [msgspec.Meta(**given)] if given else []


def _root(item: Any) -> str:
    return type(item).__module__.partition(".")[0]


def find_rules(item: Any) -> list[msgspec.Meta]:
    """Returns the constraints in an item of `Annotated`, from its attributes.

    No library is imported.

    Raises:
        RuleError: If it has a rule that msgspec can't apply.
    """
    if isinstance(item, msgspec.Meta):
        return [item]
    if _root(item) not in _RULES or type(item).__name__ in _WITHOUT_RULE:
        return []
    if type(item).__name__ == "FieldInfo":
        return _of_field(item)
    limits = _attributes(item)
    if "tz" in limits:  # `...` for any time zone, None for none
        if limits["tz"] not in (None, ...):
            raise _not_applied(repr(item))
        limits["tz"] = limits["tz"] is ...
    limits = {name: value for name, value in limits.items() if value is not None}
    digits = {name: limits.pop(name) for name in _DIGITS if name in limits}
    if not limits.keys() <= set(_CONSTRAINTS):
        raise _not_applied(repr(item))
    if digits:
        return [*_buildfind_rules(limits), decimal_rules(**digits)]
    return _buildfind_rules(limits)


def _buildfind_rules(limits: dict[str, Any]) -> list[msgspec.Meta]:
    return [msgspec.Meta(**limits)] if limits else []


def _not_applied(rule: str) -> UnappliedRuleError:
    return UnappliedRuleError(
        f"{rule:.100}, which pydantic alone applies, and only to what is read from a request: "
        "install pydantic, or check the value in a function for Depends()"
    )


def _of_field(item: Any) -> list[msgspec.Meta]:
    for name in ("alias", "validation_alias"):
        if getattr(item, name) is not None:
            raise RuleError(f"Field({name}=...): write the name in a marker, such as Query('name')")
    if not item.is_required():
        raise RuleError("a Field with a default: write the default after the annotation")
    if item.discriminator is not None:
        raise _not_applied("Field(discriminator=...)")
    told = {
        name: getattr(item, name)
        for name in ("title", "description", "examples")
        if getattr(item, name) is not None
    }
    inner = [meta for each in item.metadata for meta in find_rules(each)]
    return [*inner, *([msgspec.Meta(**told)] if told else [])]


def _attributes(item: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(item):
        return {each.name: getattr(item, each.name) for each in dataclasses.fields(item)}
    return dict(getattr(item, "__dict__", {"": item}))


def show(annotation: Any) -> str:
    """Shows a type roughly as in code."""
    inner = annotation
    while hasattr(inner, "__metadata__"):
        inner = inner.__origin__
    if isinstance(inner, type) and not hasattr(inner, "__args__"):
        return inner.__qualname__.rpartition("<locals>.")[2]
    return f"{inner!r:.100}".replace("typing.", "")
