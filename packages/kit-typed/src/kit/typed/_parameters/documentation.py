# SPDX-License-Identifier: MIT
"""The types that the documentation shows for parts of a request."""

from __future__ import annotations

import copy
from collections.abc import Container, Iterator
from functools import partial
from importlib import import_module
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec import inspect

from kit.authoring.models import check_union, find_model
from kit.authoring.text_values import describe_scalar

from .._signature.signature import REQUIRED
from .._signature.types import classify, constrained, find_hints, without_none
from .sources import IMMUTABLE, Source, struct_name

_REQUIRED = msgspec.field()


class _Entry(NamedTuple):
    """A value in a part of the request.

    Attributes:
        key: Its name in the request.
        kind: Its type.
        default: The `msgspec.field` for it, or `UNSET` if it is optional without a default.
    """

    key: str
    kind: Any
    default: Any

    @property
    def is_required(self) -> bool:
        """Whether it must be sent."""
        field = self.default
        if field is msgspec.UNSET:
            return False
        return field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT

    def as_optional(self) -> _Entry:
        """Returns the same value as an optional one."""
        return self._replace(default=msgspec.UNSET) if self.is_required else self


def documented_type(sources: list[Source], decoded: Container[type]) -> Any:
    """Returns one type for all values read from a part of the request.

    Args:
        sources: The sources that endpoint and dependencies read from this part.
        decoded: The classes that decoders of the app build.
    """
    first = sources[0]
    if len(sources) == 1 and not (first.is_model and _has_default(first)):
        return first.type
    found: dict[str, _Entry] = {}
    for source in sources:
        for entry in _entries(source):
            old = found.setdefault(entry.key, entry)
            if entry.is_required and not old.is_required:
                found[entry.key] = old._replace(default=entry.default)
    names = {f"field_{number}": entry for number, entry in enumerate(found.values())}
    return msgspec.defstruct(
        struct_name(first.target, first.signature),
        [
            (name, entry.kind if _is_describable(entry.kind, decoded) else Any, entry.default)
            for name, entry in names.items()
        ],
        kw_only=True,
        rename={name: entry.key for name, entry in names.items()},
    )


def _has_default(source: Source) -> bool:
    return source.fields[0].default is not REQUIRED


def _entries(source: Source) -> Iterator[_Entry]:
    if not source.is_model and not source.fields[0].is_read_by_pydantic:
        for field in source.fields:
            yield _Entry(field.key, field.annotation, field.for_struct())
        return
    for entry in _entries_of_model(source.type, source.target):
        yield entry.as_optional() if source.is_model and _has_default(source) else entry


def _entries_of_model(kind: Any, target: str) -> Iterator[_Entry]:
    kind = without_none(kind)
    behind = getattr(kind, "__value__", None) or getattr(kind, "__supertype__", None)
    if behind is not None and not isinstance(kind, type):  # an alias or a NewType
        yield from _entries_of_model(behind, target)
        return
    if get_origin(kind) in (Union, UnionType):
        yield from _entries_of_union(get_args(kind), target)
        return
    fields = getattr(kind, "__pydantic_fields__", None)  # of a model or a dataclass
    if fields is not None:
        for name, each in fields.items():
            key = _find_key(each) or _in(target, name)
            yield _Entry(key, _find_type(each), _default_of_model(each))
        return
    hints = find_hints(kind)
    for each in getattr(inspect.type_info(kind), "fields", ()):
        key = each.encode_name
        yield _Entry(
            _in(target, key) if key == each.name else key, hints[each.name], _find_default(each)
        )


def _in(target: str, name: str) -> str:
    """Returns the name in the request for a field without a name chosen for the data."""
    return name.replace("_", "-") if target == "header" else name


