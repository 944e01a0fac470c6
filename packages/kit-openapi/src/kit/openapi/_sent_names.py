# SPDX-License-Identifier: MIT
"""The names under which the fields of pydantic types are sent.

Apps encode models with `model_dump(mode="json")`: by the names of the fields, or by their aliases
if a model is configured with `serialize_by_alias`, or as `c.json(..., by_alias=...)` says. msgspec
encodes pydantic dataclasses outside of models itself, always by the names. Pydantic's own schemas
have the aliases in both cases.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

from ._defaults import find_made_default

# The strings that are read as a Decimal, besides numbers.
DECIMAL = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"


@cache
def base_generator() -> Any:
    """Returns a schema generator of pydantic that names the fields of responses as they are sent.

    It also describes the names in dicts with a pattern for keys, and the form of decimal numbers.

    Its attribute `plain` has the dataclasses that msgspec encodes; see `plain_dataclasses`.
    `is_by_alias` says whether all fields are sent by alias; None if each model decides.
    `omits_none` and `omits_defaults` say which fields of models may be left out, and
    `requires_defaults` whether fields with a default are required where they are sent.
    """
    base: Any = import_module("pydantic.json_schema").GenerateJsonSchema

    def written(self: Any, schema: Any, write: Any, *, by_alias: bool) -> Any:
        if self.mode != "serialization":
            return write(self, schema)
        outer = self.by_alias, self.is_sent_by_alias
        self.by_alias = self.is_sent_by_alias = by_alias
        try:
            return write(self, schema)
        finally:
            self.by_alias, self.is_sent_by_alias = outer

    def model_schema(self: Any, schema: Any) -> Any:
        by_alias = self.is_by_alias
        if by_alias is None:
            by_alias = bool(schema["cls"].model_config.get("serialize_by_alias"))
        return written(self, schema, base.model_schema, by_alias=by_alias)

    def dataclass_schema(self: Any, schema: Any) -> Any:
        kind = schema["cls"]
        config = getattr(kind, "__pydantic_config__", None)
        by_alias = self.is_sent_by_alias if config is None else config.get("serialize_by_alias")
        if self.is_by_alias is not None:
            by_alias = self.is_by_alias
        by_alias = bool(by_alias) and kind not in self.plain
        return written(self, schema, base.dataclass_schema, by_alias=by_alias)

    def typed_dict_schema(self: Any, schema: Any) -> Any:
        # Pydantic applies the setting of the model around it, and not its own.
        return written(self, schema, base.typed_dict_schema, by_alias=self.is_sent_by_alias)

    objects = (model_schema, dataclass_schema, typed_dict_schema)
    methods = (*objects, _requiring(base), *_of_values(base))
    own = {each.__name__: each for each in methods}
    attributes: dict[str, Any] = {
        "plain": frozenset(),
        "is_by_alias": None,
        "is_sent_by_alias": False,
        "omits_none": False,
        "omits_defaults": False,
        "requires_defaults": False,
    }
    return type("Generator", (base,), {**attributes, **own})


def _requiring(base: Any) -> Any:
    """Returns the method that says which fields are always sent."""

    def field_is_required(self: Any, field: Any, total: bool) -> bool:
        is_required: bool = base.field_is_required(self, field, total)
        schema = field["schema"]
        if self.mode != "serialization":
            return is_required
        if self.requires_defaults and schema["type"] == "default":
            is_required = field["type"] != "typed-dict-field" and _is_always_sent(field)
        if not is_required:
            return False
        if self.omits_defaults and schema["type"] == "default":
            return False
        return not (self.omits_none and _may_be_none(schema))

    return field_is_required


def _is_always_sent(field: Any) -> bool:
    """Returns whether a field with a default is sent, whatever its value."""
    is_excluded = field.get("serialization_exclude") or "serialization_exclude_if" in field
    default = field["schema"].get("default")
    return not is_excluded and getattr(default, "__name__", "") != "MISSING"


def _may_be_none(schema: Any) -> bool:
    """Returns whether None is a value of a type, from its schema of pydantic-core."""
    kind = schema["type"]
    if kind == "union":
        members = (each[0] if isinstance(each, tuple) else each for each in schema["choices"])
        return any(map(_may_be_none, members))
    if kind not in ("nullable", "none", "any") and "schema" in schema:  # a default or a validator
        return _may_be_none(schema["schema"])
    return kind in ("nullable", "none", "any")


def _of_values(base: Any) -> tuple[Any, ...]:
    """Returns methods for types that pydantic's own generator describes incompletely."""

    def dict_schema(self: Any, schema: Any) -> Any:
        # Pydantic's schema allows names that don't match, but its validation refuses them.
        found = base.dict_schema(self, schema)
        patterns = found.get("patternProperties", {})
        if len(patterns) == 1 and "additionalProperties" not in found:
            del found["patternProperties"]
            ((pattern, values),) = patterns.items()
            names = {**found.get("propertyNames", {}), "pattern": pattern}
            found |= {"propertyNames": names, "additionalProperties": values}
        return found

    def decimal_schema(self: Any, schema: Any) -> Any:
        found = base.decimal_schema(self, schema)
        for each in [found, *found.get("anyOf", ())]:
            if each.get("type") == "string":
                each.setdefault("pattern", DECIMAL)
        return found

    def default_schema(self: Any, schema: Any) -> Any:
        found = base.default_schema(self, schema)
        default = find_made_default(schema.get("default_factory"))
        if "default" not in found and default is not None:
            found["default"] = default
        return found

    return dict_schema, decimal_schema, default_schema


