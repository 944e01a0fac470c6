# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol, assert_type

from kit.interface import App, Context, Response
from kit.openapi import (
    UI,
    AppOperation,
    AppOperations,
    Problem,
    RoutingApp,
    Version,
    build_document,
    describe,
    find_operations,
    openapi,
)


class MyApp(RoutingApp, Protocol):
    """An app of somebody's own."""


def serve(app: MyApp, other: App) -> None:
    assert_type(openapi(app), MyApp)
    assert_type(
        openapi(
            app,
            info={"title": "Bookshelf", "version": "1.0.0"},
            servers=[{"url": "https://api.example.com"}],
            path="/api.json",
            docs=None,
            ui="scalar",
            assets=Path("static"),
            errors=Problem,
            version="3.2",
        ),
        MyApp,
    )
    assert_type(find_operations(other), AppOperations)
    assert_type(find_operations(other).operations, list[AppOperation])
    assert_type(build_document(other, version=version), dict[str, Any])


ui: UI = "scalar"
version: Version = "3.2"


@describe(summary="Reads", tags=["books"], responses={200: dict[str, int], 404: Problem})
async def read(c: Context[Any, Any]) -> Response:
    return c.json({})


handler: Callable[[Context[Any, Any]], Awaitable[Response]] = read
