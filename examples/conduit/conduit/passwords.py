# SPDX-License-Identifier: MIT
"""Hashes passwords, and checks them."""

from __future__ import annotations

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from kit import in_thread

hasher = PasswordHasher()


# Argon2 takes 64 MiB and a long time, on purpose. So it isn't run on the event loop, where all
# other requests would wait for it, nor for more than two at once.
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


def is_outdated(hashed: str) -> bool:
    """Whether it was made with weaker parameters than those of today."""
    return hasher.check_needs_rehash(hashed)


@cache
def nobody() -> str:
    return hasher.hash("nobody")
