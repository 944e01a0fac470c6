# SPDX-License-Identifier: MIT
"""Describes bytes that are sent as they are: whole bodies, and files in forms.

In JSON, bytes are text in base64. Elsewhere nothing encodes them. OpenAPI 3.1 then needs no schema
beside the media type, but the format `binary` of its registry remains compatible, and more tools
read it: without a schema, client generators take such a body for any value or leave it out, and
mock servers can't create one.
"""

from __future__ import annotations

import re
from typing import Any

from kit.http.media_types import is_json

from ._schemas import Schema, file_schema, without_null

_BINARY: Schema = {"type": "string", "format": "binary"}
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_OF_BINARY = re.compile(
    r"(?:image/(?!svg\+xml$)|audio/|video/|font/)"
    r"|application/(?:octet-stream|pdf|zip|gzip|wasm|x-tar)$"
)


def describe_body(media_type: str, schema: Schema) -> Schema:
    """Returns the schema of a whole body.

    Args:
        media_type: Its media type.
        schema: The schema of its type, as in JSON.
    """
    if is_json(media_type) or media_type in _FORMS:
        return schema
    return _as_binary(without_null(schema), _BINARY)


def describe_unknown(media_type: str) -> dict[str, Any]:
    """Returns the Media Type Object of a body whose type isn't known."""
    return {"schema": dict(_BINARY)} if _OF_BINARY.match(media_type) else {}


def describe_file(schema: Schema) -> Schema:
    """Returns the schema of a field of a form; bytes are files there."""
    return _as_binary(schema, file_schema())


def has_base64(schema: Schema) -> bool:
    """Returns whether values of a schema are or hold bytes in base64."""
    return _as_binary(schema, {}) != schema and not is_file(schema)


def is_file(schema: Schema) -> bool:
    """Returns whether a field of a form is or holds a file."""
    parts = [schema, schema.get("items"), *schema.get("anyOf", ())]
    found = [each for each in parts if isinstance(each, dict)]
    return any(
        each.get("format") == "binary" or (each is not schema and is_file(each)) for each in found
    )


def _as_binary(schema: Schema, binary: Schema) -> Schema:
    """Replaces the schemas of bytes, also in arrays and unions."""
    if schema.get("contentEncoding") == "base64" or (
        schema.get("format") == "binary" and schema.get("type") == "string"
    ):
        described = {"description": schema["description"]} if "description" in schema else {}
        return {**described, **binary}
    if isinstance(schema.get("items"), dict):
        return {**schema, "items": _as_binary(schema["items"], binary)}
    if "anyOf" in schema:
        return {**schema, "anyOf": [_as_binary(each, binary) for each in schema["anyOf"]]}
    return schema
