# SPDX-License-Identifier: MIT
"""The page of an article, with favorites and comments."""

from __future__ import annotations

from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from conduit.database import Session
from conduit.parameters import CommentId, FoundArticle, found
from conduit.queries import articles as queries
from conduit.queries import comments
from conduit.tables import Article
from conduit.web.forms import Form, check_comment, local, read_form
from conduit.web.rendering import render
from conduit.web.requests import article_address, is_part, to
from conduit.web.visitors import Me, current_user, for_users
from kit import Context, HTTPException, Kit, Response
from kit.session import get_session
from kit.typed import typed

articles = Kit()


@articles.get("/articles/:slug")
@typed
async def show_article(c: Context, db: Session, article: FoundArticle) -> Response:
    return await render_article(c, db, article)


@articles.post("/articles/:slug/favorite", use=for_users)
@typed
async def set_favorite(c: Context, db: Session, me: Me, article: FoundArticle) -> Response:
    """Adds or removes a favorite as the form says, so that sending it twice changes nothing."""
    form = await read_form(c)
    await (queries.favorite if form["favorite"] == "yes" else queries.unfavorite)(db, me, article)
    if not is_part(c):
        return to(c, local(form["next"]))
    shown = found(await queries.find_article(db, article.slug, me), "article")
    return await render(c, "favorite.html", article=shown, here=local(form["next"]))


@articles.post("/articles/:slug/comments", use=for_users)
@typed
async def add_comment(c: Context, db: Session, me: Me, article: FoundArticle) -> Response:
    """Adds a comment. htmx swaps in the list of comments; other clients return to the page."""
    form = await read_form(c)
    check_comment(form)
    if form.errors:
        return await render_article(c, db, article, form=form, status=422)
    await comments.add_comment(db, article, me, form["body"])
    return await to_comments(c, db, article, "Your comment is posted")


@articles.post("/articles/:slug/comments/:id/delete", use=for_users)
@typed
async def delete_comment(
    c: Context, db: Session, me: Me, article: FoundArticle, id: CommentId
) -> Response:
    comment = found(await comments.comment_by_id(db, article, id), "comment")
    if comment.author_id != me.id:
        raise HTTPException(403)
    await db.delete(comment)
    await db.flush()
    # The focused button no longer exists.
    return await to_comments(c, db, article, "Your comment is deleted", moves_focus=True)


async def to_comments(
    c: Context, db: AsyncSession, article: Article, message: str, *, moves_focus: bool = False
) -> Response:
    (await get_session(c)).flash(message)
    if is_part(c):
        return await render_article(c, db, article, moves_focus=moves_focus)
    return to(c, f"{article_address(article.slug)}#comments")


async def render_article(
    c: Context,
    db: AsyncSession,
    article: Article,
    *,
    form: Form | None = None,
    moves_focus: bool = False,
    **options: Any,
) -> Response:
    """Renders the page of an article, or only its comments for htmx."""
    reader = await current_user(c)
    return await render(
        c,
        "article.html",
        block="comments",
        article=await queries.find_article(db, article.slug, reader),
        comments=await comments.find_comments(db, article, reader),
        form=form or Form(),
        moves_focus=moves_focus,
        here=article_address(article.slug),
        **options,
    )
