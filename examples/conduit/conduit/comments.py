# SPDX-License-Identifier: MIT
"""Comments on an article."""

from __future__ import annotations

from typing import Annotated

from conduit.database import Session, in_transaction
from conduit.parameters import CommentId, FoundArticle, found
from conduit.queries.comments import add_comment, comment_by_id, find_comments
from conduit.schemas import CommentResponse, CommentsResponse, NewComment
from conduit.tokens import CurrentUser, Reader, optional, required
from kit import HTTPException, Kit
from kit.typed import Body, typed

comments = Kit()
comments.use(in_transaction)


@comments.get("/", use=optional)
@typed
async def list_comments(
    article: FoundArticle, session: Session, reader: Reader
) -> CommentsResponse:
    """Lists the comments on an article, oldest first."""
    return CommentsResponse(await find_comments(session, article, reader))


@comments.post("/", use=required)
@typed
async def create_comment(
    article: FoundArticle,
    comment: Annotated[NewComment, Body(embed=True)],
    session: Session,
    user: CurrentUser,
) -> CommentResponse:
    """Adds a comment to an article."""
    return CommentResponse(await add_comment(session, article, user, comment.body))


@comments.delete("/:id", use=required)
@typed
async def delete_comment(
    article: FoundArticle, id: CommentId, session: Session, user: CurrentUser
) -> None:
    """Deletes a comment.

    Raises:
        HTTPException: 403 if the comment belongs to another user.
    """
    comment = found(await comment_by_id(session, article, id), "comment")
    if comment.author_id != user.id:
        raise HTTPException(403, "the comment belongs to another user")
    await session.delete(comment)
