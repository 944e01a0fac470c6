# SPDX-License-Identifier: MIT
"""Assembles the app: its lifespan, its middleware in order, the API and the site."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from conduit import errors as api_errors
from conduit.articles import articles
from conduit.comments import comments
from conduit.database import Database
from conduit.documentation import document_api
from conduit.limits import Attempts, limit_attempts
from conduit.migrate import upgrade
from conduit.profiles import profiles
from conduit.seed import seed
from conduit.settings import Settings
from conduit.tags import tags
from conduit.tokens import Tokens
from conduit.users import account, users
from conduit.web import add_site
from conduit.web import errors as page_errors
from kit import Context, HTTPException, Kit, Limits, Response
from kit.cors import cors
from kit.health import health
from kit.logger import access_log
from kit.metrics import metrics
from kit.request_id import request_id

# A body of 100,000 characters takes up to 600,000 bytes of JSON.
MAX_REQUEST_BYTES = 1024 * 1024


async def prepare(database: Database, settings: Settings) -> None:
    """Migrates the database, and adds example data if the settings say so."""
    async with database.transaction() as session:
        await upgrade(session)
        if settings.has_examples:
            await seed(session)


def create_app(settings: Settings) -> Kit:
    """Creates the app, which opens no connection before it starts."""
    database = Database(settings)

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[Mapping[str, Any]]:
        try:
            if not settings.is_production:
                await prepare(database, settings)
            yield {"database": database, "tokens": Tokens(settings)}
        finally:
            await database.close()

    limits = Limits(max_body_size_bytes=MAX_REQUEST_BYTES)
    app = Kit(lifespan=lifespan, limits=limits, method_not_allowed=True)
    # Probes are neither logged nor measured. Everything below is.
    app.use(health({"database": database.check}))
    app.use(request_id())
    app.use(access_log(trusted_hops=settings.trusted_hops))
    app.use(metrics())
    document_api(app)
    attempts = Attempts(settings)
    add_api(app, settings, attempts)
    add_site(app, settings, attempts)
    app.on_error(HTTPException, refused)
    return app


def add_api(app: Kit, settings: Settings, attempts: Attempts) -> None:
    """Adds the API below /api, with one app per resource."""
    api = app.base_path("/api")
    api_errors.handle_errors(api)
    # Browsers send preflight requests without a token, so this comes before the guards.
    api.use(cors(origin=[*settings.origins] if settings.origins != ("*",) else "*"))
    limit_attempts(api, attempts)
    api.route("/users", users)
    api.route("/user", account)
    api.route("/profiles", profiles)
    api.route("/articles/:slug/comments", comments)
    api.route("/articles", articles)
    api.route("/tags", tags)


async def refused(error: HTTPException, c: Context) -> Response:
    """Answers requests that are rejected before routing, such as a body that is too large."""
    is_api = c.req.path.startswith("/api/")
    answer = api_errors.refused if is_api else page_errors.refused
    return await answer(error, c)
