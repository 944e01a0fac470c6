# SPDX-License-Identifier: MIT
"""Writes schemas of OpenAPI 3.1 (JSON Schema 2020-12) as Schema Objects of AsyncAPI (draft 07)."""

from __future__ import annotations

from typing import Any

# Their values are names to schemas, so keys in them aren't keywords.
_MAPS = ("properties", "patternProperties", "$defs")
_LITERALS = ("const", "default", "enum", "examples")


def to_draft_07(schema: Any) -> Any:
    """Returns a schema as a Schema Object (AsyncAPI 3.0.0, section "Schema Object").

    Args:
        schema: A schema, or a part of one.
    """
    if isinstance(schema, list):
        return [to_draft_07(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    written = {
        key: _convert(key, value)
        for key, value in schema.items()
        # Another object in AsyncAPI; the constants of tags say the same.
        if key != "discriminator" or isinstance(value, str)
    }
    # SPEC: JSON Schema draft 07, section 6.4: an array of `items`, and `additionalItems`.
    if "prefixItems" in written:
        others = {"additionalItems": written.pop("items")} if "items" in written else {}
        written |= {"items": written.pop("prefixItems"), **others}
    if "$ref" in written and len(written) > 1:
        # SPEC: JSON Schema draft 07, section 8.3: keywords beside `$ref` are ignored.
        reference = written.pop("$ref")
        written["allOf"] = [{"$ref": reference}, *written.get("allOf", ())]
    return written


def _convert(key: str, value: Any) -> Any:
    if key in _LITERALS:
        return value
    if key in _MAPS:
        return {name: to_draft_07(each) for name, each in value.items()}
    return to_draft_07(value)
