# SPDX-License-Identifier: MIT
"""Conduit on FastAPI, with models, dependencies, routers and handlers as in its documentation.

The tables, the engine, the statements and the parameters of argon2 come from the example.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeVar

import jwt
from argon2.exceptions import InvalidHashError, VerificationError
from conduit import passwords
from conduit.database import Database, violated_constraint
from conduit.errors import TAKEN
from conduit.parameters import MAX_PAGE
from conduit.queries import articles as article_queries
from conduit.queries import comments as comment_queries
from conduit.queries import users as user_queries
from conduit.schemas import WITHOUT_NULL
from conduit.settings import Settings
from conduit.tables import MAX_ID, MAX_SLUG, MAX_TAG, MAX_USERNAME, Article, User, now
from fastapi import APIRouter, Body, Depends, FastAPI, HTTPException, Path, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse
from fastapi.security import APIKeyHeader
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException as StarletteHTTPException

from . import models

ALGORITHM = "HS256"
T = TypeVar("T")


async def get_session(request: Request) -> AsyncIterator[AsyncSession]:
    database: Database = request.app.state.database
    writes = request.method not in ("GET", "HEAD")
    async with database.transaction(writes=writes) as session:
        yield session


# "function": the commit comes before the response, as on Kit.
Session = Annotated[AsyncSession, Depends(get_session, scope="function")]
Token = Annotated[str | None, Depends(APIKeyHeader(name="Authorization", auto_error=False))]


async def get_reader(request: Request, session: Session, header: Token) -> User | None:
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "token":
        raise HTTPException(401, "expected a token")
    settings: Settings = request.app.state.settings
    try:
        claims = jwt.decode(
            token, settings.secret, algorithms=[ALGORITHM], options={"require": ["exp", "sub"]}
        )
    except jwt.InvalidTokenError:
        raise HTTPException(401, "the token is invalid") from None
    user = await session.get(User, int(claims["sub"]))
    if user is None:
        raise HTTPException(401, "the token is invalid")
    return user


Reader = Annotated[User | None, Depends(get_reader)]


async def get_user(reader: Reader) -> User:
    if reader is None:
        raise HTTPException(401, "a token is required", {"WWW-Authenticate": "Token"})
    return reader


CurrentUser = Annotated[User, Depends(get_user)]
Username = Annotated[str, Path(max_length=MAX_USERNAME, pattern=WITHOUT_NULL)]
Slug = Annotated[str, Path(max_length=MAX_SLUG, pattern=WITHOUT_NULL)]
TagFilter = Annotated[str | None, Query(max_length=MAX_TAG, pattern=WITHOUT_NULL)]
UserFilter = Annotated[str | None, Query(max_length=MAX_USERNAME, pattern=WITHOUT_NULL)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE)]
Offset = Annotated[int, Query(ge=0, le=MAX_ID)]

users = APIRouter()
profiles = APIRouter(prefix="/profiles")
articles = APIRouter(prefix="/articles")
tags = APIRouter(prefix="/tags")


def check_password(password: str, hashed: str | None) -> bool:
    try:
        right = passwords.hasher.verify(hashed or passwords.nobody(), password)
        return right and hashed is not None
    except (VerificationError, InvalidHashError):
        return False


def shown_user(user: User, request: Request) -> dict[str, Any]:
    settings: Settings = request.app.state.settings
    claims = {"sub": str(user.id), "exp": int(time.time()) + settings.token_lifetime_s}
    token = jwt.encode(claims, settings.secret, ALGORITHM)
    shown = {"email": user.email, "username": user.username, "bio": user.bio, "image": user.image}
    return {"user": {**shown, "token": token}}


def found(value: T | None, what: str) -> T:
    if value is None:
        raise HTTPException(404, f"there is no such {what}")
    return value


@users.post("/users", status_code=201, response_model=models.UserResponse)
async def create_user(
    user: Annotated[models.NewUser, Body(embed=True)], session: Session, request: Request
) -> Any:
    hashed = await run_in_threadpool(passwords.hasher.hash, user.password)
    added = await user_queries.add_user(session, user.username, user.email, hashed)
    return shown_user(added, request)


@users.post("/users/login", response_model=models.UserResponse)
async def login(
    user: Annotated[models.LoginUser, Body(embed=True)], session: Session, request: Request
) -> Any:
    known = await user_queries.user_by_email(session, user.email)
    await session.commit()
    hashed = known.password if known else None
    is_right = await run_in_threadpool(check_password, user.password, hashed)
    if known is None or not is_right:
        raise HTTPException(401, "email or password is wrong")
    if passwords.hasher.check_needs_rehash(known.password):
        known.password = await run_in_threadpool(passwords.hasher.hash, user.password)
    return shown_user(known, request)


@users.get("/user", response_model=models.UserResponse)
async def read_user(user: CurrentUser, request: Request) -> Any:
    return shown_user(user, request)


@users.put("/user", response_model=models.UserResponse)
async def update_user(
    changes: Annotated[models.UpdateUser, Body(alias="user", embed=True)],
    user: CurrentUser,
    session: Session,
    request: Request,
) -> Any:
    given = changes.model_dump(exclude_unset=True)
    if password := given.pop("password", None):
        user.password = await run_in_threadpool(passwords.hasher.hash, password)
    if username := given.pop("username", None):
        user_queries.rename(user, username)
    if email := given.pop("email", None):
        user.email = email.lower()
    for name, value in given.items():
        setattr(user, name, value or None)
    await session.flush()
    return shown_user(user, request)


@profiles.get("/{username}", response_model=models.ProfileResponse)
async def read_profile(username: Username, session: Session, reader: Reader) -> Any:
    profile = await user_queries.find_profile(session, username, reader)
    return {"profile": found(profile, "user")}


@profiles.post("/{username}/follow", response_model=models.ProfileResponse)
async def follow_user(username: Username, session: Session, user: CurrentUser) -> Any:
    followed = found(await user_queries.user_by_name(session, username), "user")
    if followed.id == user.id:
        raise HTTPException(422, "you can't follow yourself")
    await user_queries.follow(session, user, followed)
    return await read_profile(username, session, user)


@profiles.delete("/{username}/follow", response_model=models.ProfileResponse)
async def unfollow_user(username: Username, session: Session, user: CurrentUser) -> Any:
    followed = found(await user_queries.user_by_name(session, username), "user")
    await user_queries.unfollow(session, user, followed)
    return await read_profile(username, session, user)


@articles.get("", response_model=models.ArticlesResponse)
async def list_articles(
    session: Session,
    reader: Reader,
    tag: TagFilter = None,
    author: UserFilter = None,
    favorited: UserFilter = None,
    limit: Limit = 20,
    offset: Offset = 0,
) -> Any:
    conditions = []
    if tag is not None:
        conditions.append(article_queries.has_tag(tag))
    if author is not None:
        conditions.append(article_queries.is_by(author))
    if favorited is not None:
        conditions.append(article_queries.is_favorite_of(favorited))
    return await article_queries.find_articles(
        session, reader, conditions, limit=limit, offset=offset
    )


@articles.get("/feed", response_model=models.ArticlesResponse)
async def list_feed(
    session: Session, user: CurrentUser, limit: Limit = 20, offset: Offset = 0
) -> Any:
    conditions = [article_queries.is_in_feed_of(user)]
    return await article_queries.find_articles(
        session, user, conditions, limit=limit, offset=offset
    )


@articles.post("", status_code=201, response_model=models.ArticleResponse)
async def create_article(
    article: Annotated[models.NewArticle, Body(embed=True)], session: Session, user: CurrentUser
) -> Any:
    added = await article_queries.add_article(session, user, article)  # type: ignore[arg-type]
    return await shown_article(session, added.slug, user)


@articles.get("/{slug}", response_model=models.ArticleResponse)
async def read_article(slug: Slug, session: Session, reader: Reader) -> Any:
    return await shown_article(session, slug, reader)


@articles.put("/{slug}", response_model=models.ArticleResponse)
async def update_article(
    slug: Slug,
    changes: Annotated[models.UpdateArticle, Body(alias="article", embed=True)],
    session: Session,
    user: CurrentUser,
) -> Any:
    article = await own_article(session, slug, user)
    if changes.description is not None:
        article.description = changes.description
    if changes.body is not None:
        article.body = changes.body
    article.updated_at = now()
    if changes.title is not None and changes.title != article.title:
        await article_queries.set_title(session, article, changes.title)
    return await shown_article(session, article.slug, user)


@articles.delete("/{slug}", status_code=204)
async def delete_article(slug: Slug, session: Session, user: CurrentUser) -> None:
    await session.delete(await own_article(session, slug, user))


@articles.post("/{slug}/favorite", response_model=models.ArticleResponse)
async def create_favorite(slug: Slug, session: Session, user: CurrentUser) -> Any:
    article = found(await article_queries.article_by_slug(session, slug), "article")
    await article_queries.favorite(session, user, article)
    return await shown_article(session, slug, user)


@articles.delete("/{slug}/favorite", response_model=models.ArticleResponse)
async def delete_favorite(slug: Slug, session: Session, user: CurrentUser) -> Any:
    article = found(await article_queries.article_by_slug(session, slug), "article")
    await article_queries.unfavorite(session, user, article)
    return await shown_article(session, slug, user)


@articles.get("/{slug}/comments", response_model=models.CommentsResponse)
async def list_comments(slug: Slug, session: Session, reader: Reader) -> Any:
    article = found(await article_queries.article_by_slug(session, slug), "article")
    return {"comments": await comment_queries.find_comments(session, article, reader)}


@articles.post("/{slug}/comments", response_model=models.CommentResponse)
async def create_comment(
    slug: Slug,
    comment: Annotated[models.NewComment, Body(embed=True)],
    session: Session,
    user: CurrentUser,
) -> Any:
    article = found(await article_queries.article_by_slug(session, slug), "article")
    return {"comment": await comment_queries.add_comment(session, article, user, comment.body)}


@articles.delete("/{slug}/comments/{id}", status_code=204)
async def delete_comment(
    slug: Slug, id: Annotated[int, Path(ge=1, le=MAX_ID)], session: Session, user: CurrentUser
) -> None:
    article = found(await article_queries.article_by_slug(session, slug), "article")
    comment = found(await comment_queries.comment_by_id(session, article, id), "comment")
    if comment.author_id != user.id:
        raise HTTPException(403, "the comment belongs to another user")
    await session.delete(comment)


@tags.get("", response_model=models.TagsResponse)
async def list_tags(session: Session) -> Any:
    return {"tags": await article_queries.popular_tags(session)}


async def shown_article(session: AsyncSession, slug: str, reader: User | None) -> Any:
    article = await article_queries.find_article(session, slug, reader)
    return {"article": found(article, "article")}


async def own_article(session: AsyncSession, slug: str, user: User) -> Article:
    article = found(await article_queries.article_by_slug(session, slug, to_change=True), "article")
    if article.author_id != user.id:
        raise HTTPException(403, "the article belongs to another user")
    return article


def failure(status: int, messages: list[str], headers: Any = None) -> JSONResponse:
    return JSONResponse({"errors": {"body": messages}}, status, headers)


async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
    return failure(422, [f"{each['loc'][-1]} {each['msg']}" for each in error.errors()])


async def refused(request: Request, error: StarletteHTTPException) -> JSONResponse:
    return failure(error.status_code, [error.detail], error.headers)


async def conflicting(request: Request, error: IntegrityError) -> JSONResponse:
    message = TAKEN.get(violated_constraint(error))
    return failure(422, [message]) if message else failure(500, ["Internal Server Error"])


def make(settings: Settings) -> Any:
    """Creates the app, which opens no connection before it starts."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.database = Database(settings)
        app.state.settings = settings
        yield
        await app.state.database.close()

    app = FastAPI(title="Conduit", lifespan=lifespan)
    app.add_middleware(
        CORSMiddleware, allow_origins=settings.origins, allow_methods=["*"], allow_headers=["*"]
    )
    app.add_exception_handler(RequestValidationError, invalid)  # type: ignore[arg-type]
    app.add_exception_handler(StarletteHTTPException, refused)  # type: ignore[arg-type]
    app.add_exception_handler(IntegrityError, conflicting)  # type: ignore[arg-type]
    for router in (users, profiles, articles, tags):
        app.include_router(router, prefix="/api")
    return app
