# SPDX-License-Identifier: MIT
"""Finds the paths of pydantic's errors in the data.

Where a type is a union, the `loc` of an error also has the name or the tag of the member that
rejected the value, which is no key of the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

Step: TypeAlias = str | int
Path: TypeAlias = tuple[Step, ...]

UNKNOWN: Any = object()
"""Stands for data that isn't known."""

# Schemas that contain one other schema for the same value, by the name under which they do.
_WRAPPED = ("schema", "arguments_schema", "return_schema")
_SAME_VALUE = frozenset(
    (
        *("call", "custom-error", "dataclass", "default", "function-after", "function-before"),
        *("function-wrap", "json", "model", "nullable"),
    )
)
_ITEMS = frozenset(("frozenset", "generator", "list", "set"))
# APPSEC: a union is searched for the member that has the path; a client controls its depth.
_MOST_SCHEMAS = 2_000


class _SearchedEnoughError(Exception):
    """The search for a path has taken as long as it may."""


def find_path(loc: Sequence[Step], kind: str, schema: Any, value: Any = UNKNOWN) -> Path:
    """Returns the path of an error in the data.

    Args:
        loc: The location that pydantic reports.
        kind: The type of the error.
        schema: The core schema of the type; None if unknown.
        value: The data, which helps where the schema doesn't.
    """
    if schema is not None:
        try:
            found = _Search().path(schema, tuple(loc))
        except (_SearchedEnoughError, RecursionError):
            found = None
        if found is not None:
            return found
    # A validator has raised the errors of another type, which the schema doesn't show.
    return tuple(loc) if value is UNKNOWN else tuple(_steps_in(loc, kind, value))


def _steps_in(loc: Sequence[Step], kind: str, value: Any) -> Iterator[Step]:
    """Yields the steps that lead through the data, and what is missing at their end."""
    for number, step in enumerate(loc, 1):
        if _has_step(value, step):
            value = value[step]
        elif kind != "missing" or number < len(loc):
            continue
        yield step


def _has_step(value: Any, step: Step) -> bool:
    if isinstance(value, (list, tuple)):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, Mapping) and step in value


class _Search:
    def __init__(self) -> None:
        self._definitions: dict[str, Any] = {}
        self._left = _MOST_SCHEMAS

    def path(self, schema: Any, loc: Path) -> Path | None:
        """Returns the location without the names of union members; None if it doesn't fit."""
        schema = self._resolve(schema)
        if not loc:
            return ()
        kind = schema["type"]
        if kind == "tagged-union":
            choices = [each for key, each in schema["choices"].items() if str(key) == str(loc[0])]
            return self._first(choices, loc[1:])
        if kind == "union":
            return self._first(_by_name(schema["choices"], loc[0]), loc[1:])
        if kind in ("json-or-python", "lax-or-strict", "chain"):
            names = ("json_schema", "python_schema", "lax_schema", "strict_schema")
            parts = schema["steps"] if kind == "chain" else [schema.get(each) for each in names]
            return self._first([each for each in parts if each is not None], loc)
        if kind in _ITEMS or kind == "tuple":
            return self._in_items(schema, loc)
        if kind == "dict":
            rest = loc[1:]
            if rest[:1] == ("[key]",):
                return loc[:1]
            return self._after(loc[0], schema.get("values_schema"), rest)
        return self._in_fields(schema, loc)

    def _resolve(self, schema: Any) -> Any:
        """Returns the schema within wrappers, which add nothing to a location."""
        while True:
            self._left -= 1
            if self._left < 0:
                raise _SearchedEnoughError
            kind = schema["type"]
            if kind == "definitions":
                self._definitions |= {each["ref"]: each for each in schema["definitions"]}
                schema = schema["schema"]
            elif kind == "definition-ref" and schema["schema_ref"] in self._definitions:
                schema = self._definitions[schema["schema_ref"]]
            elif kind in _SAME_VALUE:
                inner = next((schema[each] for each in _WRAPPED if each in schema), None)
                if inner is None:
                    return schema
                schema = inner
            else:
                return schema

    def _first(self, choices: Sequence[Any], loc: Path) -> Path | None:
        found = (self.path(each, loc) for each in choices)
        return next((each for each in found if each is not None), None)

    def _after(self, step: Step, schema: Any, loc: Path) -> Path | None:
        if schema is None:
            return None if loc else (step,)
        rest = self.path(schema, loc)
        return None if rest is None else (step, *rest)

    def _in_items(self, schema: Any, loc: Path) -> Path | None:
        if not isinstance(loc[0], int):
            return None
        items = schema.get("items_schema")
        if isinstance(items, list):
            variadic = schema.get("variadic_item_index", len(items))
            items = items[min(loc[0], variadic)] if min(loc[0], variadic) < len(items) else None
        return self._after(loc[0], items, loc[1:])

    def _in_fields(self, schema: Any, loc: Path) -> Path | None:
        fields = schema.get("fields", schema.get("arguments_schema"))
        if fields is None:
            return None
        pairs = fields.items() if isinstance(fields, Mapping) else ((f["name"], f) for f in fields)
        for name, field in pairs:
            for keys in _keys(name, field):
                if loc[: len(keys)] == keys and "schema" in field:
                    rest = self.path(field["schema"], loc[len(keys) :])
                    if rest is not None:
                        return keys + rest
        if len(loc) == 1:  # an unknown field
            return loc
        return self._after(loc[0], schema.get("extras_schema"), loc[1:])


def _keys(name: str, field: Mapping[str, Any]) -> Iterator[Path]:
    """Yields the locations of a field: its name, its aliases, and the paths of these."""
    yield (name,)
    alias = field.get("validation_alias", field.get("alias"))
    if isinstance(alias, str):
        yield (alias,)
    elif isinstance(alias, list) and alias and isinstance(alias[0], list):
        yield from map(tuple, alias)
    elif isinstance(alias, list):
        yield tuple(alias)


def _by_name(choices: Sequence[Any], label: Step) -> list[Any]:
    """Returns the members of a union, beginning with those that the label names."""
    named: list[tuple[bool, Any]] = []
    for each in choices:
        schema, own = each if isinstance(each, tuple) else (each, None)
        names = (own, getattr(schema.get("cls"), "__name__", None), schema["type"])
        named.append((label not in names, schema))
    return [schema for _, schema in sorted(named, key=lambda pair: pair[0])]
