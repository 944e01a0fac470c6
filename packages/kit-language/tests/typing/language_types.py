# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit.interface import AsyncMiddleware, Context
from kit.language import (
    detect_from_cookie,
    detect_from_header,
    detect_from_path,
    detect_from_query,
    language_detector,
)


async def converted(language: str) -> str:
    return language.replace("_", "-")


assert_type(language_detector(), AsyncMiddleware)
assert_type(
    language_detector(
        order=["path", "header"],
        caches=["cookie"],
        supported_languages=("en", "de"),
        fallback_language="de",
        cookie_options={"max_age": 60, "same_site": "Lax"},
        convert_detected_language=converted,
        debug=True,
    ),
    AsyncMiddleware,
)
assert_type(language_detector(caches=False, convert_detected_language=str.lower), AsyncMiddleware)


def handler(c: Context) -> None:
    assert_type(detect_from_query(c, ["en"]), str | None)
    assert_type(detect_from_cookie(c, ("en",), lookup_cookie="l"), str | None)
    assert_type(detect_from_header(c, {"en"}, ignore_case=False), str | None)
    assert_type(detect_from_path(c, ["en"], lookup_from_path_index=1), str | None)
