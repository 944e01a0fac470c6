# SPDX-License-Identifier: MIT
"""Names the components of a document: one for each type, in one or two forms.

The libraries are asked several times, for types that are received and for those that are sent. Each
answer has components of its own, until `name_components` finds those that are the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

Schema: TypeAlias = dict[str, Any]

PREFIX = "#/components/schemas/"

# SPEC: the names of components, OpenAPI 3.1.1 section 4.8.7.1.
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9.-]+")
_MODULES = re.compile(r"(?:[^\W\d][\w-]*\.|<locals>\.)+(?=[^\W\d])")
# Two descriptions of one type differ in these: pydantic gives fields titles, msgspec sorts enums.
_TEXTS = ("title", "description")
_SETS = ("enum", "required")


class _Component(NamedTuple):
    """One type in one answer of a library.

    Attributes:
        source: The number of the source: answers about received and sent types that name types in
            the same way.
        name: Its name there.
        is_sent: Whether its values are sent.
    """

    source: int
    name: str
    is_sent: bool

    @property
    def key(self) -> str:
        """Its name among the components of all answers."""
        return f"{self.source}/{'sent' if self.is_sent else 'received'}/{self.name}"


class Components:
    """The components of all answers.

    Args:
        separate: Whether a type that is sent and received has two forms if it has defaults, which
            are always sent.
    """

    def __init__(self, *, separate: bool) -> None:
        self.found: dict[str, Schema] = {}
        self._separate = separate
        self._with_optional: dict[str, Schema] = {}
        self._known: dict[str, _Component] = {}

    def add(
        self, schema: Any, components: Mapping[str, Schema], source: int, *, is_sent: bool
    ) -> Any:
        """Adds the components of an answer.

        Args:
            schema: A schema, or several, which refer to them.
            components: The components by name.
            source: See `_Component`.
            is_sent: Whether the values are sent.

        Returns:
            The schema, with references to the added ones.
        """
        keys: dict[str, str] = {}
        for name in sorted(components):  # the first one of a candidate gets it
            component = _Component(source, name, is_sent)
            keys[name] = component.key
            self._known[component.key] = component
        for name, each in components.items():
            self.found[keys[name]] = rename(each, keys)
        return rename(schema, keys)

    def add_common(self, components: Mapping[str, Schema], source: int) -> None:
        """Adds the forms of sent components for types that are received, too.

        They also tell whether a component of another source stands for the same type.

        Args:
            components: The components by name, in which fields with defaults are optional.
            source: See `_Component`.
        """
        keys = {name: _Component(source, name, is_sent=True).key for name in components}
        for name, each in components.items():
            self._with_optional[keys[name]] = rename(each, keys)

    def all(self) -> list[Schema]:
        """Returns all schemas, for changes in place."""
        return [*self.found.values(), *self._with_optional.values()]

    def name(self, used: Any) -> tuple[Any, dict[str, Schema]]:
        """Names the components that are used.

        Args:
            used: The schemas of a document.

        Returns:
            The schemas with references to the named components, and these by name.
        """
        forms = self._find_forms(used)
        names: dict[str, str] = {}
        taken: dict[str, list[str]] = {}
        for (_, name), keys in forms.items():
            for candidate in _candidates(name, self.found[keys[0]]):
                others = taken.setdefault(candidate, keys)
                if self._fits(keys, others):
                    others += [key for key in keys if not self._is_among(key, others)]
                    names.update(dict.fromkeys(keys, candidate))
                    break
        first: dict[str, str] = {}
        for name, keys in taken.items():
            has_two_forms = len(keys) > 1 and not self._is_among(keys[1], keys[:1])
            for key in keys:
                suffix = "-Output" if self._known[key].is_sent else "-Input"
                first[key] = name + suffix if has_two_forms else name
        final = {
            key: first[next(each for each in taken[name] if self._is_among(key, [each]))]
            for key, name in names.items()
        }
        written = {final[key]: rename(self.found[key], final) for key in first}
        _make_titles_unique(written)
        return rename(used, final), written

    def _find_forms(self, used: Any) -> dict[tuple[int, str], list[str]]:
        """Returns the keys of the components that are needed: the forms of each type."""
        needed = set(_find_needed(used, self.found))
        forms: dict[tuple[int, str], list[str]] = {}
        for key, component in self._known.items():
            if key in needed:
                forms.setdefault((component.source, component.name), []).append(key)
        if not self._separate:
            used_as = [self._known[key] for key in needed]
            received = {each.name for each in used_as if not each.is_sent}
            for key in needed:
                if self._known[key].name in received:
                    self.found[key] = self._with_optional.get(key, self.found[key])
        return forms

    def _fits(self, keys: list[str], others: list[str]) -> bool:
        """Returns whether the forms of a type are forms of one that has a name already."""
        known = {self._known[each].is_sent for each in others}
        new = [each for each in keys if not self._is_among(each, others)]
        common = {**self.found, **self._with_optional}
        is_one = len(new) < len(keys) or any(
            _is_same(common[key], common[each], common, set()) for key in keys for each in others
        )
        return is_one and all(self._known[each].is_sent not in known for each in new)

    def _is_among(self, key: str, others: Iterable[str]) -> bool:
        """Returns whether a component means the same as one of several."""
        found = self.found
        return any(
            key == each or _is_same(found[key], found[each], found, {(key, each)})
            for each in others
        )


def references(value: Any) -> Iterator[str]:
    """Yields the references to components in a part of a document."""
    if isinstance(value, dict):
        for key, each in value.items():
            if isinstance(each, str):
                if key == "$ref" or each.startswith(PREFIX):
                    yield each
            else:
                yield from references(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from references(each)


def name_of(reference: str) -> str:
    """Returns the name of the component that a reference is to."""
    return reference.removeprefix(PREFIX)


def rename(value: Any, names: Mapping[str, str]) -> Any:
    """Returns a part of a document with references to components under other names."""
    if isinstance(value, dict):
        return {
            key: PREFIX + names.get(name_of(each), name_of(each))
            if isinstance(each, str) and each.startswith(PREFIX)
            else rename(each, names)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [rename(each, names) for each in value]
    return value


def _find_needed(used: Any, components: Mapping[str, Schema]) -> Iterator[str]:
    seen: set[str] = set()
    waiting = list(references(used))
    while waiting:
        name = name_of(waiting.pop())
        if name in components and name not in seen:
            seen.add(name)
            yield name
            waiting += references(components[name])


def _candidates(name: str, schema: Schema) -> Iterator[str]:
    """Yields the names for a component: without brackets and modules if it is generic."""
    title = str(schema.get("title", ""))
    if name.endswith("_"):
        told = _MODULES.sub("", title) if "[" in title else name
        yield _NOT_IN_NAMES.sub("_", told.replace("_", " ")).strip("_") or name
        name = re.sub("_+", "_", name).strip("_") or name
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def _make_titles_unique(components: Mapping[str, Schema]) -> None:
    """Replaces titles that components share by their names, since tools name classes by titles."""
    for schema in components.values():
        if "[" in str(schema.get("title", "")):
            schema["title"] = _MODULES.sub("", schema["title"])
    titles = Counter(each["title"] for each in components.values() if "title" in each)
    for name, schema in components.items():
        if titles[schema.get("title")] > 1:
            schema["title"] = name


def _is_same(
    one: Any,
    other: Any,
    components: Mapping[str, Schema],
    assumed: set[tuple[str, str]],
) -> bool:
    """Returns whether two schemas mean the same once all references are followed.

    Args:
        one: A schema, or a part of it.
        other: The other one.
        components: The components to which they refer.
        assumed: The names of components that were or are being compared, since a type may contain
            itself. One difference is enough, so they count as the same; changed in place.
    """
    if type(one) is not type(other):  # 1 and True, too
        return False
    if isinstance(one, dict):
        one, other = _comparable(one), _comparable(other)
        return one.keys() == other.keys() and all(
            _is_same(one[key], other[key], components, assumed) for key in one
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(
            _is_same(*pair, components, assumed) for pair in zip(one, other, strict=True)
        )
    if isinstance(one, str) and one.startswith(PREFIX) and other.startswith(PREFIX):
        pair = name_of(one), name_of(other)
        if pair[0] in components and pair[1] in components:
            if pair[0] == pair[1] or pair in assumed:
                return True
            assumed.add(pair)
            return _is_same(components[pair[0]], components[pair[1]], components, assumed)
    return bool(one == other)


def _comparable(schema: Schema) -> Schema:
    """Returns a schema in the form in which both libraries write it."""
    found = {
        key: value
        for key, value in schema.items()
        if not (key in _TEXTS and isinstance(value, str))
        and not (key == "additionalProperties" and value is True)
        and not (key == "required" and value == [])
    }
    if "const" in found:
        found["enum"] = [found.pop("const")]
    for key in _SETS:
        if isinstance(found.get(key), list):
            found[key] = sorted(found[key], key=lambda each: (str(type(each)), str(each)))
    return found
