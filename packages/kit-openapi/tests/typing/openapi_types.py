# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol, assert_type

from kit import Kit
from kit.interface import App, Context, Response
from kit.openapi import (
    UI,
    AppOperation,
    AppOperations,
    Description,
    OperationFilter,
    Problem,
    RouteOperation,
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
            webhooks={
                "added": dict[str, int],
                "removed": describe(request_body=int),
                "changed": {"put": read},
            },
            external_docs="https://example.com",
            security=[{"login": []}],
            security_schemes={"login": {"type": "http", "scheme": "basic"}},
            extensions={"x-a": 1},
            include=is_public,
            exclude=["admin", "/internal/*"],
            transform=lambda document: {**document, "x-b": 2},
            version="3.2",
        ),
        MyApp,
    )
    assert_type(find_operations(other), AppOperations)
    assert_type(find_operations(other).operations, list[AppOperation])
    assert_type(build_document(other, version=version), dict[str, Any])


def is_public(operation: RouteOperation) -> bool:
    assert_type(operation.tags, tuple[str, ...])
    return operation.method == "GET"


def describe_part(app: Kit[Any, Any]) -> None:
    app.use(describe(tags=["books", {"name": "shelf", "description": "Of books"}]))
    app.use("/admin/*", describe(hidden=True))
    app.get("/", read, use=[describe(deprecated=True)])


ui: UI = "scalar"
selected: OperationFilter = "books"
assert_type(describe(), Description)
version: Version = "3.2"


@describe(summary="Reads", tags=["books"], responses={200: dict[str, int], 404: Problem})
async def read(c: Context[Any, Any]) -> Response:
    return c.json({})


described: Callable[[Context[Any, Any]], Awaitable[Response]] = describe(
    parameters=[{"name": "q", "in": "query", "schema": str}],
    headers={"X-Id": str, 200: {"ETag": str}},
    callbacks={"done": {"{$request.query.url}": dict[str, int]}},
    extensions={"x-a": 1},
    external_docs={"url": "https://example.com"},
)(read)
handler: Callable[[Context[Any, Any]], Awaitable[Response]] = read
