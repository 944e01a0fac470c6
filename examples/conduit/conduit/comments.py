# SPDX-License-Identifier: MIT
"""Comments on an article."""

from __future__ import annotations

from typing import Annotated

from conduit.database import Session, in_transaction
from conduit.parameters import CommentId, Slug, found
from conduit.queries.articles import article_by_slug
from conduit.queries.comments import add_comment, comment_by_id, find_comments
from conduit.schemas import CommentResponse, CommentsResponse, NewComment
from conduit.tokens import CurrentUser, Reader, optional, required
from kit import HTTPException, Kit
from kit.typed import Body, typed

comments = Kit()
comments.use(in_transaction)


@comments.get("/", use=optional)
@typed
async def list_comments(slug: Slug, session: Session, reader: Reader) -> CommentsResponse:
    """Lists the comments on an article, oldest first."""
    article = found(await article_by_slug(session, slug), "article")
    return CommentsResponse(await find_comments(session, article, reader))


@comments.post("/", use=required)
@typed
async def create_comment(
    slug: Slug,
    comment: Annotated[NewComment, Body(embed=True)],
    session: Session,
    user: CurrentUser,
) -> CommentResponse:
    """Adds a comment to an article."""
    article = found(await article_by_slug(session, slug), "article")
    return CommentResponse(await add_comment(session, article, user, comment.body))


@comments.delete("/:id", use=required)
@typed
async def delete_comment(slug: Slug, id: CommentId, session: Session, user: CurrentUser) -> None:
    """Deletes a comment.

    Raises:
        HTTPException: 403 if the comment belongs to another user.
    """
    article = found(await article_by_slug(session, slug), "article")
    comment = found(await comment_by_id(session, article, id), "comment")
    if comment.author_id != user.id:
        raise HTTPException(403, "the comment belongs to another user")
    await session.delete(comment)
