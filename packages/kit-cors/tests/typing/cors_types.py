# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

import re
from typing import Any, assert_type

from kit.cors import cors
from kit.interface import AsyncMiddleware, Context


def allow(origin: str, c: Context[Any, Any]) -> str | None:
    return origin if origin.endswith(".example.com") else None


async def allow_later(origin: str, c: Context[Any, Any]) -> str | None:
    return allow(origin, c)


async def methods(origin: str, c: Context[Any, Any]) -> list[str]:
    return ["GET"]


assert_type(cors(), AsyncMiddleware)
assert_type(cors(origin="https://a.example", credentials=True, max_age=600), AsyncMiddleware)
assert_type(cors(origin=["https://a.example"], allow_headers=("X-A",)), AsyncMiddleware)
assert_type(cors(origin=re.compile("https://a[.]example")), AsyncMiddleware)
assert_type(cors(origin=allow, allow_methods=methods), AsyncMiddleware)
assert_type(cors(origin=allow_later, expose_headers={"X-A"}), AsyncMiddleware)
assert_type(cors(allow_private_network=False), AsyncMiddleware)
cors(max_age="600")  # type: ignore
cors(origin=7)  # type: ignore
