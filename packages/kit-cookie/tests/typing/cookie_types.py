# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, Literal, assert_type

from kit.cookie import (
    delete_cookie,
    generate_cookie,
    get_cookie,
    get_signed_cookie,
    set_cookie,
    set_signed_cookie,
)
from kit.interface import Context


def handler(c: Context[Any, Any]) -> None:
    assert_type(get_cookie(c), dict[str, str])
    assert_type(get_cookie(c, "theme"), str | None)
    assert_type(get_cookie(c, "theme", "host"), str | None)
    assert_type(get_signed_cookie(c, "secret"), dict[str, str | Literal[False]])
    assert_type(get_signed_cookie(c, b"secret", "user"), str | Literal[False] | None)
    set_cookie(c, "theme", "dark", path="/", max_age=60, same_site="Lax", secure=True)
    assert_type(generate_cookie("theme", "dark", path="/", max_age=60), str)
    set_signed_cookie(c, "user", "7", "secret", http_only=True)
    assert_type(delete_cookie(c, "theme"), str | None)
