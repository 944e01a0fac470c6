# SPDX-License-Identifier: MIT
"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("username", sa.String(40), nullable=False),
        sa.Column("username_key", sa.String(40), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("password", sa.String(), nullable=False),
        sa.Column("bio", sa.String(5000)),
        sa.Column("image", sa.String(2000)),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("email", name="uq_users_email"),
        sa.UniqueConstraint("username_key", name="uq_users_username_key"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "follows",
        sa.Column("follower_id", sa.Integer(), nullable=False),
        sa.Column("followed_id", sa.Integer(), nullable=False),
        foreign_key("follows", "follower_id", "users"),
        foreign_key("follows", "followed_id", "users"),
        sa.PrimaryKeyConstraint("follower_id", "followed_id", name="pk_follows"),
    )
    op.create_index("ix_follows_followed_id", "follows", ["followed_id"])
    op.create_table(
        "articles",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(255), nullable=False),
        sa.Column("title", sa.String(255), nullable=False),
        sa.Column("description", sa.String(1000), nullable=False),
        sa.Column("body", sa.String(100_000), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        foreign_key("articles", "author_id", "users"),
        sa.PrimaryKeyConstraint("id", name="pk_articles"),
        sa.UniqueConstraint("slug", name="uq_articles_slug"),
    )
    op.create_index("ix_articles_author_id", "articles", ["author_id"])
    op.create_index("ix_articles_created_at_id", "articles", ["created_at", "id"])
    op.create_table(
        "tags",
        sa.Column("article_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(50), nullable=False),
        foreign_key("tags", "article_id", "articles"),
        sa.PrimaryKeyConstraint("article_id", "name", name="pk_tags"),
    )
    op.create_index("ix_tags_name", "tags", ["name"])
    op.create_table(
        "favorites",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("article_id", sa.Integer(), nullable=False),
        foreign_key("favorites", "user_id", "users"),
        foreign_key("favorites", "article_id", "articles"),
        sa.PrimaryKeyConstraint("user_id", "article_id", name="pk_favorites"),
    )
    op.create_index("ix_favorites_article_id", "favorites", ["article_id"])
    op.create_table(
        "comments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("article_id", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("body", sa.String(10_000), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        foreign_key("comments", "article_id", "articles"),
        foreign_key("comments", "author_id", "users"),
        sa.PrimaryKeyConstraint("id", name="pk_comments"),
    )
    op.create_index("ix_comments_article_id", "comments", ["article_id"])
    op.create_index("ix_comments_author_id", "comments", ["author_id"])


def foreign_key(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{target}.id"], name=f"fk_{table}_{column}", ondelete="CASCADE"
    )


def downgrade() -> None:
    for table in ("comments", "favorites", "tags", "articles", "follows", "users"):
        op.drop_table(table)
