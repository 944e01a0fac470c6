# SPDX-License-Identifier: MIT
"""Objects in queries and forms: `range[low]=1` is `{"range": {"low": "1"}}`.

SPEC: OpenAPI 3.1.1, section 4.8.12.3: the style `deepObject`. Lists of objects have no style there;
their names have indices, `items[0][name]=a`, as in most languages and form libraries.
"""

from __future__ import annotations

import dataclasses
from collections import abc
from collections.abc import Callable, Iterator, Mapping
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from msgspec import inspect

from ._problems import bare, is_object, is_union
from ._unfilled import (
    is_unfilled,
    sees_what_was_sent,
    takes_empty_text,
    takes_empty_text_in_python,
)

# APPSEC: a client chooses the names, and decoders recurse.
_DEEPEST = 32
_MOST_DIGITS = 6

_MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)
_LISTS = (list, tuple, set, frozenset, abc.Iterable, abc.Collection, abc.Sequence)


class ObjectNames:
    """The names within an object, or the indices of a list of objects.

    Attributes:
        lists: The names whose values are all used.
        unfilled: The names whose empty texts are absent in a form; see `drop_unfilled`.
        objects: The names of objects in it.
        optional: The names of those that may be absent.
        others: The objects with other names: the values of a dict, the items of a list.
        others_are_lists: Whether all values with other names are used.
        others_unfilled: Whether empty texts with other names are absent in a form.
        is_list: Whether it is a list of objects.
        takes_text: Whether its value may also be read from a text.
    """

    def __init__(self) -> None:
        self.lists: set[str] = set()
        self.unfilled: set[str] = set()
        self.objects: dict[str, ObjectNames] = {}
        self.optional: set[str] = set()
        self.others: ObjectNames | None = None
        self.others_are_lists = False
        self.others_unfilled = False
        self.is_list = False
        self.takes_text = False

    def find(self, name: str) -> ObjectNames | None:
        """Returns the object with a name in this one; None if the type has no object there."""
        return self.objects.get(name, self.others)

    def takes_list(self, name: str) -> bool:
        """Returns whether all values with a name are used."""
        return name in self.lists or self.others_are_lists

    def takes_empty(self, name: str) -> bool:
        """Returns whether an empty text with a name is a value in a form."""
        return not (name in self.unfilled or self.others_unfilled)


class Member(NamedTuple):
    """A field of an object.

    Attributes:
        names: Its names in the data.
        kind: Its type: a node of msgspec, or a type of pydantic.
        is_required: Whether it has no default.
    """

    names: tuple[str, ...]
    kind: Any
    is_required: bool


# --- Requests -----------------------------------------------------------------------------------


def collect_objects(
    values: dict[str, Any],
    every: Mapping[str, Any],
    names: ObjectNames,
    *,
    is_form: bool = False,
) -> None:
    """Replaces names such as `range[low]` by objects.

    A name that is malformed, or doesn't lead into an object, stays unchanged. So does a text in the
    place of an object; the validation then reports it.

    Args:
        values: The values by name, each the one that a single field takes. The dict is changed.
        every: All values by name, for fields that take a list.
        names: The names of the type; see `Schema.objects`.
        is_form: Whether empty texts for numbers and similar types count as absent.
    """
    for name in [name for name in values if "[" in name]:
        steps = _parse_steps(name)
        if not steps or names.find(steps[0]) is None:
            continue
        place, within = _find_place(values, steps, names)
        if place is None:
            continue
        key, value = steps[-1], values.pop(name)
        if within is not None and within.takes_list(key):
            value = every[name] if isinstance(every[name], list) else [every[name]]
        if is_form:
            takes_empty = within is None or within.takes_empty(key)
            value = _without_unfilled(value, takes_empty=takes_empty)
        if value is not None:
            place[key] = value
    _complete(values, names, is_form=is_form)


