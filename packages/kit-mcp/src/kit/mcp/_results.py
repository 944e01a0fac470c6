# SPDX-License-Identifier: MIT
"""Converts a response to the result of a tool call.

SPEC: MCP 2025-11-25, "Tool Result".
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import AsyncIterable
from http import HTTPStatus
from typing import Any

import anyio

from kit.authoring.bodies import close_body
from kit.http.media_types import is_compressible, is_json, media_type
from kit.interface import Response
from mcp import types

from ._tool_definitions import ToolDefinition

__all__ = ("build_result", "error_result")

_FIRST_ERROR = 400
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_EVENT_STREAM = "text/event-stream"


def error_result(text: str) -> types.CallToolResult:
    """Returns a result that tells the model what went wrong.

    Args:
        text: The message for the model.
    """
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


async def build_result(
    definition: ToolDefinition, response: Response, url: str, max_size: int
) -> types.CallToolResult:
    """Reads a response, and returns it as the result of a tool.

    Args:
        definition: The tool.
        response: The response.
        url: The URL of the request.
        max_size: Maximum size of the body in bytes.
    """
    status, headers = response.status, response.headers
    content_type = headers.get("content-type")
    if media_type(content_type) == _EVENT_STREAM:
        await _close(response.body)
        return error_result("The response is a stream of events, which no tool can return")
    if headers.get("content-encoding") not in (None, "identity"):
        await _close(response.body)
        return error_result("The response is compressed, although no compression was requested")
    body = await _read(response.body, max_size)
    if body is None:
        return error_result(f"The response has more than {max_size} bytes: request less data")
    if status >= _FIRST_ERROR:
        return error_result(_error_text(status, content_type, body))
    if is_json(content_type) and body:
        return _json_result(definition, body)
    if definition.output is not None:
        return error_result(
            f"The response isn't JSON, although the app declares it: {_phrase(status)}"
        )
    if not body:
        location = headers.get("location")
        text = _phrase(status) + (f": {location}" if location else "")
        return types.CallToolResult(content=[types.TextContent(text=text)])
    return types.CallToolResult(content=[_content(content_type, body, url)])


def _json_result(definition: ToolDefinition, body: bytes) -> types.CallToolResult:
    text = body.decode("utf-8", "replace")
    try:
        value = _loaded(text)
    except (ValueError, RecursionError):
        return error_result("The response is not valid JSON, although it is declared as JSON")
    content: list[types.ContentBlock] = [types.TextContent(text=text)]
    if definition.wraps or not isinstance(value, dict):
        value = {"result": value}
    return types.CallToolResult(content=content, structured_content=value)


def _loaded(text: str) -> Any:
    """Decodes a JSON text.

    Raises:
        ValueError: If it isn't JSON, or has values that the JSON of the result can't contain.
    """
    value = json.loads(text, parse_constant=_refuse)
    if _SURROGATE.search(text):
        json.dumps(value, ensure_ascii=False).encode()  # fails for an unpaired surrogate
    return value


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} isn't valid JSON")


def _content(content_type: str | None, body: bytes, url: str) -> types.ContentBlock:
    kind = media_type(content_type) or "application/octet-stream"
    encoded = b64encode(body).decode()
    if kind.startswith("image/") and kind != "image/svg+xml":
        return types.ImageContent(data=encoded, mime_type=kind)
    if kind.startswith("audio/"):
        return types.AudioContent(data=encoded, mime_type=kind)
    if kind.startswith("text/") or kind.endswith("+xml") or is_compressible(kind):
        text = _decoded(content_type, body)
        if text is not None:
            return types.TextContent(text=text)
    resource = types.BlobResourceContents(uri=url, mime_type=kind, blob=encoded)
    return types.EmbeddedResource(resource=resource)


def _decoded(content_type: str | None, body: bytes) -> str | None:
    """Returns the text of a body; None if it isn't text."""
    charset = "utf-8"
    for each in (content_type or "").split(";")[1:]:
        key, _, value = each.partition("=")
        if key.strip().lower() == "charset":
            charset = value.strip().strip('"')
    try:
        text = body.decode(charset)
        text.encode()  # some charsets can express surrogates, which the result can't contain
    except (LookupError, ValueError):
        return None
    return text


def _error_text(status: int, content_type: str | None, body: bytes) -> str:
    text = _decoded(content_type, body)
    if is_json(content_type) and text:
        return text
    phrase = _phrase(status)
    return f"{phrase}: {text}" if text else phrase


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


async def _read(body: bytes | AsyncIterable[bytes] | None, max_size: int) -> bytes | None:
    """Returns a body; None if it is too large. Closes the rest of the body."""
    if body is None or isinstance(body, bytes):
        return None if body is not None and len(body) > max_size else body or b""
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in body:
            size += len(chunk)
            if size > max_size:
                return None
            chunks.append(bytes(chunk))
    finally:
        await _close(body)
    return b"".join(chunks)


async def _close(body: Any) -> None:
    # A cancelled call also closes what it opened.
    with anyio.CancelScope(shield=True):
        await close_body(body)
