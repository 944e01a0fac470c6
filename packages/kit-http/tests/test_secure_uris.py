# SPDX-License-Identifier: MIT
"""Which URIs an app may send requests to."""

from __future__ import annotations

import pytest

from kit.http.secure_uris import is_secure_uri


@pytest.mark.parametrize(
    "uri",
    [
        "https://id.example",
        "https://id.example:8443/keys?a=b#c",
        "http://localhost:8000/keys",
        "http://127.0.0.1/",
        "http://[::1]:8000/",
    ],
)
def test_secure(uri: str) -> None:
    assert is_secure_uri(uri) is True


@pytest.mark.parametrize(
    "uri",
    [
        "http://id.example/",
        "http://localhost.id.example/",
        "http://10.0.0.1/",
        "ftp://id.example/",
        "https://user@id.example/",
        "https://id.example:port/",
        "https:///keys",
        "//id.example/",
        "/keys",
        "https://id.example/\tkeys",
        "https://id.example/k\u00e9ys",
        "",
        None,
        7,
    ],
)
def test_not_secure(uri: object) -> None:
    assert is_secure_uri(uri) is False
