# SPDX-License-Identifier: MIT
"""Finds all errors in invalid data, since msgspec reports only the first.

Walks the data along its type and validates each part again in its place, without the other parts.
An error located within the part belongs to the part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, get_origin

import msgspec
from msgspec import ValidationError, inspect

from kit.authoring.field_errors import field_error, read_message
from kit.interface import FieldError

_Problem: TypeAlias = tuple[str, str, Any]
"""The path of an error, such as `.items[0].price`, the message of msgspec, and the type."""

_Probe: TypeAlias = Callable[[Any], object]

OBJECTS = (inspect.StructType, inspect.DataclassType, inspect.TypedDictType)

# APPSEC: a client controls the depth and length of the data; these limit repeated validation.
_DEEPEST = 6
_CHUNK = 256
_MOST_PROBED_BYTES = 8 << 20

_OF_KEY = "Invalid key: "


def bare(node: Any) -> Any:
    """Returns the type without its `Annotated` metadata."""
    while isinstance(node, inspect.Metadata):
        node = node.type
    return node


def is_union(node: Any) -> bool:
    """Returns whether a bare type is a union."""
    return isinstance(node, inspect.UnionType)


def is_object(node: Any) -> bool:
    """Returns whether msgspec reads the fields of a bare type by name."""
    return isinstance(node, OBJECTS) and not getattr(node, "array_like", False)


class _ProbedEnoughError(Exception):
    """The search for further errors has taken as long as it may."""


class JsonProbe:
    """Validates parts of JSON, each time as JSON, until that were so many bytes.

    Args:
        decode: Decodes JSON into a value of the type, and raises the first error.
    """

    def __init__(self, decode: Callable[[bytes], object]) -> None:
        self._decode = decode
        self._left_bytes = _MOST_PROBED_BYTES

    def __call__(self, value: Any) -> None:
        """Validates decoded data; raises the first error."""
        if self._left_bytes <= 0:
            raise _ProbedEnoughError
        data = msgspec.json.encode(value)
        self._left_bytes -= len(data)
        self._decode(data)


class _Failure(NamedTuple):
    place: str
    text: str
    is_of_key: bool = False


def _failure(error: Exception) -> _Failure:
    """Splits the message of a msgspec error: `Expected ... - at `key` in `$.a[0]``."""
    # Not a regular expression: the text may quote what the client sent, at any length.
    text, found, rest = str(error).rpartition(" - at `")
    place = rest.removeprefix("key` in `")
    if not found or not place.startswith("$") or not place.endswith("`"):
        return _Failure("", str(error))
    is_of_key = place != rest
    return _Failure(place[1:-1], _OF_KEY + text if is_of_key else text, is_of_key)


def errors_of_json(
    node: inspect.Type, probe: _Probe, value: Any, error: Exception
) -> Iterator[FieldError]:
    """Yields all errors in data, field by field in the order of the type.

    Args:
        node: The bare type.
        probe: Validates such data and raises the first error.
        value: The data.
        error: The error that `probe` raised for `value`; yielded if no other is found.
    """
    nothing = True
    for place, text, kind in _problems(node, value, probe, "", "", 0):
        nothing = False
        yield _field_error(place, text, kind)
    if nothing:
        failure = _failure(error)
        yield _field_error(failure.place, failure.text, None if failure.place else node)


def errors_of_names(
    node: inspect.Type, probe: _Probe, value: Any, error: Exception
) -> Iterator[FieldError]:
    """Yields the same as `errors_of_json`, for data whose values were sent as text."""
    for each in errors_of_json(node, probe, value, error):
        # All values are text, so "got `str`" adds nothing.
        each["message"] = each["message"].removesuffix(", got `str`")
        yield each


def _field_error(place: str, text: str, node: Any) -> FieldError:
    kind, ctx = read_message(text.removeprefix(_OF_KEY), node)
    return field_error(place.removeprefix("."), text, kind, ctx)


def _problems(
    node: Any, value: Any, probe: _Probe, place: str, shown: str, depth: int
) -> Iterator[_Problem]:
    """Yields the errors in a part of the data.

    Args:
        node: The type that the part should have.
        value: The part.
        probe: Validates other data in its place, with nothing else around it.
        place: Path of the part in the data that `probe` builds, as msgspec reports it.
        shown: Path of the part in the real data.
        depth: How many parts it is nested in.
    """
    node = _choice(node, value)
    nothing = True
    if depth < _DEEPEST:
        if isinstance(value, dict) and is_object(node):
            found = _in_object(node, value, probe, place, shown, depth + 1)
        elif isinstance(value, dict) and isinstance(node, inspect.DictType):
            found = _in_dict(node, value, probe, place, shown, depth + 1)
        elif isinstance(value, list) and isinstance(node, inspect.CollectionType):
            found = _in_list(node, value, probe, place, shown, depth + 1)
        else:
            found = iter(())
        for problem in found:
            nothing = False
            yield problem
    failure = _tried(probe, value, place) if nothing else None
    if failure is not None:
        yield shown + failure.place, failure.text, node if _is_of(node, failure) else None


def _is_of(node: Any, failure: _Failure) -> bool:
    """Returns whether a part itself has failed, or the field with the tag of a union."""
    tags = (getattr(each, "tag_field", None) for each in getattr(node, "types", (node,)))
    return not failure.place or any(failure.place == f".{tag}" for tag in tags)


def _choice(node: Any, value: Any) -> Any:
    """Returns the type of a union that the value is meant for, or the union if that is unclear."""
    node = bare(node)
    if not is_union(node):
        return node
    kinds = (*OBJECTS, inspect.DictType) if isinstance(value, dict) else inspect.CollectionType
    choices = [each for each in map(bare, node.types) if isinstance(each, kinds)]
    if len(choices) > 1 and isinstance(value, dict):
        choices = [each for each in choices if _tag(each, value) and _has_right_tag(each, value)]
    return choices[0] if len(choices) == 1 else node


def _tag(node: Any, value: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the item of the value that distinguishes the Structs of a union, or an empty dict."""
    name = getattr(node, "tag_field", None)
    return {name: value[name]} if name is not None and name in value else {}