def _parse_steps(name: str) -> list[str]:
    """Returns the names in `a[b][c]`; none if it is malformed."""
    first, _, rest = name.partition("[")
    if not rest.endswith("]"):
        return []
    # What is too deep is read as a text in the place of an object, which is an error.
    steps = rest[:-1].split("][", _DEEPEST)[:_DEEPEST]
    return [] if any("[" in step or "]" in step for step in steps) else [first, *steps]


def _find_place(
    place: dict[str, Any], steps: list[str], names: ObjectNames
) -> tuple[dict[str, Any] | None, ObjectNames | None]:
    """Returns the dict for a value, and the names in it; None if a text is in the way."""
    within = names
    for step in steps[:-1]:
        inner = within.find(step)
        place = place.setdefault(step, {})
        if not isinstance(place, dict):
            return None, None
        if inner is None:  # there is no object, for which a single step is enough of an error
            return place, None
        within = inner
    return place, within


def _without_unfilled(value: Any, *, takes_empty: bool) -> Any:
    """Returns what was filled in; None if nothing was."""
    if not isinstance(value, list):
        return None if is_unfilled(value, takes_empty=takes_empty) else value
    return [each for each in value if not is_unfilled(each, takes_empty=takes_empty)] or None


def _complete(value: Any, names: ObjectNames, *, is_form: bool) -> Any:
    """Builds the lists of objects, and removes optional objects in which nothing was filled in."""
    if not isinstance(value, dict):
        return value
    for key, each in [*value.items()]:
        inner = names.find(key)
        if inner is not None:
            value[key] = _complete(each, inner, is_form=is_form)
            if is_form and key in names.optional and value[key] == {}:
                del value[key]
    if names.is_list and all(map(_is_index, value)):
        return [value[key] for key in sorted(value, key=int)]
    return value


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) <= _MOST_DIGITS


# --- Types of msgspec ---------------------------------------------------------------------------


def find_objects(node: Any) -> ObjectNames | None:
    """Returns the names of a type of msgspec; None if there are no objects in its fields."""
    return _with_objects(_read_node(node, {}))


def _with_objects(names: ObjectNames | None) -> ObjectNames | None:
    has_objects = names is not None and (names.objects or names.others is not None)
    return names if has_objects else None


def _alternatives(node: Any) -> list[Any]:
    node = bare(node)
    choices = node.types if is_union(node) else (node,)
    bare_choices = [bare(each) for each in choices]
    return [each for each in bare_choices if not isinstance(each, inspect.NoneType)]


def _members(node: Any) -> Iterator[Member]:
    for field in getattr(node, "fields", ()):
        yield Member((field.encode_name,), field.type, field.required)


def _is_named(node: Any) -> bool:
    return is_object(node) or isinstance(node, inspect.DictType)


def _read_node(node: Any, known: dict[tuple[int, ...], ObjectNames]) -> ObjectNames | None:
    choices = _alternatives(node)
    objects = [each for each in choices if _is_named(each)]
    lists = [each for each in choices if isinstance(each, inspect.CollectionType)]
    key = tuple(map(id, choices))
    if key in known:  # a class within itself
        return known[key]
    names = ObjectNames()
    if objects:
        known[key] = names
        for each in objects:
            if isinstance(each, inspect.DictType):
                _add_others(
                    names,
                    each.value_type,
                    _read_node(each.value_type, known),
                    takes_empty_text,
                    _is_list,
                )
            for member in _members(each):
                _add(names, member, _read_node(member.kind, known), takes_empty_text, _is_list)
    else:
        items = [found for each in lists if (found := _read_node(each.item_type, known))]
        if not items:
            return None
        names.is_list, names.others = True, items[0]
    names.takes_text = len(choices) > len(objects or lists)
    return names


def _add(
    names: ObjectNames,
    member: Member,
    found: ObjectNames | None,
    takes_empty: Callable[[Any], bool],
    is_list: Callable[[Any], bool],
) -> None:
    """Adds a field of an object, with the names of the object in it."""
    if found is not None:
        names.objects |= dict.fromkeys(member.names, found)
        if not member.is_required:
            names.optional.update(member.names)
    elif is_list(member.kind):
        names.lists.update(member.names)
    if not takes_empty(member.kind):
        names.unfilled.update(member.names)