def _entries_of_union(members: tuple[Any, ...], target: str) -> Iterator[_Entry]:
    """Yields the fields of all members as optional, and the field that distinguishes members."""
    tags: dict[str, list[Any]] = {}
    for member in members:
        config = getattr(get_origin(member) or member, "__struct_config__", None)
        if config is not None and config.tag_field is not None:
            tags.setdefault(config.tag_field, []).append(config.tag)
    for key, values in tags.items():
        yield _Entry(key, Literal[tuple(values)], _REQUIRED)
    for member in members:
        for entry in _entries_of_model(member, target):
            yield entry._replace(default=msgspec.UNSET)


def _find_key(field: Any) -> str | None:
    """The alias of a field of a pydantic type in the data; the first one of several."""
    alias = field.validation_alias or field.alias
    return next(
        (each for each in getattr(alias, "choices", [alias]) if isinstance(each, str)), None
    )


def _find_type(field: Any) -> Any:
    """The type of a field of a pydantic type, with all constraints that can be shown."""
    kind: Any = without_none(field.annotation)  # pydantic reads no text as None
    told = {
        name: value
        for name in ("description", "examples")
        if (value := getattr(field, name)) is not None
    }
    try:
        shown = constrained(kind, field.metadata, None)
    except Exception:  # a rule that pydantic alone supports
        shown = None
    if shown is None or not _is_describable(shown):
        schema = _schema_of_pydantic(kind, field.metadata)
        shown = kind if schema is None else Annotated[Any, msgspec.Meta(extra_json_schema=schema)]
    return Annotated[shown, msgspec.Meta(**told)] if told else shown


def _schema_of_pydantic(kind: Any, metadata: list[Any]) -> dict[str, Any] | None:
    """Returns the schema of a type that msgspec can't describe; None if pydantic can't, either."""
    # Already imported, since the type comes from it; type checkers may not have it.
    pydantic: Any = import_module("pydantic")

    for each in metadata:
        kind = Annotated[kind, each]
    try:
        schema = pydantic.TypeAdapter(kind).json_schema()
    except Exception:
        return None
    written: dict[str, Any] = _inlined(schema, schema.pop("$defs", {}), ())
    return written


def _inlined(schema: Any, shared: dict[str, Any], within: tuple[str, ...]) -> Any:
    """Replaces references by their targets; a type within itself becomes an unrestricted one."""
    if isinstance(schema, list):
        return [_inlined(each, shared, within) for each in schema]
    if not isinstance(schema, dict):
        return schema
    rest = {key: _inlined(each, shared, within) for key, each in schema.items() if key != "$ref"}
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name in shared and name not in within:
        return {**_inlined(shared[name], shared, (*within, name)), **rest}
    return rest


def _is_describable(kind: Any, decoded: Container[type] = ()) -> bool:
    def describe(each: Any) -> dict[str, Any]:
        if each in decoded or classify(each) == "file":
            return {"type": "string"}
        schema = describe_scalar(each)
        if schema is None:
            raise NotImplementedError  # the only error that msgspec takes for an unknown class
        return schema

    try:
        if find_model(kind) is not None:
            return False
        check_union(kind)
        msgspec.json.schema(kind, schema_hook=describe)
    except Exception:  # such as a union of dates
        return False
    return True


def _default_of_model(field: Any) -> Any:
    if field.is_required():
        return _REQUIRED
    if field.default_factory is not None:
        return msgspec.field(default_factory=field.default_factory)
    return _with_default(field.default)


def _find_default(field: inspect.Field) -> Any:
    if field.required:
        return _REQUIRED
    if field.default is not msgspec.NODEFAULT:
        return _with_default(field.default)
    if field.default_factory is not msgspec.NODEFAULT:
        return msgspec.field(default_factory=field.default_factory)
    return msgspec.UNSET  # a TypedDict has no defaults


def _with_default(default: Any) -> Any:
    """The `msgspec.field` for a default of a model, which msgspec refuses if it is mutable."""
    is_empty = isinstance(default, (list, dict, set)) and not default
    if is_empty or isinstance(default, (*IMMUTABLE, msgspec.UnsetType)):
        return msgspec.field(default=default)
    return msgspec.field(default_factory=partial(copy.deepcopy, default))
