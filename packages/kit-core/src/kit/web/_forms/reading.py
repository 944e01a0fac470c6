# SPDX-License-Identifier: MIT
"""Reads a body as a form of either media type."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from kit._support.limits import Limits
from kit.http.media_types import MULTIPART, URLENCODED, media_type
from kit.interface import HTTPException

from .field_sizes import FieldSizes
from .form_data import FormData
from .urlencoded import decode_urlencoded


async def read_form(
    chunks: AsyncGenerator[bytes, None], content_type: str | None, limits: Limits
) -> FormData:
    """Parses a form.

    SPEC: WHATWG Fetch section 5.3, "consume body" as form data.

    Raises:
        HTTPException: 400 if the content type is not that of a form or the body is malformed, 413
            if it exceeds a limit.
    """
    kind = media_type(content_type)
    if kind == MULTIPART:
        from .multipart import decode

        return await decode(chunks, content_type or "", limits)
    if kind == URLENCODED:
        sizes = FieldSizes(limits)
        data = bytearray()
        async for chunk in chunks:
            sizes.add(chunk)
            data += chunk
        return decode_urlencoded(bytes(data), limits)
    found = repr(content_type) if content_type else "none"
    raise HTTPException(
        400, f"Expected a form: Content-Type {MULTIPART} or {URLENCODED}, but it is {found}"
    )
