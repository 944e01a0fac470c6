# SPDX-License-Identifier: MIT
"""The tables. Unique constraints decide races: only one of two requests gets a name."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import DateTime, Dialect, ForeignKey, Index, MetaData, String, TypeDecorator
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

# Maximum lengths in characters, which the API enforces as well.
MAX_USERNAME = 40
MAX_EMAIL = 254
MIN_PASSWORD = 8
MAX_PASSWORD = 200
MAX_BIO = 5_000
MAX_IMAGE = 2_000
MAX_TITLE = 255
MAX_SLUG = 255
MAX_DESCRIPTION = 1_000
MAX_BODY = 100_000
MAX_TAG = 50
MAX_TAGS = 20
MAX_COMMENT = 10_000
MAX_ID = 2**31 - 1


def now() -> datetime:
    """Returns the current time, with milliseconds as in the API."""
    time = datetime.now(UTC)
    return time.replace(microsecond=time.microsecond // 1000 * 1000)


class Moment(TypeDecorator[datetime]):
    """A time in UTC. SQLite stores no time zone, so reading adds UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


class Table(DeclarativeBase):
    # `conduit.errors` chooses messages by the name of the constraint.
    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        }
    )


class User(Table):
    """A user.

    Attributes:
        username: The name as the user writes it.
        username_key: The name in lower case, so that Ann and ann are the same name.
        email: The email address in lower case.
        password: The argon2 hash.
    """

    __tablename__ = "users"
    # Otherwise SQLite reuses the id of a deleted user, whose token may still be valid.
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012

    id: Mapped[int] = mapped_column(primary_key=True)
    username: Mapped[str] = mapped_column(String(MAX_USERNAME))
    username_key: Mapped[str] = mapped_column(String(MAX_USERNAME), unique=True)
    email: Mapped[str] = mapped_column(String(MAX_EMAIL), unique=True)
    password: Mapped[str]
    bio: Mapped[str | None] = mapped_column(String(MAX_BIO))
    image: Mapped[str | None] = mapped_column(String(MAX_IMAGE))


class Follow(Table):
    """One user follows another."""

    __tablename__ = "follows"

    follower_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    followed_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class Article(Table):
    """An article; its slug identifies it in URLs."""

    __tablename__ = "articles"

    id: Mapped[int] = mapped_column(primary_key=True)
    author_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    slug: Mapped[str] = mapped_column(String(MAX_SLUG), unique=True)
    title: Mapped[str] = mapped_column(String(MAX_TITLE))
    description: Mapped[str] = mapped_column(String(MAX_DESCRIPTION))
    body: Mapped[str] = mapped_column(String(MAX_BODY))
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)
    updated_at: Mapped[datetime] = mapped_column(Moment, default=now)

    # Lists are sorted by time, newest first, and then by id.
    __table_args__ = (Index(None, "created_at", "id"),)


class Tag(Table):
    """A tag of an article. Articles don't share rows, so requests don't wait for each other."""

    __tablename__ = "tags"

    article_id: Mapped[int] = mapped_column(
        ForeignKey("articles.id", ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(String(MAX_TAG), primary_key=True, index=True)


class Favorite(Table):
    """A user's favorite article. The favorites count of an article is the count of its rows."""

    __tablename__ = "favorites"

    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    article_id: Mapped[int] = mapped_column(
        ForeignKey("articles.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class Comment(Table):
    """A comment on an article."""

    __tablename__ = "comments"

    id: Mapped[int] = mapped_column(primary_key=True)
    article_id: Mapped[int] = mapped_column(
        ForeignKey("articles.id", ondelete="CASCADE"), index=True
    )
    author_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    body: Mapped[str] = mapped_column(String(MAX_COMMENT))
    created_at: Mapped[datetime] = mapped_column(Moment, default=now)
    updated_at: Mapped[datetime] = mapped_column(Moment, default=now)
