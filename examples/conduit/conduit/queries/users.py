# SPDX-License-Identifier: MIT
"""Users and their profiles."""

from __future__ import annotations

from sqlalchemy import ColumnElement, delete, false, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from conduit.database import insert_once
from conduit.schemas import Profile
from conduit.tables import Follow, User


async def user_by_email(session: AsyncSession, email: str) -> User | None:
    return await session.scalar(select(User).where(User.email == email.lower()))


async def user_by_name(session: AsyncSession, username: str) -> User | None:
    return await session.scalar(select(User).where(User.username_key == username.lower()))


async def add_user(session: AsyncSession, username: str, email: str, hashed: str) -> User:
    """Adds a user.

    Raises:
        IntegrityError: If the username or email is taken.
    """
    user = User(email=email.lower(), password=hashed)
    rename(user, username)
    session.add(user)
    await session.flush()
    return user


async def replace_hash(session: AsyncSession, user: User, hashed: str) -> None:
    """Writes a new hash of the same password, unless the password has changed meanwhile."""
    same = (User.id == user.id, User.password == user.password)
    await session.execute(update(User).where(*same).values(password=hashed))


def rename(user: User, username: str) -> None:
    user.username, user.username_key = username, username.lower()


def is_following(reader: User | None) -> ColumnElement[bool]:
    """Selects whether the reader follows the user of the row."""
    if reader is None:
        return false()
    follows = select(Follow.follower_id).where(
        Follow.follower_id == reader.id, Follow.followed_id == User.id
    )
    return follows.exists()


async def find_profile(session: AsyncSession, username: str, reader: User | None) -> Profile | None:
    row = await session.execute(
        select(User.username, User.bio, User.image, is_following(reader)).where(
            User.username_key == username.lower()
        )
    )
    found = row.one_or_none()
    return None if found is None else Profile(*found)


async def follow(session: AsyncSession, follower: User, followed: User) -> None:
    await insert_once(
        session, insert(Follow).values(follower_id=follower.id, followed_id=followed.id)
    )


async def unfollow(session: AsyncSession, follower: User, followed: User) -> None:
    await session.execute(
        delete(Follow).where(Follow.follower_id == follower.id, Follow.followed_id == followed.id)
    )
