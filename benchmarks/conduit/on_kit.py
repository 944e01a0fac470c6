# SPDX-License-Identifier: MIT
"""Conduit on Kit: the resources of the example, with its errors and CORS.

What FastAPI has no part for is left out: logs, metrics, request ids and probes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from conduit.application import MAX_REQUEST_BYTES
from conduit.articles import articles
from conduit.comments import comments
from conduit.database import Database
from conduit.errors import handle_errors
from conduit.profiles import profiles
from conduit.settings import Settings
from conduit.tags import tags
from conduit.tokens import Tokens
from conduit.users import account, users

from kit import Kit, Limits
from kit.cors import cors


def make(settings: Settings) -> Any:
    """Makes the app. Nothing is opened before it starts."""

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[Mapping[str, Any]]:
        database = Database(settings)
        yield {"database": database, "tokens": Tokens(settings)}
        await database.close()

    app = Kit(lifespan=lifespan, limits=Limits(max_body_size_bytes=MAX_REQUEST_BYTES))
    api = app.base_path("/api")
    handle_errors(api)
    api.use(cors(origin="*"))
    api.route("/users", users)
    api.route("/user", account)
    api.route("/profiles", profiles)
    api.route("/articles/:slug/comments", comments)
    api.route("/articles", articles)
    api.route("/tags", tags)
    return app
