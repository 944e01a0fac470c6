# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_type

from kit.interface import AsyncMiddleware, Context
from kit.templates import Templates, layout, templates


def user(c: Context[Any, Any]) -> Mapping[str, Any]:
    return {"user": c.get("user")}


async def messages(c: Context[Any, Any]) -> dict[str, list[str]]:
    return {"messages": []}


pages = templates("pages", layout="base.html", context=[user, messages])
assert_type(pages, Templates)
middleware: AsyncMiddleware = pages
assert_type(pages.render("mail.txt", {"name": "Ann"}), str)
assert_type(pages.check(), list[str])
assert_type(pages.links(), list[str])
assert_type(templates([Path("a"), "b"], package="shop", htmx=True), Templates)
assert_type(templates("pages", filters={"double": lambda n: n * 2}), Templates)
assert_type(layout("admin.html"), AsyncMiddleware)
templates(7)  # type: ignore
templates("pages", context=7)  # type: ignore
layout()  # type: ignore
