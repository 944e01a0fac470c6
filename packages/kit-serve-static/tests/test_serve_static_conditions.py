# SPDX-License-Identifier: MIT
"""Preconditions in the order of RFC 9110, section 13.2.2, and If-Range, on a served file."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit import Kit

MODIFIED = "Tue, 14 Nov 2023 22:13:20 GMT"
BEFORE = "Tue, 14 Nov 2023 22:13:19 GMT"
AFTER = "Tue, 14 Nov 2023 22:13:21 GMT"


@pytest.fixture
def etag(site: Callable[..., Kit], ask: Callable[..., Any]) -> str:
    value: str = ask(site(), "/digits.txt").headers["etag"]
    assert value.startswith('"')
    return value


def expected(
    tag: str, match: str, unmodified: str, none_match: str, modified: str, method: str
) -> int:
    """The status by section 13.2.2, written from its text for values of these tests."""
    if match:
        if match not in ("*", tag):
            return 412
    elif unmodified == BEFORE:
        return 412
    if none_match:
        if none_match in ("*", tag, f"W/{tag}"):
            return 304
    elif modified in (MODIFIED, AFTER):
        return 304
    return 200


def test_every_combination(site: Callable[..., Kit], run: Callable[..., Any], etag: str) -> None:
    app = site()
    tags = ("", "*", etag, f"W/{etag}", '"other"')
    dates = ("", BEFORE, MODIFIED, AFTER)
    names = ("If-Match", "If-Unmodified-Since", "If-None-Match", "If-Modified-Since")
    seen: set[int] = set()

    async def ask_all() -> None:
        for values in itertools.product(tags, dates, tags, dates):
            for method in ("GET", "HEAD"):
                headers = {name: value for name, value in zip(names, values, strict=True) if value}
                response = await app.request("/digits.txt", method=method, headers=headers)
                assert response.status == expected(etag, *values, method), headers
                seen.add(response.status)

    run(ask_all)
    assert seen == {200, 304, 412}


def test_not_modified_has_the_headers_that_caches_need(
    site: Callable[..., Kit], ask: Callable[..., Any], etag: str
) -> None:
    app = site(precompressed=True, cache_control="no-cache")
    found = ask(app, "/digits.txt", if_none_match=f'"x", {etag}')
    assert (found.status, found.body) == (304, b"")
    assert found.headers == {
        "cache-control": "no-cache",
        "etag": etag,
        "vary": "Accept-Encoding",
    }


def test_a_failed_precondition(site: Callable[..., Kit], ask: Callable[..., Any]) -> None:
    found = ask(site(cache_control="no-cache"), "/digits.txt", if_match='"x"')
    assert (found.status, found.body) == (412, b"")
    # No validators, either: they would be those of the error.
    assert found.headers == {}


@pytest.mark.parametrize(
    ("if_range", "status"),
    [
        ("{etag}", 206),
        ('"other"', 200),
        ("W/{etag}", 200),
        (MODIFIED, 200),  # the file may have changed later in that second
        (BEFORE, 200),
        (AFTER, 200),
        ("nonsense", 200),
    ],
)
def test_if_range(
    site: Callable[..., Kit], ask: Callable[..., Any], etag: str, if_range: str, status: int
) -> None:
    value = if_range.format(etag=etag)
    found = ask(site(), "/digits.txt", range="bytes=0-1", if_range=value)
    assert (found.status, len(found.body)) == (status, 2 if status == 206 else 10)
    # A range that can't be satisfied is none, either, if the file has changed.
    found = ask(site(), "/digits.txt", range="bytes=50-", if_range=value)
    assert found.status == (416 if status == 206 else 200)


def test_preconditions_come_before_ranges(
    site: Callable[..., Kit], ask: Callable[..., Any], etag: str
) -> None:
    app = site()
    assert ask(app, "/digits.txt", range="bytes=50-", if_none_match=etag).status == 304
    assert ask(app, "/digits.txt", range="bytes=0-1", if_match='"x"').status == 412


def test_an_etag_tells_versions_of_one_second_apart(
    folder: Path, site: Callable[..., Kit], ask: Callable[..., Any], etag: str
) -> None:
    path = folder / "digits.txt"
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert ask(site(), "/digits.txt").headers["etag"] != etag
