# SPDX-License-Identifier: MIT
"""Hashes and verifies passwords."""

from __future__ import annotations

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

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


def is_outdated(hashed: str) -> bool:
    """Returns whether the hash was created with other parameters than the current ones."""
    return hasher.check_needs_rehash(hashed)


@cache
def nobody() -> str:
    return hasher.hash("nobody")
