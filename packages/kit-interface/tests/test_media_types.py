# SPDX-License-Identifier: MIT
"""Media types of Content-Type headers."""

from __future__ import annotations

import pytest

from kit.interface.media_types import is_json, media_type


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
