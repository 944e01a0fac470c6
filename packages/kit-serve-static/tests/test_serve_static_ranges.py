# SPDX-License-Identifier: MIT
"""Ranges (RFC 9110, section 14) of a file with the ten digits."""

from __future__ import annotations

import asyncio
import email
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kit import Kit
from kit.serve_static import IMMUTABLE, serve_static

DIGITS = b"0123456789"


@pytest.mark.parametrize(
    ("wanted", "part", "content_range"),
    [
        ("bytes=0-", DIGITS, "bytes 0-9/10"),
        ("bytes=0-0", b"0", "bytes 0-0/10"),
        ("bytes=2-5", b"2345", "bytes 2-5/10"),
        ("bytes=9-9", b"9", "bytes 9-9/10"),
        ("bytes=5-500", b"56789", "bytes 5-9/10"),
        ("bytes=5-9223372036854775807", b"56789", "bytes 5-9/10"),
        ("bytes=-18446744073709551615", DIGITS, "bytes 0-9/10"),
        ("bytes=-3", b"789", "bytes 7-9/10"),
        ("bytes=-30", DIGITS, "bytes 0-9/10"),
        ("Bytes=0-1", b"01", "bytes 0-1/10"),
        ("bytes= 0-1 , ", b"01", "bytes 0-1/10"),
        ("bytes=0-1,50-60", b"01", "bytes 0-1/10"),
        ("bytes=-0,1-1", b"1", "bytes 1-1/10"),
        # What overlaps or touches is one range.
        ("bytes=0-3,2-5", b"012345", "bytes 0-5/10"),
        ("bytes=4-5,2-3", b"2345", "bytes 2-5/10"),
    ],
)
def test_one_range(
    site: Callable[..., Kit],
    ask: Callable[..., Any],
    wanted: str,
    part: bytes,
    content_range: str,
) -> None:
    found = ask(site(), "/digits.txt", range=wanted)
    assert (found.status, found.body) == (206, part)
    assert found.headers["content-range"] == content_range
    assert found.headers["content-type"] == "text/plain; charset=utf-8"
    assert found.headers["accept-ranges"] == "bytes"
    assert "etag" in found.headers


@pytest.mark.parametrize(
    "wanted",
    [
        "bytes",
        "bytes=",
        "bytes=,",
        "bytes=-",
        "bytes=x-y",
        "bytes=1",
        "bytes=5-2",
        "bytes=0-1,5-2",
        "bytes=0-1;2-3",
        "bytes=--1",
        "bytes=+1-2",
        "bytes=1-2-3",
        "lines=0-1",
        "bytes=" + ",".join(f"{n}-{n}" for n in range(17)),
        "bytes=" + " " * 600 + "0-0",
    ],
)
def test_what_is_no_range_is_ignored(
    site: Callable[..., Kit], ask: Callable[..., Any], wanted: str
) -> None:
    found = ask(site(), "/digits.txt", range=wanted)
    assert (found.status, found.body) == (200, DIGITS)


@pytest.mark.parametrize(
    "wanted",
    ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=50-60,70-", "bytes=" + "9" * 400 + "-"],
)
def test_a_range_behind_the_end(
    site: Callable[..., Kit], ask: Callable[..., Any], wanted: str
) -> None:
    """Without the file's Cache-Control: a cache could send the 416 to all others for a year."""
    found = ask(site(cache_control=IMMUTABLE), "/digits.txt", range=wanted)
    assert (found.status, found.body) == (416, b"")
    assert found.headers == {"accept-ranges": "bytes", "content-range": "bytes */10"}


def test_ranges_of_an_empty_file(site: Callable[..., Kit], ask: Callable[..., Any]) -> None:
    for wanted in ("bytes=0-", "bytes=-5", "bytes=5-6"):
        assert ask(site(), "/empty.txt", range=wanted).status == 200


def test_other_methods_have_no_ranges(site: Callable[..., Kit], ask: Callable[..., Any]) -> None:
    found = ask(site(), "/digits.txt", "HEAD", range="bytes=0-1")
    assert (found.status, found.headers["content-length"]) == (200, "10")


def parts_of(content_type: str, body: bytes) -> list[tuple[str, str, bytes]]:
    """Content-Range, Content-Type and content of each part, as a parser of MIME sees them."""
    message: Any = email.message_from_bytes(
        b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body
    )
    assert message.get_content_type() == "multipart/byteranges"
    assert not message.defects
    return [
        (part["Content-Range"], part["Content-Type"], part.get_payload(decode=True))
        for part in message.get_payload()
    ]


def large(folder: Path, size_bytes: int = 500_000) -> bytes:
    content = bytes(ord("a") + n % 23 for n in range(size_bytes))
    (folder / "large.txt").write_bytes(content)
    return content


