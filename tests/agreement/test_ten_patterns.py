# SPDX-License-Identifier: MIT
"""Ten patterns of a service, with FastAPI and with Kit: the same answers, and no more lines."""

from __future__ import annotations

import inspect
import json
from typing import Any

import patterns_fastapi
import patterns_kit
import pytest
from fastapi.testclient import TestClient

BOOK = {"title": "Momo", "year": 1973}
# In order, as arguments of httpx.
REQUESTS: list[dict[str, Any]] = [
    {"method": "POST", "url": "/books", "json": BOOK},
    {"method": "POST", "url": "/books", "json": {"title": "Dune"}},
    {"method": "POST", "url": "/books", "json": {"title": ""}},
    {"method": "POST", "url": "/books", "json": {"year": "x"}},
    {"method": "GET", "url": "/books/1"},
    {"method": "GET", "url": "/books/9"},
    {"method": "GET", "url": "/books/x"},
    {"method": "GET", "url": "/books"},
    {"method": "GET", "url": "/books?limit=1"},
    {"method": "GET", "url": "/books?limit=1&offset=1"},
    {"method": "GET", "url": "/books?limit=0"},
    {"method": "PATCH", "url": "/books/1", "json": {"year": None}},
    {"method": "PATCH", "url": "/books/1", "json": {"title": "The Mirror"}},
    {"method": "PATCH", "url": "/books/1", "json": {"title": ""}},
    {"method": "PATCH", "url": "/books/9", "json": {}},
    {"method": "POST", "url": "/login", "data": {"name": "ada", "age": ""}},
    {"method": "POST", "url": "/login", "data": {"name": "ada", "age": "36"}},
    {"method": "POST", "url": "/login", "data": {"age": "x"}},
    {
        "method": "POST",
        "url": "/login",
        "data": {"name": "ada"},
        "headers": {"cookie": "theme=dark"},
    },
    {"method": "POST", "url": "/books/1/cover", "files": {"cover": ("a.png", b"abc")}},
    {"method": "POST", "url": "/books/9/cover", "files": {"cover": ("a.png", b"abc")}},
    {"method": "POST", "url": "/books/1/cover"},
    {"method": "POST", "url": "/books/1/mails"},
    {"method": "DELETE", "url": "/admin/books/x"},
    {"method": "DELETE", "url": "/admin/books/1", "headers": {"x-role": "guest"}},
    {"method": "DELETE", "url": "/admin/books/1", "headers": {"x-role": "admin"}},
    {"method": "GET", "url": "/books/1"},
    {"method": "GET", "url": "/events", "headers": {"accept": "text/event-stream"}},
    {
        "method": "GET",
        "url": "/events",
        "headers": {"accept": "text/event-stream", "last-event-id": "2"},
    },
]
# A different order of JSON's keys and spaces is no difference.
EVENT = b"data: "


def body(content: bytes) -> Any:
    if content.startswith(EVENT):
        return [json.loads(line[6:]) for line in content.splitlines() if line.startswith(EVENT)]
    return json.loads(content) if content else None


def test_both_answer_the_same() -> None:
    with TestClient(patterns_fastapi.app) as theirs, TestClient(patterns_kit.app) as ours:
        for asked in REQUESTS:
            expected, answer = theirs.request(**asked), ours.request(**asked)
            assert answer.status_code == expected.status_code, asked
            if expected.status_code not in (401, 403, 422):
                assert body(answer.content) == body(expected.content), asked


@pytest.mark.parametrize("number", range(1, 11))
def test_no_pattern_takes_more_lines(number: int) -> None:
    assert lines(patterns_kit)[number] <= lines(patterns_fastapi)[number]


def test_no_more_lines_in_all() -> None:
    assert sum(lines(patterns_kit).values()) < sum(lines(patterns_fastapi).values())


def lines(module: Any) -> dict[int, int]:
    """The lines of code of each pattern; 0 has what they share."""
    found = {0: 0}
    number = 0
    for line in inspect.getsource(module).splitlines():
        if line.startswith("# ") and line[2:].partition(":")[0].isdigit():
            number = int(line[2:].partition(":")[0])
            found[number] = 0
        elif line.strip() and not line.startswith(("#", '"""')):
            found[number] += 1
    return found
