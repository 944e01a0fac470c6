# SPDX-License-Identifier: MIT
"""Types that stand for schemas in given objects of OpenAPI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from ._schemas import Mode, Schemas

# Members whose values are data of the API, not objects of OpenAPI.
_DATA = ("example", "examples", "default", "value", "enum", "const")


class AsksForSchemas(Protocol):
    """What requests the schemas of types, see `Schemas.ask`."""

    def ask(self, kind: Any, mode: Mode) -> int:
        """Requests the schema of a type, and returns its number."""


class Slot(NamedTuple):
    """The place of a requested schema.

    Attributes:
        number: Its number.
    """

    number: int


def ask_types(value: Any, schemas: AsksForSchemas, mode: Mode) -> Any:
    """Copies an object of OpenAPI; types in it become slots.

    Args:
        value: The object. Each `schema`, and each value of a `content`, may be a type.
        schemas: Receives the requests.
        mode: How values of the types are transferred.
    """
    if isinstance(value, Mapping):
        return {key: _ask_member(key, each, schemas, mode) for key, each in value.items()}
    if isinstance(value, (list, tuple)) and not isinstance(value, Slot):
        return [ask_types(each, schemas, mode) for each in value]
    return value


def _ask_member(key: Any, value: Any, schemas: AsksForSchemas, mode: Mode) -> Any:
    if key in _DATA or (isinstance(key, str) and key.startswith("x-")):
        return value
    if key in ("schema", "itemSchema"):
        is_schema = isinstance(value, (Mapping, bool))
        return value if is_schema else Slot(schemas.ask(value, mode))
    if key == "content" and isinstance(value, Mapping):
        value = {
            media_type: each if isinstance(each, Mapping) else {"schema": each}
            for media_type, each in value.items()
        }
    return ask_types(value, schemas, mode)


def to_header(value: Any) -> dict[str, Any]:
    """Returns a Header Object for a type, a description, or a Header Object."""
    if isinstance(value, str):
        value = {"description": value}
    elif not isinstance(value, Mapping):
        value = {"schema": value}
    has_schema = value.keys() & {"schema", "content", "$ref"}
    return {**value} if has_schema else {**value, "schema": {"type": "string"}}


def fill_slots(value: Any, schemas: Schemas) -> Any:
    """Copies an object, with the schemas of its slots."""
    if isinstance(value, Slot):
        return schemas.get(value.number)
    if isinstance(value, Mapping):
        return {key: fill_slots(each, schemas) for key, each in value.items()}
    if isinstance(value, list):
        return [fill_slots(each, schemas) for each in value]
    return value
