# SPDX-License-Identifier: MIT
"""Articles, with their tags, favorites and authors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    ScalarSelect,
    Select,
    delete,
    exists,
    false,
    func,
    insert,
    select,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from conduit.database import insert_once, violated_constraint
from conduit.queries.users import is_following
from conduit.schemas import Article as ArticleShown
from conduit.schemas import ArticlesResponse, ArticleSummary, NewArticle, Profile, timestamp
from conduit.slugs import slug_of, slugs_of
from conduit.tables import Article, Favorite, Follow, Tag, User

MAX_SHOWN_TAGS = 100


async def article_by_slug(
    session: AsyncSession, slug: str, *, to_change: bool = False
) -> Article | None:
    """Finds an article.

    Args:
        session: The session.
        slug: The slug.
        to_change: Whether to lock the row until the end of the transaction.
    """
    query = select(Article).where(Article.slug == slug)
    return await session.scalar(query.with_for_update() if to_change else query)


async def find_article(
    session: AsyncSession, slug: str, reader: User | None
) -> ArticleShown | None:
    query = _shown_to(reader).add_columns(Article.body).where(Article.slug == slug)
    row = (await session.execute(query)).one_or_none()
    if row is None:
        return None
    tags = await _tags_of(session, [row.id])
    return ArticleShown(**_fields(row, tags), body=row.body)


async def find_articles(
    session: AsyncSession,
    reader: User | None,
    conditions: Iterable[ColumnElement[bool]] = (),
    *,
    limit: int = 20,
    offset: int = 0,
) -> ArticlesResponse:
    """Finds a page of the articles that meet all conditions, newest first, in three statements."""
    where = [*conditions]
    query = (
        _shown_to(reader)
        .where(*where)
        .order_by(Article.created_at.desc(), Article.id.desc())
        .limit(limit)
        .offset(offset)
    )
    rows = (await session.execute(query)).all()
    tags = await _tags_of(session, [row.id for row in rows])
    count = await session.scalar(select(func.count()).select_from(Article).where(*where))
    return ArticlesResponse([ArticleSummary(**_fields(row, tags)) for row in rows], count or 0)


def has_tag(name: str) -> ColumnElement[bool]:
    return exists().where(Tag.article_id == Article.id, Tag.name == name)


def is_by(username: str) -> ColumnElement[bool]:
    return Article.author_id == _id_of(username)


def is_favorite_of(username: str) -> ColumnElement[bool]:
    return exists().where(Favorite.article_id == Article.id, Favorite.user_id == _id_of(username))


def is_in_feed_of(reader: User) -> ColumnElement[bool]:
    followed = select(Follow.followed_id).where(Follow.follower_id == reader.id)
    return Article.author_id.in_(followed)


async def add_article(session: AsyncSession, author: User, new: NewArticle) -> Article:
    article = Article(author_id=author.id, description=new.description, body=new.body)
    await set_title(session, article, new.title)
    await _add_tags(session, article, new.tag_list)
    return article


async def replace_tags(session: AsyncSession, article: Article, names: Iterable[str]) -> None:
    await session.execute(delete(Tag).where(Tag.article_id == article.id))
    await _add_tags(session, article, names)


async def _add_tags(session: AsyncSession, article: Article, names: Iterable[str]) -> None:
    tags = [{"article_id": article.id, "name": name} for name in {*names}]
    if tags:
        await session.execute(insert(Tag), tags)


async def set_title(session: AsyncSession, article: Article, title: str) -> None:
    """Sets the title and the first free slug, and writes the article.

    If the new title results in the same slug, the article keeps its slug. The unique constraint
    decides whether a slug is free. A violation only rolls back the savepoint, not the transaction.
    """
    if article.slug and slug_of(title) == slug_of(article.title):
        article.title = title
        return
    for slug in slugs_of(title):
        try:
            async with session.begin_nested():
                article.title, article.slug = title, slug
                session.add(article)
            return
        except IntegrityError as error:
            if violated_constraint(error) != "uq_articles_slug":
                raise


async def favorite(session: AsyncSession, user: User, article: Article) -> None:
    await insert_once(session, insert(Favorite).values(user_id=user.id, article_id=article.id))


async def unfavorite(session: AsyncSession, user: User, article: Article) -> None:
    await session.execute(
        delete(Favorite).where(Favorite.user_id == user.id, Favorite.article_id == article.id)
    )


async def popular_tags(session: AsyncSession, limit: int = MAX_SHOWN_TAGS) -> list[str]:
    """Returns the tags with the most articles."""
    query = select(Tag.name).group_by(Tag.name).order_by(func.count().desc(), Tag.name).limit(limit)
    return [*await session.scalars(query)]


def _shown_to(reader: User | None) -> Select[Any]:
    """Selects everything that lists show of an article, except its tags."""
    favorites = (
        select(func.count())
        .select_from(Favorite)
        .where(Favorite.article_id == Article.id)
        .scalar_subquery()
    )
    favorited: ColumnElement[bool] = false()
    if reader is not None:
        favorited = exists().where(Favorite.article_id == Article.id, Favorite.user_id == reader.id)
    return select(
        Article.id,
        Article.slug,
        Article.title,
        Article.description,
        Article.created_at,
        Article.updated_at,
        favorited.label("favorited"),
        favorites.label("favorites"),
        User.username,
        User.bio,
        User.image,
        is_following(reader).label("following"),
    ).join(User, User.id == Article.author_id)


def _fields(row: Row[Any], tags: dict[int, list[str]]) -> dict[str, Any]:
    return {
        "slug": row.slug,
        "title": row.title,
        "description": row.description,
        "tag_list": tags.get(row.id, []),
        "created_at": timestamp(row.created_at),
        "updated_at": timestamp(row.updated_at),
        "favorited": row.favorited,
        "favorites_count": row.favorites,
        "author": Profile(row.username, row.bio, row.image, row.following),
    }


async def _tags_of(session: AsyncSession, article_ids: list[int]) -> dict[int, list[str]]:
    query = (
        select(Tag.article_id, Tag.name)
        .where(Tag.article_id.in_(article_ids))
        .order_by(Tag.article_id, Tag.name)
    )
    tags: dict[int, list[str]] = {}
    for article_id, name in await session.execute(query):
        tags.setdefault(article_id, []).append(name)
    return tags


def _id_of(username: str) -> ScalarSelect[int]:
    return select(User.id).where(User.username_key == username.lower()).scalar_subquery()
