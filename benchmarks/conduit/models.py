# SPDX-License-Identifier: MIT
"""The pydantic models of the API on FastAPI, with the limits of the example."""

from __future__ import annotations

from typing import Annotated

from conduit import schemas, tables
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """Uses camel case in JSON, and reads the attributes of the objects that queries return."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)


Username = Annotated[
    str, StringConstraints(pattern=schemas.USERNAME, max_length=tables.MAX_USERNAME)
]
Email = Annotated[str, StringConstraints(pattern=schemas.EMAIL, max_length=tables.MAX_EMAIL)]
Password = Annotated[
    str,
    StringConstraints(pattern=schemas.WITHOUT_NULL, min_length=8, max_length=tables.MAX_PASSWORD),
]
Title = Annotated[str, StringConstraints(pattern=schemas.NOT_BLANK, max_length=tables.MAX_TITLE)]
Description = Annotated[
    str, StringConstraints(pattern=schemas.NOT_BLANK, max_length=tables.MAX_DESCRIPTION)
]
Body = Annotated[str, StringConstraints(pattern=schemas.NOT_BLANK, max_length=tables.MAX_BODY)]
TagName = Annotated[str, StringConstraints(pattern=schemas.NOT_BLANK, max_length=tables.MAX_TAG)]
Bio = Annotated[str, StringConstraints(pattern=schemas.WITHOUT_NULL, max_length=tables.MAX_BIO)]
Image = Annotated[str, StringConstraints(pattern=schemas.IMAGE, max_length=tables.MAX_IMAGE)]
CommentBody = Annotated[
    str, StringConstraints(pattern=schemas.NOT_BLANK, max_length=tables.MAX_COMMENT)
]


class LoginUser(Model):
    email: Annotated[str, StringConstraints(max_length=tables.MAX_EMAIL)]
    password: Annotated[str, StringConstraints(max_length=tables.MAX_PASSWORD)]


class NewUser(Model):
    username: Username
    email: Email
    password: Password


class UpdateUser(Model):
    email: Email | None = None
    username: Username | None = None
    password: Password | None = None
    bio: Bio | None = None
    image: Image | None = None


class NewArticle(Model):
    title: Title
    description: Description
    body: Body
    tag_list: Annotated[list[TagName], Field(max_length=tables.MAX_TAGS)] = []


class UpdateArticle(Model):
    title: Title | None = None
    description: Description | None = None
    body: Body | None = None


class NewComment(Model):
    body: CommentBody


class User(Model):
    email: str
    token: str
    username: str
    bio: str | None
    image: str | None


class Profile(Model):
    username: str
    bio: str | None
    image: str | None
    following: bool


class ArticleSummary(Model):
    slug: str
    title: str
    description: str
    tag_list: list[str]
    created_at: str
    updated_at: str
    favorited: bool
    favorites_count: int
    author: Profile


class Article(ArticleSummary):
    body: str


class Comment(Model):
    id: int
    created_at: str
    updated_at: str
    body: str
    author: Profile


class UserResponse(Model):
    user: User


class ProfileResponse(Model):
    profile: Profile


class ArticleResponse(Model):
    article: Article


class ArticlesResponse(Model):
    articles: list[ArticleSummary]
    articles_count: int


class CommentResponse(Model):
    comment: Comment


class CommentsResponse(Model):
    comments: list[Comment]


class TagsResponse(Model):
    tags: list[str]