def _add_others(
    names: ObjectNames,
    kind: Any,
    found: ObjectNames | None,
    takes_empty: Callable[[Any], bool],
    is_list: Callable[[Any], bool],
) -> None:
    """Adds the values of a dict."""
    names.others = found
    names.others_are_lists = found is None and is_list(kind)
    names.others_unfilled = not takes_empty(kind)


def _is_list(node: Any) -> bool:
    lists = (inspect.CollectionType, inspect.TupleType, inspect.NamedTupleType)
    return any(isinstance(each, lists) for each in _alternatives(node))


# --- Types of pydantic --------------------------------------------------------------------------


def find_objects_in_python(kind: Any) -> ObjectNames | None:
    """Returns the same as `find_objects` for a type that pydantic reads."""
    return _with_objects(_read_type(kind, {}))


def _alternatives_in_python(kind: Any) -> list[Any]:
    kind = getattr(kind, "__value__", kind)  # an alias created by `type X = ...`
    origin, held = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return [] if sees_what_was_sent(kind) else _alternatives_in_python(held[0])
    if origin in (Union, UnionType):
        return [part for each in held for part in _alternatives_in_python(each)]
    return [] if kind in (None, NoneType) else [kind]


def members_in_python(kind: Any) -> Iterator[Member]:
    """Yields the fields of a class that pydantic reads, each with the name in the class first."""
    origin = get_origin(kind) or kind
    fields = getattr(kind, "__pydantic_fields__", None)  # those of a generic class are its own
    if fields is None:
        fields = getattr(origin, "__pydantic_fields__", None)
    if fields is not None:
        for name, field in fields.items():
            alias = field.validation_alias or field.alias
            choices = getattr(alias, "choices", [alias])
            names = (name, *(each for each in choices if isinstance(each, str)))
            kind = field.annotation
            for each in field.metadata:
                kind = Annotated[kind, each]
            yield Member(names, kind, field.is_required())
    elif dataclasses.is_dataclass(origin) or is_typeddict(origin):
        required = getattr(origin, "__required_keys__", None)
        if required is None:
            required = {each.name for each in dataclasses.fields(origin) if _is_required(each)}
        for name, hint in get_type_hints(origin, include_extras=True).items():
            yield Member((name,), hint, name in required)


def _is_required(field: Any) -> bool:
    return field.default is field.default_factory is dataclasses.MISSING


def _read_type(kind: Any, known: dict[tuple[int, ...], ObjectNames]) -> ObjectNames | None:
    choices = _alternatives_in_python(kind)
    objects = [each for each in choices if _is_mapping(each) or any(members_in_python(each))]
    lists = [each for each in choices if _is_list_in_python(each)]
    key = tuple(map(id, choices))
    if key in known:
        return known[key]
    names = ObjectNames()
    if objects:
        known[key] = names
        for each in objects:
            if _is_mapping(each) and get_args(each):
                kind = get_args(each)[1]
                found = _read_type(kind, known)
                _add_others(names, kind, found, takes_empty_text_in_python, _is_list_in_python)
            for member in members_in_python(each):
                found = _read_type(member.kind, known)
                _add(names, member, found, takes_empty_text_in_python, _is_list_in_python)
    else:
        parts = [part for each in lists for part in get_args(each)]
        items = [found for each in parts if (found := _read_type(each, known))]
        if not items:
            return None
        names.is_list, names.others = True, items[0]
    names.takes_text = len(choices) > len(objects or lists)
    return names


def _is_mapping(kind: Any) -> bool:
    return (get_origin(kind) or kind) in _MAPPINGS


def _is_list_in_python(kind: Any) -> bool:
    origins = [get_origin(each) or each for each in _alternatives_in_python(kind)]
    return any(each in _LISTS for each in origins)