def _has_right_tag(node: Any, value: Mapping[str, Any]) -> bool:
    return all(tag == node.tag for tag in _tag(node, value).values())


def _in_object(
    node: Any, value: dict[str, Any], probe: _Probe, place: str, shown: str, depth: int
) -> Iterator[_Problem]:
    if not _has_right_tag(node, value):
        return
    tag = _tag(node, value)
    for field in _in_order(node):
        name = field.encode_name
        if name in value:
            inner = partial(_probe_field, probe, tag, name)
            if _tried(inner, value[name], f"{place}.{name}") is not None:
                yield from _problems(
                    field.type, value[name], inner, f"{place}.{name}", f"{shown}.{name}", depth
                )
        elif field.required:
            yield f"{shown}.{name}", "Missing required field", None
    if getattr(node, "forbid_unknown_fields", False):
        known = {field.encode_name for field in node.fields} | tag.keys()
        for name in value:
            if name not in known:
                yield f"{shown}.{name}", "Unknown field", None


def _in_order(node: Any) -> Iterable[inspect.Field]:
    """Returns the fields of a type in the order of its source."""
    if not isinstance(node, inspect.TypedDictType):
        return node.fields  # type: ignore[no-any-return]  # of one of the types with fields
    order = list((get_origin(node.cls) or node.cls).__annotations__)
    return sorted(node.fields, key=lambda field: order.index(field.name))


def _probe_field(probe: _Probe, tag: dict[str, Any], name: str, part: Any) -> None:
    probe({**tag, name: part})


def _in_list(
    node: Any, value: list[Any], probe: _Probe, place: str, shown: str, depth: int
) -> Iterator[_Problem]:
    least = node.min_length or 1
    if len(value) < least:
        return
    for start in range(0, len(value), _CHUNK):
        chunk = value[start : start + _CHUNK]
        failure = _tried(partial(_probe_items, probe, least), chunk, place)
        if failure is None or not failure.place.startswith("["):
            continue
        for index, part in enumerate(chunk, start):
            inner = partial(_probe_item, probe, least)
            if _tried(inner, part, f"{place}[0]") is not None:
                yield from _problems(
                    node.item_type, part, inner, f"{place}[0]", f"{shown}[{index}]", depth
                )


def _probe_items(probe: _Probe, least: int, parts: list[Any]) -> None:
    probe(parts if len(parts) >= least else parts * least)


def _probe_item(probe: _Probe, least: int, part: Any) -> None:
    probe([part] * least)


def _in_dict(
    node: Any, value: dict[str, Any], probe: _Probe, place: str, shown: str, depth: int
) -> Iterator[_Problem]:
    pairs = iter(value.items())
    while chunk := dict(islice(pairs, _CHUNK)):
        failure = _tried(probe, chunk, place)
        if failure is None or not (failure.is_of_key or failure.place.startswith("[")):
            continue
        for key, part in chunk.items():
            inner = partial(_probe_field, probe, {}, key)
            failure = _tried(inner, part, place)
            if failure is not None and failure.place.startswith("[...]"):
                yield from _problems(
                    node.value_type, part, inner, f"{place}[...]", f"{shown}.{key}", depth
                )
            elif failure is not None and failure.is_of_key:
                yield f"{shown}.{key}", failure.text, node.key_type


def _tried(probe: _Probe, value: Any, place: str) -> _Failure | None:
    """Validates a part and returns the error within it; ignores errors around it."""
    try:
        probe(value)
    except ValueError as error:
        if place and not isinstance(error, ValidationError):
            # Some have no place, such as that of a datetime beyond the year 9999.
            return _Failure("", str(error))
        failure = _failure(error)
        rest = failure.place.removeprefix(place)
        if failure.place.startswith(place) and (not rest or rest[0] in ".["):
            return failure._replace(place=rest)
    except Exception:
        # Raised by code of the type, such as a __post_init__ that relies on the other fields.
        return None
    return None