@pytest.mark.parametrize(
    ("wanted", "spans"),
    [
        ("bytes=0-9,1000-1009", [(0, 9), (1000, 1009)]),
        ("bytes=1000-1009,0-9", [(1000, 1009), (0, 9)]),
        ("bytes=0-0,-1", [(0, 0), (499_999, 499_999)]),
        ("bytes=0-9,50-59,1000-1009", [(0, 9), (50, 59), (1000, 1009)]),
        ("bytes=0-1,3-4", [(0, 1), (3, 4)]),
        ("bytes=50-59,0-9,60-69", [(0, 9), (50, 69)]),
        ("bytes=5000-,0-199999,150000-210000,490000-600000,0-1", None),
        ("bytes=0-199999,300000-499999", [(0, 199_999), (300_000, 499_999)]),
    ],
)
def test_several_ranges(
    folder: Path,
    site: Callable[..., Kit],
    ask: Callable[..., Any],
    wanted: str,
    spans: list[tuple[int, int]] | None,
) -> None:
    content = large(folder)
    found = ask(site(), "/large.txt", range=wanted)
    assert found.status == 206
    if spans is None:
        assert found.headers["content-range"] == "bytes 0-499999/500000"
        assert found.body == content
        return
    assert "content-range" not in found.headers
    assert parts_of(found.headers["content-type"], found.body) == [
        (
            f"bytes {first}-{last}/500000",
            "text/plain; charset=utf-8",
            content[first : last + 1],
        )
        for first, last in spans
    ]
    assert found.headers.get("content-length", str(len(found.body))) == str(len(found.body))


def test_boundaries_differ(folder: Path, site: Callable[..., Kit], ask: Callable[..., Any]) -> None:
    large(folder)
    types = {
        ask(site(), "/large.txt", range="bytes=0-0,-1").headers["content-type"] for _ in range(2)
    }
    assert len(types) == 2
    assert all(re.fullmatch("multipart/byteranges; boundary=[0-9a-f]{32}", each) for each in types)


@pytest.mark.parametrize(
    "wanted",
    [
        "bytes=" + ",".join("0-" for _ in range(20_000)),
        "bytes=" + "," * 60_000,
        "bytes=" + "0" * 60_000 + "-",
        "bytes=" + " " * 60_000 + "x",
    ],
)
def test_cve_2025_62727_long_headers_cost_no_quadratic_time(
    site: Callable[..., Kit], ask: Callable[..., Any], wanted: str
) -> None:
    """A test that took it would be ended by its timeout."""
    assert ask(site(), "/digits.txt", range=wanted).status == 200


def test_cve_2025_62727_a_response_is_never_larger_than_the_file_and_its_parts(
    folder: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    content = large(folder)
    overlapping = ",".join(f"{n}-499999" for n in range(16))
    found = ask(site(), "/large.txt", range=f"bytes={overlapping}")
    assert (found.status, found.body) == (206, content)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.integers(0, 400) | st.none(), st.integers(0, 400) | st.none()),
        min_size=1,
        max_size=8,
    )
)
def test_any_ranges_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, wanted: list[tuple[int | None, int | None]]
) -> None:
    folder = tmp_path_factory.mktemp("ranges", numbered=True)
    content = large(folder, 300)
    app = Kit()
    app.use("*", serve_static(folder))
    specs = ["-".join("" if n is None else str(n) for n in each) for each in wanted]

    async def ask() -> Any:
        response = await app.request("/large.txt", headers={"Range": "bytes=" + ",".join(specs)})
        return response.status, dict(response.headers.items()), await response.bytes()

    status, headers, body = asyncio.run(ask())
    covered: set[int] = set()
    for first, last in wanted:
        if first is None:
            covered.update(range(max(300 - (last or 0), 0), 300))
        else:
            covered.update(range(first, min(300 if last is None else last + 1, 300)))
    malformed = any(
        (first is None and last is None)
        or (first is not None and last is not None and last < first)
        for first, last in wanted
    )
    if malformed:
        assert (status, body) == (200, content)
    elif not covered:
        assert (status, headers["content-range"]) == (416, "bytes */300")
    else:
        assert status == 206
        if "content-range" in headers:
            parts = [(headers["content-range"], "", body)]
        else:
            parts = parts_of(headers["content-type"], body)
        sent: set[int] = set()
        for content_range, _, part in parts:
            found = re.fullmatch("bytes ([0-9]+)-([0-9]+)/300", content_range)
            assert found is not None
            span = range(int(found[1]), int(found[2]) + 1)
            assert part == content[span.start : span.stop]
            assert not sent & set(span)
            sent.update(span)
        assert covered == sent
