# SPDX-License-Identifier: MIT
"""Lists of articles: the feeds of the home page, and those of profiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlencode

from sqlalchemy import ColumnElement
from sqlalchemy.ext.asyncio import AsyncSession

from conduit.database import Session
from conduit.parameters import FoundUser, TagFilter, Username, found
from conduit.queries import articles, users
from conduit.schemas import ArticleSummary
from conduit.tables import User
from conduit.web.forms import local, read_form
from conduit.web.rendering import render
from conduit.web.requests import is_part, to
from conduit.web.visitors import Me, current_user, for_users
from kit import Context, HTTPException, Kit, Response
from kit.typed import Query, typed

PAGE_SIZE = 10
POPULAR_TAGS = 20

Page = Annotated[int, Query(ge=1, le=1_000_000)]

feeds = Kit()


@dataclass
class Listed:
    """One page of a list.

    Attributes:
        articles: The articles of this page.
        page: The number of the page, starting at 1.
        last: The number of the last page.
        path: The path and query of the list, without the page.
    """

    articles: list[ArticleSummary]
    page: int
    last: int
    path: str

    def address(self, page: int) -> str:
        return f"{self.path}{'&' if '?' in self.path else '?'}page={page}"


async def listed(
    db: AsyncSession, reader: User | None, path: str, page: int, *conditions: ColumnElement[bool]
) -> Listed:
    """Reads one page of the articles that meet all conditions.

    Raises:
        HTTPException: 404 if there is no such page.
    """
    shown = await articles.find_articles(
        db, reader, conditions, limit=PAGE_SIZE, offset=(page - 1) * PAGE_SIZE
    )
    last = max(1, -(-shown.articles_count // PAGE_SIZE))
    if page > last:
        raise HTTPException(404)
    return Listed(shown.articles, page, last, path)


@feeds.get("/")
@typed
async def home(
    c: Context,
    db: Session,
    feed: Literal["all", "following"] = "all",
    tag: TagFilter = None,
    page: Page = 1,
) -> Response:
    reader = await current_user(c)
    path, conditions = "/", []
    if tag is not None:
        path, conditions = f"/?{urlencode({'tag': tag})}", [articles.has_tag(tag)]
    elif feed == "following" and reader is not None:
        path, conditions = "/?feed=following", [articles.is_in_feed_of(reader)]
    return await render(
        c,
        "home.html",
        listed=await listed(db, reader, path, page, *conditions),
        path=path,
        tag=tag,
        popular_tags=await articles.popular_tags(db, POPULAR_TAGS),
    )


@feeds.get("/profiles/:username")
@typed
async def show_profile(c: Context, db: Session, username: Username, page: Page = 1) -> Response:
    return await render_profile(c, db, username, page)


@feeds.get("/profiles/:username/favorites")
@typed
async def show_favorites(c: Context, db: Session, username: Username, page: Page = 1) -> Response:
    return await render_profile(c, db, username, page, shows_favorites=True)


async def render_profile(
    c: Context, db: AsyncSession, username: str, page: int, *, shows_favorites: bool = False
) -> Response:
    reader = await current_user(c)
    profile = found(await users.find_profile(db, username, reader), "profile")
    path = f"/profiles/{profile.username}"
    condition = articles.is_by(profile.username)
    if shows_favorites:
        path, condition = f"{path}/favorites", articles.is_favorite_of(profile.username)
    return await render(
        c,
        "profile.html",
        profile=profile,
        listed=await listed(db, reader, path, page, condition),
        shows_favorites=shows_favorites,
    )


@feeds.post("/profiles/:username/follow", use=for_users)
@typed
async def set_follow(c: Context, db: Session, me: Me, user: FoundUser) -> Response:
    """Follows or unfollows as the form says, so that sending it twice changes nothing."""
    form = await read_form(c)
    if user.id != me.id:
        await (users.follow if form["follow"] == "yes" else users.unfollow)(db, me, user)
    if not is_part(c):
        return to(c, local(form["next"]))
    profile = await users.find_profile(db, user.username, me)
    return await render(c, "follow.html", profile=profile, here=local(form["next"]))
