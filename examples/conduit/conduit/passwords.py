# SPDX-License-Identifier: MIT
"""Hashes passwords, and checks them."""

from __future__ import annotations

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy.ext.asyncio import AsyncSession

from conduit.queries.users import replace_hash, user_by_email
from conduit.tables import User
from kit import in_thread

hasher = PasswordHasher()


# Argon2 takes 64 MiB and a long time, on purpose. So neither function runs on the event loop, where
# all other requests would wait for it, nor in more than two threads at once.
@in_thread(limiter=2)
def hash_password(password: str) -> str:
    return hasher.hash(password)


@in_thread(limiter=2)
def is_right(password: str, hashed: str | None) -> bool:
    """Whether it is the password; without a hash it takes as long, and isn't."""
    try:
        return hasher.verify(hashed or nobody(), password) and hashed is not None
    except (VerificationError, InvalidHashError):
        return False


async def authenticate(session: AsyncSession, email: str, password: str) -> User | None:
    """Returns the user who has this address and this password."""
    user = await user_by_email(session, email)
    # No connection, and no lock, is held for as long as hashing takes.
    await session.commit()
    if not await is_right(password, user.password if user else None) or user is None:
        return None
    if is_outdated(user.password):
        await replace_hash(session, user, await hash_password(password))
    return user


def is_outdated(hashed: str) -> bool:
    """Whether it was made with weaker parameters than those of today."""
    return hasher.check_needs_rehash(hashed)


@cache
def nobody() -> str:
    return hasher.hash("nobody")
