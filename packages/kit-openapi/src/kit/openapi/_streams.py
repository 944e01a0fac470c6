# SPDX-License-Identifier: MIT
"""Describes streams of items: JSON Lines and server-sent events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kit.http.media_types import EVENT_STREAM, JSON, JSON_LINES

ITEM_SCHEMA = "x-itemSchema"
"""The field of a Media Type Object with the schema of an item; `itemSchema` in OpenAPI 3.2."""

# What a text has that is written as JSON, in quotes.
_OF_OTHER_TEXTS = ("const", "contentEncoding", "enum", "format")


def describe_items(media_type: str, described: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a Media Type Object of OpenAPI 3.1, with the schema of its items in an extension.

    OpenAPI 3.1 has no field for items: the whole body is a string for it.

    Args:
        media_type: The media type.
        described: The object, as in OpenAPI 3.2: the schema of the data of an item is `itemSchema`.
    """
    written = dict(described)
    if "itemSchema" in written:
        item = written.pop("itemSchema")
        written.setdefault("schema", {"type": "string"})
        written[ITEM_SCHEMA] = _describe_event(item) if media_type == EVENT_STREAM else item
    return written


def find_item_schema(content: Mapping[str, Any] | None) -> Any:
    """Returns the schema of the items of a response that can be read as JSON Lines, or None."""
    return (content or {}).get(JSON_LINES, {}).get(ITEM_SCHEMA)


def _describe_event(data: Any) -> dict[str, Any]:
    """Returns the schema of an event.

    SPEC: OpenAPI 3.2.0 section 4.14.4, "Special Considerations for Server-Sent Events".
    """
    is_text = data.get("type") == "string" and not any(each in data for each in _OF_OTHER_TEXTS)
    if not data:  # any item: text as it is, and other data as JSON
        data = {"type": "string"}
    elif not is_text:
        data = {"type": "string", "contentMediaType": JSON, "contentSchema": data}
    return {
        "type": "object",
        "properties": {
            "data": data,
            "event": {"type": "string"},
            "id": {"type": "string"},
            "retry": {"type": "integer", "minimum": 0},
        },
    }
