# SPDX-License-Identifier: MIT
"""Credentials in Authorization."""

from __future__ import annotations

from base64 import b64encode

import pytest

from kit.http.credentials import parse_basic


def basic(text: str) -> str:
    return "Basic " + b64encode(text.encode()).decode()


@pytest.mark.parametrize("text", ["ada:secret", "ada:", ":secret", "ada:a:b", "zoë:pässword"])
def test_basic(text: str) -> None:
    assert parse_basic(basic(text)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("basic YTpi", "a:b"),
        ("BASIC   YTpi  ", "a:b"),
        ("Basic YTpiYw==", "a:bc"),
        ("Basic YTpiYw", "a:bc"),
        (basic("\ufeffa:b"), "a:b"),
    ],
)
def test_spellings(value: str, text: str) -> None:
    assert parse_basic(value) == text


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "Basic",
        "Basic ",
        "Bearer YTpi",
        "Basic YTpi, Basic YTpi",
        "Basic YTpiYw=",
        "Basic YTpi=",
        "Basic Y!pi",
        "Basic /////w==",
        basic("no colon"),
        basic("a:b\n"),
        basic("ä:\x00"),
    ],
)
def test_no_credentials(value: str | None) -> None:
    assert parse_basic(value) is None
