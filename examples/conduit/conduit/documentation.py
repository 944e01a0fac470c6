# SPDX-License-Identifier: MIT
"""The OpenAPI document and its docs page."""

from __future__ import annotations

from functools import cache
from typing import Any

from conduit.schemas import ErrorResponse
from conduit.tokens import SCHEME
from kit import Context, Kit, Response, in_thread
from kit.openapi import build_document, describe, openapi

OPTIONS: dict[str, Any] = {
    "info": {
        "title": "Conduit",
        "version": "1.0.0",
        "description": "A blogging API, as the RealWorld project specifies it.",
        "license": {"name": "MIT", "identifier": "MIT"},
    },
    "tags": [
        {"name": "articles", "description": "What users write, and what they like."},
        {"name": "comments", "description": "What users say of an article."},
        {"name": "profiles", "description": "What everybody sees of a user."},
        {"name": "tags", "description": "The tags of all articles."},
        {"name": "user", "description": "The user who is logged in."},
        {"name": "users", "description": "Registration and login."},
    ],
    "errors": ErrorResponse,
    "security_schemes": {"Token": SCHEME},
}

INVALID = {
    "description": "Invalid data",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorResponse"}}},
}


def document(app: Kit) -> dict[str, Any]:
    """Builds the document of the API, without the pages of the site.

    It documents 422 for invalid requests, in place of the 400 that kit-typed declares.
    """
    built = build_document(app, **OPTIONS)
    built["paths"] = {
        path: methods for path, methods in built["paths"].items() if path.startswith("/api/")
    }
    for methods in built["paths"].values():
        for operation in methods.values():
            operation["responses"].pop("400", None)
            operation["responses"]["422"] = INVALID
    return built


def document_api(app: Kit) -> None:
    """Adds the document at /openapi.json and the docs page at /docs."""
    # Built at the first request, when all routes are registered.
    built = cache(lambda: document(app))

    # Registered before openapi(), so this document is served, and the docs page shows it.
    @app.get("/openapi.json")
    @describe(hidden=True)
    @in_thread  # building it is slow, but happens only once
    def openapi_document(c: Context) -> Response:
        return c.json(built())

    openapi(app, **OPTIONS)
