# SPDX-License-Identifier: MIT
"""`Response.track_body`: how much of a body was read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from kit import Response


async def chunks() -> AsyncIterator[str]:
    yield "ab"
    yield "ä"


def plain() -> Iterator[bytes]:
    yield b"abc"


class Closing:
    """An iterable whose iterator is a generator of its own."""

    def __init__(self) -> None:
        self.closed: list[str] = []

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            yield b"a"
            yield b"b"
        finally:
            self.closed.append("iterator")

    async def aclose(self) -> None:
        self.closed.append("body")


@pytest.mark.parametrize(("body", "size"), [(None, 0), (b"", 0), ("ä", 2)])
def test_in_memory(body: Any, size: int) -> None:
    progress = Response(body).track_body()
    assert (progress.size_bytes, progress.is_begun, progress.is_complete) == (size, True, True)


@pytest.mark.parametrize(("make", "size"), [(chunks, 4), (plain, 3)])
def test_stream(run: Any, make: Any, size: int) -> None:
    response = Response(make())
    progress = response.track_body()
    assert (progress.size_bytes, progress.is_begun, progress.is_complete) == (0, False, False)
    assert response.track_body() is progress
    assert len(run(response.bytes)) == size
    assert (progress.size_bytes, progress.is_begun, progress.is_complete) == (size, True, True)
    assert progress.failure is None
    assert response.track_body().size_bytes == 0  # it was used


def test_failure(run: Any) -> None:
    def failing() -> Iterator[bytes]:
        yield b"a"
        raise ValueError("broken")

    response = Response(failing())
    progress = response.track_body()
    with pytest.raises(ValueError, match="broken"):
        run(response.bytes)
    assert isinstance(progress.failure, ValueError)
    assert (progress.size_bytes, progress.is_complete) == (1, False)


def test_closed_early(run: Any) -> None:
    body = Closing()
    response = Response(body)
    progress = response.track_body()

    async def read_one() -> None:
        read = response.body.__aiter__()  # type: ignore[union-attr]
        assert await read.__anext__() == b"a"
        await read.aclose()  # type: ignore[attr-defined]

    run(read_one)
    assert body.closed == ["iterator", "body"]
    assert (progress.size_bytes, progress.is_complete, progress.failure) == (1, False, None)
