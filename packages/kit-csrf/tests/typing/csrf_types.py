# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

from kit.csrf import SecFetchSite, csrf
from kit.interface import AsyncMiddleware, Context


async def by_origin(origin: str, c: Context[Any, Any]) -> bool:
    return origin.endswith(".example.com")


def by_site(site: SecFetchSite, c: Context[Any, Any]) -> bool:
    return site == "same-site"


assert_type(csrf(), AsyncMiddleware)
assert_type(csrf(origin="https://a.example", forms_only=True), AsyncMiddleware)
assert_type(csrf(origin=["https://a.example"], sec_fetch_site="same-site"), AsyncMiddleware)
assert_type(csrf(origin=by_origin, sec_fetch_site=by_site), AsyncMiddleware)
assert_type(csrf(sec_fetch_site=["same-origin", "none"]), AsyncMiddleware)
csrf(sec_fetch_site="other")  # type: ignore
csrf(forms_only="yes")  # type: ignore
