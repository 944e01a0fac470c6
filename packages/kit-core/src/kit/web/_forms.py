# SPDX-License-Identifier: MIT
"""Reads a body as a form, whichever of the two media types it has."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterator

from kit._limits import Limits
from kit.interface import HTTPException

from ._form_data import FormData

MULTIPART = "multipart/form-data"
URLENCODED = "application/x-www-form-urlencoded"


def media_type(content_type: str | None) -> str:
    """Gives the media type of a Content-Type header, in lower case without parameters."""
    return (content_type or "").partition(";")[0].strip().lower()


async def read_form(
    chunks: AsyncIterable[bytes], content_type: str | None, limits: Limits
) -> FormData:
    """Parses a form.

    SPEC: WHATWG Fetch section 5.3, "consume body" as form data.

    Raises:
        HTTPException: 400 if the content type is no form's or the body is malformed, 413 if it is
            beyond a limit.
    """
    kind = media_type(content_type)
    if kind == MULTIPART:
        from . import _multipart

        return await _multipart.decode(chunks, content_type or "", limits)
    if kind == URLENCODED:
        return decode_urlencoded(b"".join([chunk async for chunk in chunks]), limits)
    found = repr(content_type) if content_type else "none"
    raise HTTPException(
        400, f"Expected a form: Content-Type {MULTIPART} or {URLENCODED}, but it is {found}"
    )


def decode_urlencoded(data: bytes, limits: Limits) -> FormData:
    """Parses an urlencoded form.

    SPEC: WHATWG URL section 5.1, "application/x-www-form-urlencoded parsing".

    Raises:
        HTTPException: 413 if it is beyond a limit.
    """
    from ._multipart import field_too_large, too_large

    parts = _parts(data)
    if len(parts) > limits.max_fields:
        raise too_large("fields", limits.max_fields)
    form = FormData()
    for name, value in _pairs(parts):
        if len(value) > limits.max_field_size_bytes:
            raise field_too_large(name, limits.max_field_size_bytes)
        form.append(name, value.decode("utf-8", "replace"))
    return form


def parse_urlencoded(data: bytes) -> list[tuple[str, str]]:
    """Gives the names and values of a query.

    SPEC: WHATWG URL section 5.1, "application/x-www-form-urlencoded parsing".
    """
    return [(name, value.decode("utf-8", "replace")) for name, value in _pairs(_parts(data))]


def _parts(data: bytes) -> list[bytes]:
    return [part for part in data.split(b"&") if part]


def _pairs(parts: list[bytes]) -> Iterator[tuple[str, bytes]]:
    from urllib.parse import unquote_to_bytes

    for part in parts:
        name, _, value = part.replace(b"+", b" ").partition(b"=")
        yield unquote_to_bytes(name).decode("utf-8", "replace"), unquote_to_bytes(value)
