# SPDX-License-Identifier: MIT
"""Compares credentials of requests with secrets in constant time.

All secrets are compared, whichever one matches, and each comparison takes the same time for equal
and for different texts.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any, TypeAlias

__all__ = ("HashFunction", "compare_by_digest", "compare_by_hash_function")

HashFunction: TypeAlias = Callable[[str], str | bytes | Awaitable[str | bytes | None] | None]
"""Returns the hash of a text: `def hash(text)`, plain or async; None matches nothing."""


def compare_by_digest(secrets: Iterable[str]) -> Callable[[str], bool]:
    """Returns a function that compares a text with secrets by their SHA-256 digests.

    Args:
        secrets: The secrets. Only their digests are kept.

    Returns:
        A function `(text)` that returns whether one of the secrets is that text.
    """
    known = [sha256(secret.encode()).digest() for secret in secrets]

    def is_known(text: str) -> bool:
        digest = sha256(text.encode()).digest()
        found = False
        for each in known:
            # APPSEC: no early exit: the time taken must not reveal which secret matched.
            found |= hmac.compare_digest(each, digest)
        return found

    return is_known


def compare_by_hash_function(
    factory: str, secrets: Iterable[Sequence[str]], hash_function: HashFunction
) -> Callable[..., Awaitable[bool]]:
    """Returns a function that compares texts with secrets by a custom hash function.

    The secrets are hashed on the first call, since an async function can't run earlier. Concurrent
    first calls may each hash them, with the same result.

    Args:
        factory: Name of the middleware factory, for errors.
        secrets: The secrets, each a sequence of texts that have to match together, such as a name
            and a password. All sequences have the same length.
        hash_function: The function. It must be deterministic.

    Returns:
        An async function that takes as many texts as a secret has, and returns whether one of the
        secrets consists of them.
    """
    pairs = [(secret, [text.encode() for text in secret]) for secret in secrets]
    known: list[tuple[list[bytes], list[bytes | None]]] | None = None

    async def hashes(texts: Sequence[str]) -> list[bytes | None]:
        return [await _hashed(factory, hash_function, text) for text in texts]

    async def is_known(*texts: str) -> bool:
        nonlocal known
        if known is None:
            known = [(encoded, await hashes(secret)) for secret, encoded in pairs]
        presented = [text.encode() for text in texts]
        digests = await hashes(texts)
        found = False
        for encoded, expected in known:
            alike = True
            for text, own, digest, other in zip(presented, encoded, digests, expected, strict=True):
                alike &= digest is not None and other is not None
                alike &= hmac.compare_digest(digest or b"", other or b"")
                # Equal hashes aren't enough, since the hash function may be weak.
                alike &= hmac.compare_digest(text, own)
            found |= alike
        return found

    return is_known


async def _hashed(factory: str, hash_function: HashFunction, text: str) -> bytes | None:
    digest: Any = hash_function(text)
    if hasattr(digest, "__await__"):
        digest = await digest
    if digest is None or isinstance(digest, bytes):
        return digest
    if isinstance(digest, str):
        return digest.encode()
    raise TypeError(
        f"{factory}(hash_function=...) returned {type(digest).__name__}: "
        "expected str, bytes or None"
    )