def use_sent_tags(value: Any, components: Mapping[str, Any]) -> None:
    """Corrects discriminators that name an alias, in schemas of values that are sent by name.

    Removes those with a tag that several schemas share, which a further tag tells apart: a mapping
    has names of schemas only (OpenAPI 3.1.1, section 4.8.25). The fields say the same.

    Args:
        value: A schema, or several; changed in place.
        components: The schemas that the mappings refer to, by reference.
    """
    if isinstance(value, dict):
        found = value.get("discriminator")
        mapping = found.get("mapping") if isinstance(found, dict) else None
        if isinstance(mapping, dict) and not all(
            isinstance(each, str) for each in mapping.values()
        ):
            del value["discriminator"]
        elif isinstance(found, dict) and isinstance(mapping, dict):
            choices = [
                (tag, components.get(reference, {}).get("properties", {}))
                for tag, reference in mapping.items()
            ]
            if not any(found["propertyName"] in fields for _, fields in choices):
                names = [{*_names_of_tag(tag, fields)} for tag, fields in choices]
                common = sorted(set[str].intersection(*names)) if names else []
                if common:
                    found["propertyName"] = common[0]
        value = [*value.values()]
    if isinstance(value, list):
        for each in value:
            use_sent_tags(each, components)


def _names_of_tag(tag: str, fields: Mapping[str, Any]) -> Iterator[str]:
    for name, field in fields.items():
        values = [field.get("const"), *field.get("enum", ())]
        if tag in map(str, values):
            yield name


def plain_dataclasses(kinds: Iterable[Any]) -> frozenset[type]:
    """Returns the dataclasses of types that msgspec encodes, as they are outside of models."""
    found: set[type] = set()
    seen: set[int] = set()
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop()
        if id(kind) in seen or hasattr(kind, "model_validate_json"):
            continue
        seen.add(id(kind))
        waiting += [*get_args(kind), getattr(kind, "__value__", None), get_origin(kind)]
        is_dataclass = isinstance(kind, type) and dataclasses.is_dataclass(kind)
        if is_dataclass:
            found.add(kind)
        if is_dataclass or is_typeddict(kind):
            with suppress(Exception):  # a name that isn't defined
                waiting += get_type_hints(kind, include_extras=True).values()
    return frozenset(found)
