# SPDX-License-Identifier: MIT
"""Conduit on Kit: the API of the example, without its logs, metrics, request ids and probes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from conduit.application import MAX_REQUEST_BYTES, add_api
from conduit.database import Database
from conduit.limits import Attempts
from conduit.settings import Settings
from conduit.tokens import Tokens

from kit import Kit, Limits


def make(settings: Settings) -> Any:
    """Creates the app, which opens no connection before it starts."""

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[Mapping[str, Any]]:
        database = Database(settings)
        yield {"database": database, "tokens": Tokens(settings)}
        await database.close()

    app = Kit(lifespan=lifespan, limits=Limits(max_body_size_bytes=MAX_REQUEST_BYTES))
    add_api(app, settings, Attempts(settings))
    return app
