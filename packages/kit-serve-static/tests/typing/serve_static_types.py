# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

from kit.interface import AsyncMiddleware, Context, Response
from kit.serve_static import (
    IMMUTABLE,
    CacheControl,
    hashed_names,
    safe_segments,
    send_file,
    serve_static,
)


async def later(path: str) -> str | None:
    return IMMUTABLE if path else None


async def content(path: str, c: Context[Any, Any]) -> bytes | None:
    return None


async def note(path: str, c: Context[Any, Any]) -> None: ...


async def handler(c: Context[Any, Any]) -> Response:
    return await send_file(c, Path("a.pdf"), root="reports", filename="b.pdf", download=True)


assert_type(serve_static("public"), AsyncMiddleware)
assert_type(serve_static(Path("public"), "index.html"), AsyncMiddleware)
assert_type(serve_static("public", precompressed=["br"], on_found=note), AsyncMiddleware)
assert_type(serve_static("public", cache_control=hashed_names()), AsyncMiddleware)
assert_type(serve_static("public", cache_control=later, pathsend=True), AsyncMiddleware)
assert_type(serve_static(package="shop", directory="static"), AsyncMiddleware)
assert_type(serve_static(get_content=content, is_dir=lambda path: False), AsyncMiddleware)
by_name: CacheControl = hashed_names(None, pattern="^assets/")
assert_type(hashed_names()("app.js"), str | None)
assert_type(safe_segments("/a/b"), tuple[str, ...] | None)
serve_static()  # type: ignore
serve_static("public", package="shop")  # type: ignore
serve_static("public", precompressed=7)  # type: ignore
serve_static(get_content=content, fallback="index.html")  # type: ignore
send_file("a.pdf")  # type: ignore
