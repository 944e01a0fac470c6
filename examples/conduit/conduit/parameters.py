# SPDX-License-Identifier: MIT
"""Parameters that several endpoints share: from paths and queries, and rows that paths identify."""

from __future__ import annotations

from typing import Annotated, TypeVar

from conduit.database import Session
from conduit.queries.articles import article_by_slug
from conduit.queries.users import user_by_name
from conduit.schemas import WITHOUT_NULL
from conduit.tables import MAX_ID, MAX_SLUG, MAX_TAG, MAX_USERNAME, Article, User
from conduit.tokens import CurrentUser
from kit import HTTPException
from kit.typed import Depends, Path, Query

MAX_PAGE = 100

# Invalid path parameters result in a 404.
Slug = Annotated[str, Path(max_length=MAX_SLUG, pattern=WITHOUT_NULL)]
Username = Annotated[str, Path(max_length=MAX_USERNAME, pattern=WITHOUT_NULL)]
CommentId = Annotated[int, Path(ge=1, le=MAX_ID)]

# Invalid query parameters result in a 422.
TagFilter = Annotated[
    str | None, Query(max_length=MAX_TAG, pattern=WITHOUT_NULL, description="Filter by tag")
]
UserFilter = Annotated[str | None, Query(max_length=MAX_USERNAME, pattern=WITHOUT_NULL)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="How many items to return")]
Offset = Annotated[int, Query(ge=0, le=MAX_ID, description="How many items to skip")]

T = TypeVar("T")


def found(value: T | None, what: str) -> T:
    """Returns the result of a query.

    Raises:
        HTTPException: 404 if the query found nothing.
    """
    if value is None:
        raise HTTPException(404, f"there is no such {what}")
    return value


async def find_user(username: Username, session: Session) -> User:
    return found(await user_by_name(session, username), "user")


async def find_article(slug: Slug, session: Session) -> Article:
    return found(await article_by_slug(session, slug), "article")


async def find_own_article(slug: Slug, session: Session, user: CurrentUser) -> Article:
    """Finds an article of the user, locked until the end of the transaction.

    Raises:
        HTTPException: 403 if the article belongs to another user.
    """
    article = found(await article_by_slug(session, slug, to_change=True), "article")
    if article.author_id != user.id:
        raise HTTPException(403, "the article belongs to another user")
    return article


# The row that the path identifies. If it doesn't exist, the endpoint doesn't run.
FoundUser = Annotated[User, Depends(find_user)]
FoundArticle = Annotated[Article, Depends(find_article)]
OwnArticle = Annotated[Article, Depends(find_own_article)]
