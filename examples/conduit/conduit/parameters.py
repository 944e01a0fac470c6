# SPDX-License-Identifier: MIT
"""Path and query parameters that several endpoints share."""

from __future__ import annotations

from typing import Annotated, TypeVar

from conduit.schemas import WITHOUT_NULL
from conduit.tables import MAX_ID, MAX_SLUG, MAX_TAG, MAX_USERNAME
from kit import HTTPException
from kit.typed import Path, Query

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
