# SPDX-License-Identifier: MIT
"""Encodes a form as multipart/form-data (RFC 7578)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import aclosing

from kit.web._streams import Stream

from .form_data import File, FormData, FormValue, content_in_memory


def encode(form: FormData, boundary: str | None = None) -> tuple[bytes | Stream, str]:
    """Returns a form as a multipart body, streamed if a file is on disk, and its content type.

    Args:
        form: The form.
        boundary: The boundary of a body to rebuild, with unchanged values. None: a new boundary.

    Raises:
        ValueError: If a value contains the given boundary, which would end its part.
    """
    entries = [(name, _data(value, as_it_is=boundary is not None)) for name, value in form]
    if boundary is None:
        # The boundary is random, so that a client can't put it into the content.
        boundary = "----KitFormBoundary" + os.urandom(16).hex()
    else:
        end = f"\r\n--{boundary}".encode()
        for name, data in entries:
            if isinstance(data, bytes) and end in b"\r\n" + data:
                raise ValueError(
                    f"The form field {name!r:.100} contains the boundary of its request, "
                    "so the form can't be encoded as the body of that request"
                )
    heads = [_head(name, value, boundary) for name, value in form]
    tail = f"--{boundary}--\r\n".encode()
    parts = list(zip(heads, [data for _, data in entries], strict=True))
    content_type = f"multipart/form-data; boundary={boundary}"
    if any(isinstance(data, File) for _, data in parts):
        return _stream(parts, tail), content_type
    pieces = [piece for head, data in parts for piece in (head, data, b"\r\n")]
    return b"".join([*pieces, tail]), content_type  # type: ignore[list-item]  # no File left, see above


async def _stream(parts: list[tuple[bytes, bytes | File]], tail: bytes) -> AsyncIterator[bytes]:
    for head, data in parts:
        yield head
        if isinstance(data, File):
            async with aclosing(data.stream()) as chunks:
                async for chunk in chunks:
                    yield chunk
        else:
            yield data
        yield b"\r\n"
    yield tail


def _data(value: FormValue, *, as_it_is: bool) -> bytes | File:
    """Returns the content of a value's part; for a file on disk, the file, to be streamed."""
    if isinstance(value, File):
        content = content_in_memory(value)
        return value if content is None else content
    return (value if as_it_is else _newlines(value)).encode()


def _head(name: str, value: FormValue, boundary: str) -> bytes:
    lines = f'--{boundary}\r\nContent-Disposition: form-data; name="{_escaped(_newlines(name))}"'
    if isinstance(value, File):
        lines += f'; filename="{_escaped(value.name)}"'
        lines += f"\r\nContent-Type: {value.type or 'application/octet-stream'}"
    return (lines + "\r\n\r\n").encode()


def _newlines(text: str) -> str:
    """SPEC: HTML section 4.10.21.8, "constructing the form data set": line breaks are CRLF."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")


def _escaped(text: str) -> str:
    """SPEC: HTML section 4.10.21.8, "multipart/form-data encoding algorithm"."""
    return text.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
