# SPDX-License-Identifier: MIT
"""Comments on articles."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from conduit.queries.users import is_following
from conduit.schemas import Comment as CommentShown
from conduit.schemas import Profile, timestamp
from conduit.tables import Article, Comment, User


async def add_comment(
    session: AsyncSession, article: Article, author: User, body: str
) -> CommentShown:
    comment = Comment(article_id=article.id, author_id=author.id, body=body)
    session.add(comment)
    await session.flush()
    profile = Profile(author.username, author.bio, author.image, following=False)
    return _shown(comment, profile)


async def find_comments(
    session: AsyncSession, article: Article, reader: User | None
) -> list[CommentShown]:
    """Finds the comments on an article, oldest first."""
    query = (
        select(Comment, User.username, User.bio, User.image, is_following(reader))
        .join(User, User.id == Comment.author_id)
        .where(Comment.article_id == article.id)
        .order_by(Comment.created_at, Comment.id)
    )
    rows = await session.execute(query)
    return [
        _shown(comment, Profile(username, bio, image, following))
        for comment, username, bio, image, following in rows
    ]


async def comment_by_id(session: AsyncSession, article: Article, comment_id: int) -> Comment | None:
    query = select(Comment).where(Comment.id == comment_id, Comment.article_id == article.id)
    return await session.scalar(query.with_for_update())


def _shown(comment: Comment, author: Profile) -> CommentShown:
    return CommentShown(
        comment.id,
        timestamp(comment.created_at),
        timestamp(comment.updated_at),
        comment.body,
        author,
    )
