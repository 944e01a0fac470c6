# SPDX-License-Identifier: MIT
"""Articles: lists, the feed, single articles and favorites."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET
from sqlalchemy.ext.asyncio import AsyncSession

from conduit.database import Session, in_transaction
from conduit.parameters import (
    FoundArticle,
    Limit,
    Offset,
    OwnArticle,
    Slug,
    TagFilter,
    UserFilter,
    found,
)
from conduit.queries import articles as queries
from conduit.schemas import ArticleResponse, ArticlesResponse, NewArticle, UpdateArticle
from conduit.tables import User, now
from conduit.tokens import CurrentUser, Reader, optional, required
from kit import Kit
from kit.typed import Body, typed

articles = Kit()
articles.use(in_transaction)


@articles.get("/", use=optional)
@typed
async def list_articles(
    session: Session,
    reader: Reader,
    tag: TagFilter = None,
    author: UserFilter = None,
    favorited: UserFilter = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> ArticlesResponse:
    """Lists articles, newest first, optionally filtered by tag, author or favorites."""
    conditions = []
    if tag is not None:
        conditions.append(queries.has_tag(tag))
    if author is not None:
        conditions.append(queries.is_by(author))
    if favorited is not None:
        conditions.append(queries.is_favorite_of(favorited))
    return await queries.find_articles(session, reader, conditions, limit=limit, offset=offset)


# Registered before `/:slug`, which also matches this path.
@articles.get("/feed", use=required)
@typed
async def list_feed(
    session: Session, user: CurrentUser, limit: Limit = 20, offset: Offset = 0
) -> ArticlesResponse:
    """Lists articles by authors the user follows, newest first."""
    conditions = [queries.is_in_feed_of(user)]
    return await queries.find_articles(session, user, conditions, limit=limit, offset=offset)


@articles.post("/", use=required)
@typed(status=201)
async def create_article(
    article: Annotated[NewArticle, Body(embed=True)], session: Session, user: CurrentUser
) -> ArticleResponse:
    """Publishes an article."""
    added = await queries.add_article(session, user, article)
    return await shown(session, added.slug, user)


@articles.get("/:slug", use=optional)
@typed
async def read_article(slug: Slug, session: Session, reader: Reader) -> ArticleResponse:
    """Returns an article.

    Raises:
        HTTPException: 404 if there is no such article.
    """
    return await shown(session, slug, reader)


@articles.put("/:slug", use=required)
@typed
async def update_article(
    article: OwnArticle,
    changes: Annotated[UpdateArticle, Body("article", embed=True)],
    session: Session,
    user: CurrentUser,
) -> ArticleResponse:
    """Updates an article. Omitted fields stay unchanged; a new title creates a new slug.

    Raises:
        HTTPException: 404 if there is no such article.
    """
    if changes.description is not UNSET:
        article.description = changes.description
    if changes.body is not UNSET:
        article.body = changes.body
    article.updated_at = now()
    if changes.title is not UNSET:
        await queries.set_title(session, article, changes.title)
    return await shown(session, article.slug, user)


@articles.delete("/:slug", use=required)
@typed
async def delete_article(article: OwnArticle, session: Session) -> None:
    """Deletes an article and its comments.

    Raises:
        HTTPException: 404 if there is no such article.
    """
    await session.delete(article)


@articles.post("/:slug/favorite", use=required)
@typed
async def create_favorite(
    article: FoundArticle, session: Session, user: CurrentUser
) -> ArticleResponse:
    """Adds an article to the user's favorites."""
    await queries.favorite(session, user, article)
    return await shown(session, article.slug, user)


@articles.delete("/:slug/favorite", use=required)
@typed
async def delete_favorite(
    article: FoundArticle, session: Session, user: CurrentUser
) -> ArticleResponse:
    """Removes an article from the user's favorites."""
    await queries.unfavorite(session, user, article)
    return await shown(session, article.slug, user)


async def shown(session: AsyncSession, slug: str, reader: User | None) -> ArticleResponse:
    return ArticleResponse(found(await queries.find_article(session, slug, reader), "article"))
