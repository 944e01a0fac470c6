# SPDX-License-Identifier: MIT
"""Hashes and verifies passwords."""

from __future__ import annotations

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy.ext.asyncio import AsyncSession

from conduit.queries.users import replace_hash, user_by_email
from conduit.tables import User
from kit import in_thread

hasher = PasswordHasher()


# By design, argon2 is slow and takes 64 MiB. So it runs in threads, which don't block the event
# loop, and at most twice at the same time.
@in_thread(limiter=2)
def hash_password(password: str) -> str:
    return hasher.hash(password)


@in_thread(limiter=2)
def is_right(password: str, hashed: str | None) -> bool:
    """Returns whether the password matches; without a hash it takes as long and returns False."""
    try:
        return hasher.verify(hashed or nobody(), password) and hashed is not None
    except (VerificationError, InvalidHashError):
        return False


async def authenticate(session: AsyncSession, email: str, password: str) -> User | None:
    """Returns the user who has this address and this password."""
    user = await user_by_email(session, email)
    # Releases the connection, and any lock, while the password is verified.
    await session.commit()
    if not await is_right(password, user.password if user else None) or user is None:
        return None
    if is_outdated(user.password):
        await replace_hash(session, user, await hash_password(password))
    return user


def is_outdated(hashed: str) -> bool:
    """Returns whether the hash was created with other parameters than the current ones."""
    return hasher.check_needs_rehash(hashed)


@cache
def nobody() -> str:
    return hasher.hash("nobody")
