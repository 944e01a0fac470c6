# SPDX-License-Identifier: MIT
"""Bodies larger than the memory they take, through a real server on the loopback interface.

Streams are of 1 GiB. Forms, which go through a temporary file, are of 256 MiB, or of as many as the
environment variable KIT_LARGE_FORM_MIB says.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from large_app import BLOCK, MIB
from serving import ServedApp

pytestmark = [pytest.mark.slow, pytest.mark.once]

MOST_GROWTH_BYTES = 64 * MIB
GIB_IN_MIB = 1024
FORM_MIB = int(os.environ.get("KIT_LARGE_FORM_MIB", "256"))
PATIENCE_S = 300  # how long a body may take before the test gives up

BEGIN = b'--XX\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
END = b"\r\n--XX--\r\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    log = tmp_path_factory.mktemp("uvicorn") / "log"
    with ServedApp("uvicorn", "large_app:app", log, "--log-level=warning") as running:
        yield running
        assert running.printed() == ""


class Memory:
    """Watches how much more memory a server takes while something is done.

    Raises:
        AssertionError: If it is too much.
    """

    def __init__(self, served: ServedApp) -> None:
        self._status = Path(f"/proc/{served.process.pid}/status")
        if not self._status.exists():
            pytest.skip("the memory of a process is read from /proc")

    def __enter__(self) -> None:
        self._before = self._bytes("VmRSS")

    def __exit__(self, *raised: object) -> None:
        assert self._bytes("VmHWM") - self._before < MOST_GROWTH_BYTES

    def _bytes(self, key: str) -> int:
        lines = dict(line.split(":", 1) for line in self._status.read_text().splitlines())
        return int(lines[key].split()[0]) * 1024


def hash_of(mib: int) -> str:
    content = hashlib.sha256()
    for _ in range(mib):
        content.update(BLOCK)
    return content.hexdigest()


async def upload(
    served: ServedApp, path: str, content_type: str, mib: int, begin: bytes = b"", end: bytes = b""
) -> Any:
    """Sends a body; gives the JSON of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(
        f"POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
        f"content-type: {content_type}\r\n"
        f"content-length: {len(begin) + mib * MIB + len(end)}\r\n\r\n".encode()
    )
    writer.write(begin)
    for _ in range(mib):
        writer.write(BLOCK)
        await writer.drain()
    writer.write(end)
    answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), answer[:1000]
    return json.loads(body)


async def download(served: ServedApp, path: str) -> list[Any]:
    """Gives the size of a body and its hash, as `upload` gets them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port, limit=4 * MIB)
    head = f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    writer.write(head.encode())
    answer = await reader.readuntil(b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 "), answer
    size = 0
    content = hashlib.sha256()
    while chunk := await reader.read(MIB):
        size += len(chunk)
        content.update(chunk)
    writer.close()
    return [size, content.hexdigest()]


async def within_patience(work: Any) -> Any:
    async with asyncio.timeout(PATIENCE_S):
        return await work


async def test_an_upload_read_as_a_stream(served: ServedApp) -> None:
    expected = asyncio.to_thread(hash_of, GIB_IN_MIB)
    await upload(served, "/raw", "text/plain", 1)  # what is imported first is not counted
    with Memory(served):
        sent = upload(served, "/raw", "application/octet-stream", GIB_IN_MIB)
        got, content = await within_patience(asyncio.gather(sent, expected))
    assert got == [GIB_IN_MIB * MIB, content]


@pytest.mark.parametrize("path", ["/form_data", "/parse_body"])
async def test_an_upload_read_as_a_form(served: ServedApp, path: str) -> None:
    form = "multipart/form-data; boundary=XX"
    await upload(served, path, form, 2, BEGIN, END)
    with Memory(served):
        got = await within_patience(upload(served, path, form, FORM_MIB, BEGIN, END))
    assert got == [FORM_MIB * MIB, await asyncio.to_thread(hash_of, FORM_MIB)]


async def test_a_download(served: ServedApp) -> None:
    expected = asyncio.to_thread(hash_of, GIB_IN_MIB)
    await download(served, "/download/1")
    with Memory(served):
        received = download(served, f"/download/{GIB_IN_MIB}")
        got, content = await within_patience(asyncio.gather(received, expected))
    assert got == [GIB_IN_MIB * MIB, content]
