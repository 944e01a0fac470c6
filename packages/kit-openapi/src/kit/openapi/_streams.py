# SPDX-License-Identifier: MIT
"""Describes streams of items: JSON Lines and server-sent events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kit.http.media_types import EVENT_STREAM, JSON, JSON_LINES

# What a text has that is written as JSON, in quotes.
_OF_OTHER_TEXTS = ("const", "contentEncoding", "enum", "format")


def describe_items(media_type: str, described: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a Media Type Object with the schema of its items: of events, or of their data.

    Args:
        media_type: The media type.
        described: The object, in which `itemSchema` is the schema of the data of an item.
    """
    written = dict(described)
    if "itemSchema" in written and media_type == EVENT_STREAM:
        written["itemSchema"] = _describe_event(written["itemSchema"])
    return written


def find_item_schema(content: Mapping[str, Any] | None, media_type: str = JSON_LINES) -> Any:
    """Returns the schema of the items of a response, or None.

    Args:
        content: The media types of the response, of OpenAPI 3.1 or 3.2.
        media_type: JSON Lines, or events, whose data are the items.
    """
    described = (content or {}).get(media_type, {})
    schema = described.get("itemSchema", described.get("x-itemSchema"))  # the latter in OpenAPI 3.1
    if schema is None or media_type != EVENT_STREAM:
        return schema
    data = schema.get("properties", {}).get("data", {})
    return data.get("contentSchema", data)


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
