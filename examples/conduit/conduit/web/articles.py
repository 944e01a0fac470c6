# SPDX-License-Identifier: MIT
"""An article, with what readers can do: like it, and write comments."""

from __future__ import annotations

from typing import Annotated, Any

from sqlalchemy.ext.asyncio import AsyncSession

from conduit.database import Session
from conduit.queries import articles as queries
from conduit.queries import comments
from conduit.tables import MAX_ID, MAX_SLUG, Article
from conduit.web.forms import Form, check_comment, local, read_form
from conduit.web.rendering import render
from conduit.web.requests import article_address, is_part, to
from conduit.web.visitors import Me, current_user, for_users
from kit import Context, HTTPException, Kit, Response
from kit.session import get_session
from kit.typed import Path, typed

# PostgreSQL has no null characters.
Slug = Annotated[str, Path(max_length=MAX_SLUG, pattern=r"^[^\x00]*$")]
CommentId = Annotated[int, Path(ge=1, le=MAX_ID)]

articles = Kit()


@articles.get("/articles/:slug")
@typed
async def show_article(c: Context, db: Session, slug: Slug) -> Response:
    return await render_article(c, db, slug)


@articles.post("/articles/:slug/favorite", use=for_users)
@typed
async def set_favorite(c: Context, db: Session, me: Me, slug: Slug) -> Response:
    """Which of the two is meant is in the form: to send it twice changes nothing."""
    form = await read_form(c)
    article = await existing(db, slug)
    await (queries.favorite if form["favorite"] == "yes" else queries.unfavorite)(db, me, article)
    if not is_part(c):
        return to(c, local(form["next"]))
    shown = await queries.find_article(db, slug, me)
    return await render(c, "favorite.html", article=shown, here=local(form["next"]))


@articles.post("/articles/:slug/comments", use=for_users)
@typed
async def add_comment(c: Context, db: Session, me: Me, slug: Slug) -> Response:
    """Adds a comment: htmx swaps in all of them, other clients go back to the page."""
    form = await read_form(c)
    check_comment(form)
    if form.errors:
        return await render_article(c, db, slug, form=form, status=422)
    await comments.add_comment(db, await existing(db, slug), me, form["body"])
    return await to_comments(c, db, slug, "Your comment is posted")


@articles.post("/articles/:slug/comments/:id/delete", use=for_users)
@typed
async def delete_comment(c: Context, db: Session, me: Me, slug: Slug, id: CommentId) -> Response:
    comment = await comments.comment_by_id(db, await existing(db, slug), id)
    if comment is None:
        raise HTTPException(404)
    if comment.author_id != me.id:
        raise HTTPException(403)
    await db.delete(comment)
    await db.flush()
    return await to_comments(c, db, slug, "Your comment is deleted")


async def to_comments(c: Context, db: AsyncSession, slug: str, message: str) -> Response:
    (await get_session(c)).flash(message)
    if is_part(c):
        return await render_article(c, db, slug)
    return to(c, f"{article_address(slug)}#comments")


async def render_article(
    c: Context, db: AsyncSession, slug: str, *, form: Form | None = None, **options: Any
) -> Response:
    """Renders the page of an article; for htmx only the comments."""
    reader = await current_user(c)
    article = await queries.find_article(db, slug, reader)
    if article is None:
        raise HTTPException(404)
    return await render(
        c,
        "article.html",
        block="comments",
        article=article,
        comments=await comments.find_comments(db, await existing(db, slug), reader),
        form=form or Form(),
        here=article_address(slug),
        **options,
    )


async def existing(db: AsyncSession, slug: str) -> Article:
    article = await queries.article_by_slug(db, slug)
    if article is None:
        raise HTTPException(404)
    return article
