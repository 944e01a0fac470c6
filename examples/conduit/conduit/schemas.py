# SPDX-License-Identifier: MIT
"""The bodies of requests and responses, which kit-typed validates and kit-openapi documents."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from conduit.tables import (
    MAX_BIO,
    MAX_BODY,
    MAX_COMMENT,
    MAX_DESCRIPTION,
    MAX_EMAIL,
    MAX_IMAGE,
    MAX_PASSWORD,
    MAX_TAG,
    MAX_TAGS,
    MAX_TITLE,
    MAX_USERNAME,
    MIN_PASSWORD,
)

# Usernames are part of URLs. ASCII alone rules out names that only look like another one.
USERNAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
USERNAME_WANTED = (
    "must consist of letters, digits, '_', '.' and '-', and start with a letter or a digit"
)
# ASCII, as browsers send it. Other letters can become longer in lower case, beyond the column.
EMAIL = r"^[!-?A-~]+@[!-?A-~]+$"
IMAGE = r"^(https?://[^\s\x00-\x1F\x7F]+)?$"
# PostgreSQL can't store null characters.
WITHOUT_NULL = r"^[^\x00]*$"
NOT_BLANK = r"^[^\x00]*[^\s\x00][^\x00]*$"


def _documented(pattern: str, max_length: int, **options: object) -> Meta:
    """Documents a pattern without validating it: `check` does that, with a better message."""
    return Meta(max_length=max_length, extra_json_schema={"pattern": pattern, **options})


# Requests. An omitted field of an update is UNSET; None is a value.
Username = Annotated[str, _documented(USERNAME, MAX_USERNAME)]
Email = Annotated[str, _documented(EMAIL, MAX_EMAIL)]
Password = Annotated[str, Meta(max_length=MAX_PASSWORD, extra_json_schema={"format": "password"})]
NewPassword = Annotated[
    str,
    Meta(
        min_length=MIN_PASSWORD,
        max_length=MAX_PASSWORD,
        extra_json_schema={"format": "password"},
    ),
]
Bio = Annotated[str, _documented(WITHOUT_NULL, MAX_BIO)]
Image = Annotated[str, _documented(IMAGE, MAX_IMAGE)]
Title = Annotated[str, _documented(NOT_BLANK, MAX_TITLE)]
Description = Annotated[str, _documented(NOT_BLANK, MAX_DESCRIPTION)]
Body = Annotated[str, _documented(NOT_BLANK, MAX_BODY)]
TagName = Annotated[str, _documented(NOT_BLANK, MAX_TAG)]
TagList = Annotated[list[TagName], Meta(max_length=MAX_TAGS)]
CommentBody = Annotated[str, _documented(NOT_BLANK, MAX_COMMENT)]


def check(name: str, value: str | UnsetType | None, pattern: str, wanted: str) -> None:
    """Checks that a text matches a pattern; UNSET and None are always valid.

    Raises:
        ValueError: If the whole text doesn't match.
    """
    if isinstance(value, str) and not re.fullmatch(pattern.strip("^$"), value):
        raise ValueError(f"{name} {wanted}")


def check_account(
    username: str | UnsetType, email: str | UnsetType, password: str | UnsetType
) -> None:
    check("username", username, USERNAME, USERNAME_WANTED)
    check("email", email, EMAIL, "must be an address such as ann@example.com")
    check("password", password, WITHOUT_NULL, "must not contain null characters")


def check_text(name: str, text: str | UnsetType) -> None:
    if not isinstance(text, str):
        return
    if not text.strip():
        raise ValueError(f"{name} can't be empty")
    if "\x00" in text:
        raise ValueError(f"{name} must not contain null characters")


class LoginUser(Struct):
    """The credentials of a login."""

    email: Annotated[str, _documented(WITHOUT_NULL, MAX_EMAIL)]
    password: Password

    def __post_init__(self) -> None:
        check("email", self.email, WITHOUT_NULL, "must not contain null characters")


class LoginRequest(Struct):
    user: LoginUser


class NewUser(Struct):
    """A user to register."""

    username: Username
    email: Email
    password: NewPassword

    def __post_init__(self) -> None:
        check_account(self.username, self.email, self.password)


class UpdateUser(Struct):
    """The changes to a user; null removes bio and image."""

    email: Email | UnsetType = UNSET
    username: Username | UnsetType = UNSET
    password: NewPassword | UnsetType = UNSET
    bio: Bio | UnsetType | None = UNSET
    image: Image | UnsetType | None = UNSET

    def __post_init__(self) -> None:
        check_account(self.username, self.email, self.password)
        check("bio", self.bio, WITHOUT_NULL, "must not contain null characters")
        check("image", self.image, IMAGE, "must be an address that begins with http")


class NewArticle(Struct, rename="camel"):
    """An article to publish."""

    title: Title
    description: Description
    body: Body
    tag_list: TagList = []

    def __post_init__(self) -> None:
        for name in ("title", "description", "body"):
            check_text(name, getattr(self, name))
        for tag in self.tag_list:
            check_text("tagList", tag)


class UpdateArticle(Struct):
    """The changes to an article."""

    title: Title | UnsetType = UNSET
    description: Description | UnsetType = UNSET
    body: Body | UnsetType = UNSET

    def __post_init__(self) -> None:
        for name in ("title", "description", "body"):
            check_text(name, getattr(self, name))


class NewComment(Struct):
    """A comment to add."""

    body: CommentBody

    def __post_init__(self) -> None:
        check_text("body", self.body)


# Responses.

Timestamp: TypeAlias = Annotated[
    str,
    Meta(examples=["2016-02-18T03:22:56.637Z"], extra_json_schema={"format": "date-time"}),
]


def timestamp(moment: datetime) -> str:
    """Formats a time in UTC, always with milliseconds."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class User(Struct):
    """The logged-in user, with the token for further requests."""

    email: str
    token: str
    username: str
    bio: str | None
    image: str | None


class Profile(Struct):
    """A user as others see them."""

    username: str
    bio: str | None
    image: str | None
    following: bool


class ArticleSummary(Struct, rename="camel"):
    """An article in a list, without its body."""

    slug: str
    title: str
    description: str
    tag_list: list[str]
    created_at: Timestamp
    updated_at: Timestamp
    favorited: bool
    favorites_count: int
    author: Profile


class Article(ArticleSummary, rename="camel"):
    """An article."""

    body: str


class Comment(Struct, rename="camel"):
    """A comment on an article."""

    id: int
    created_at: Timestamp
    updated_at: Timestamp
    body: str
    author: Profile


# The API wraps every body in an object with one member.


class UserResponse(Struct):
    user: User


class ProfileResponse(Struct):
    profile: Profile


class ArticleResponse(Struct):
    article: Article


class ArticlesResponse(Struct, rename="camel"):
    """A page of a list.

    Attributes:
        articles_count: The number of articles on all pages.
    """

    articles: list[ArticleSummary]
    articles_count: int


class CommentResponse(Struct):
    comment: Comment


class CommentsResponse(Struct):
    comments: list[Comment]


class TagsResponse(Struct):
    tags: list[str]


class Messages(Struct):
    body: list[str]


class ErrorResponse(Struct):
    """The body of all errors."""

    errors: Messages
