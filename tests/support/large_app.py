# SPDX-License-Identifier: MIT
"""An app that takes and gives bodies which don't fit in its memory."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

from kit import Context, File, Kit, Response

MIB = 1024 * 1024
# No two parts of a body are alike, except in steps of this block.
BLOCK = hashlib.shake_256(b"large bodies").digest(MIB)


async def hashed(chunks: AsyncIterable[bytes]) -> list[Any]:
    """The size of a body and its hash."""
    size = 0
    content = hashlib.sha256()
    async for chunk in chunks:
        size += len(chunk)
        content.update(chunk)
    return [size, content.hexdigest()]


async def raw(c: Context) -> Response:
    body = c.req.raw.body
    assert body is not None
    return c.json(await hashed(body))


async def form_data(c: Context) -> Response:
    file = (await c.req.form_data()).get("f")
    assert isinstance(file, File)
    return c.json(await hashed(file.stream()))


async def parse_body(c: Context) -> Response:
    file = (await c.req.parse_body())["f"]
    return c.json(await hashed(file.stream()))


async def blocks(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield BLOCK


def download(c: Context) -> Response:
    count = int(c.req.param("mib") or "")
    return c.body(blocks(count), headers={"content-length": str(count * MIB)})


app = Kit()
app.post("/raw", raw).post("/form_data", form_data).post("/parse_body", parse_body)
app.get("/download/:mib", download)
