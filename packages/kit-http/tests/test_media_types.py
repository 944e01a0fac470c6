# SPDX-License-Identifier: MIT
"""Media types of Content-Type headers."""

from __future__ import annotations

import pytest

from kit.http.media_types import choose_media_type, is_compressible, is_json, media_type


@pytest.mark.parametrize(
    ("content_type", "expected", "json"),
    [
        pytest.param(None, "", False, id="none"),
        pytest.param("", "", False, id="empty"),
        pytest.param("Text/HTML; charset=UTF-8", "text/html", False, id="parameters"),
        pytest.param("application/json", "application/json", True, id="json"),
        pytest.param(" Application/JSON ;a=b", "application/json", True, id="blanks"),
        pytest.param("application/problem+json", "application/problem+json", True, id="suffix"),
        pytest.param("application/jsonp", "application/jsonp", False, id="other"),
        pytest.param(
            "application/x-www-form-urlencoded",
            "application/x-www-form-urlencoded",
            False,
            id="urlencoded",
        ),
    ],
)
def test_media_type(content_type: str | None, expected: str, json: bool) -> None:
    assert (media_type(content_type), is_json(content_type)) == (expected, json)


@pytest.mark.parametrize(
    ("content_type", "compressible"),
    [
        (None, False),
        ("", False),
        ("text/html; charset=UTF-8", True),
        ("TEXT/Plain", True),
        ("text/event-stream", True),
        ("application/json", True),
        ("application/problem+json", True),
        ("application/vnd.github.v3+json; charset=utf-8", True),
        ("application/javascript", True),
        ("application/wasm", True),
        ("application/atom+xml", True),
        ("application/openapi+yaml", True),
        ("image/svg+xml", True),
        ("image/x-icon", True),
        ("font/ttf", True),
        ("font/woff2", False),
        ("image/png", False),
        ("video/mp4", False),
        ("application/zip", False),
        ("application/octet-stream", False),
        ("application/jsonp", False),
        ("textual/plain", False),
        ("text/plain; boundary=" + "a" * 1000, True),
    ],
)
def test_is_compressible(content_type: str | None, compressible: bool) -> None:
    assert is_compressible(content_type) is compressible


LINES, EVENTS = "application/jsonl", "text/event-stream"


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, LINES),
        ("", LINES),
        ("*/*", LINES),
        ("text/event-stream", EVENTS),
        ("Text/Event-Stream", EVENTS),
        ("text/event-stream;charset=utf-8", EVENTS),
        ("text/*", EVENTS),
        ("text/event-stream, */*", EVENTS),
        ("*/*, text/event-stream", EVENTS),
        ("text/event-stream;q=0.1, */*", LINES),
        ("text/event-stream, application/jsonl", EVENTS),
        ("application/jsonl, text/event-stream", LINES),
        ("application/jsonl;q=0.5, text/event-stream;q=0.8", EVENTS),
        ("*/*, application/jsonl;q=0", EVENTS),
        ("text/*;q=0, */*", LINES),
        ("application/*;q=0, text/event-stream;q=0", None),
        ("text/html,application/xml;q=0.9,*/*;q=0.8", LINES),
        ("application/json", None),
        ("*/*;q=0", None),
    ],
)
def test_choose_media_type(accept: str | None, chosen: str | None) -> None:
    assert choose_media_type(accept, [LINES, EVENTS]) == chosen
