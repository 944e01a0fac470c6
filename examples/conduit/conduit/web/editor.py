# SPDX-License-Identifier: MIT
"""Pages to write, edit and delete articles."""

from __future__ import annotations

from conduit.database import Session
from conduit.parameters import OwnArticle, found
from conduit.queries import articles
from conduit.schemas import NewArticle
from conduit.tables import now
from conduit.web.forms import Form, check_article, read_form, tag_names
from conduit.web.rendering import render
from conduit.web.requests import article_address
from conduit.web.visitors import Me, for_users
from kit import Context, Kit, Response
from kit.session import get_session
from kit.typed import typed

editor = Kit()
editor.use("/editor/*", for_users)


@editor.get("/editor")
async def show_editor(c: Context) -> Response:
    return await render(c, "editor.html", article=None, form=Form())


@editor.post("/editor")
@typed
async def publish(c: Context, db: Session, me: Me) -> Response:
    form = await read_form(c)
    check_article(form)
    if form.errors:
        return await render(c, "editor.html", article=None, form=form, status=422)
    new = NewArticle(form["title"], form["description"], form["body"], tag_names(form))
    article = await articles.add_article(db, me, new)
    return await to_article(c, article.slug, "Your article is published")


@editor.get("/editor/:slug")
@typed
async def edit(c: Context, db: Session, me: Me, article: OwnArticle) -> Response:
    shown = found(await articles.find_article(db, article.slug, me), "article")
    known = {name: getattr(shown, name) for name in ("title", "description", "body")}
    known["tags"] = ", ".join(shown.tag_list)
    return await render(c, "editor.html", article=article, form=Form(known))


@editor.post("/editor/:slug")
@typed
async def save(c: Context, db: Session, article: OwnArticle) -> Response:
    form = await read_form(c)
    check_article(form)
    if form.errors:
        return await render(c, "editor.html", article=article, form=form, status=422)
    article.description, article.body = form["description"], form["body"]
    article.updated_at = now()
    await articles.replace_tags(db, article, tag_names(form))
    if form["title"] != article.title:
        await articles.set_title(db, article, form["title"])
    return await to_article(c, article.slug, "Your changes are saved")


@editor.post("/articles/:slug/delete", use=for_users)
@typed
async def delete(c: Context, db: Session, article: OwnArticle) -> Response:
    await db.delete(article)
    (await get_session(c)).flash("Your article is deleted")
    return c.redirect("/", 303)


async def to_article(c: Context, slug: str, message: str) -> Response:
    (await get_session(c)).flash(message)
    return c.redirect(article_address(slug), 303)
