# SPDX-License-Identifier: MIT
"""The tags of articles."""

from __future__ import annotations

from conduit.database import Transaction
from conduit.queries.articles import popular_tags
from conduit.schemas import TagsResponse
from kit import Kit
from kit.typed import typed

tags = Kit()


@tags.get("/")
@typed
async def list_tags(session: Transaction) -> TagsResponse:
    """Lists the most popular tags."""
    return TagsResponse(await popular_tags(session))
