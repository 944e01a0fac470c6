# SPDX-License-Identifier: MIT
"""Compares tokens in constant time."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from hashlib import sha256
from hmac import compare_digest
from typing import Any, TypeAlias

HashFunction: TypeAlias = Callable[[str], str | bytes | Awaitable[str | bytes | None] | None]
"""Returns the hash of a token: `def hash(token)`, plain or async."""


def check_tokens(token: str | Iterable[str], syntax: re.Pattern[str]) -> list[str]:
    """Validates the configured tokens. Error messages never contain a token: they end up in logs.

    Args:
        token: One token, or several.
        syntax: The pattern that tokens in requests match; no other token can ever be accepted.

    Returns:
        The tokens.

    Raises:
        TypeError: If `token` is neither a str nor an iterable of them.
        ValueError: If a token doesn't match `syntax`.
    """
    if isinstance(token, str):
        tokens = [token]
    elif isinstance(token, Iterable) and not isinstance(token, (bytes, bytearray, Mapping)):
        tokens = list(token)
    else:
        raise TypeError(
            f"bearer_auth(token=...) takes a str or a list of them, not {type(token).__name__}"
        )
    for number, each in enumerate(tokens, 1):
        if not isinstance(each, str):
            raise TypeError(
                f"bearer_auth(token=...): token {number} of {len(tokens)} is "
                f"{type(each).__name__}, expected a str"
            )
        if not syntax.fullmatch(each):
            raise ValueError(
                f"bearer_auth(token=...): token {number} of {len(tokens)} is no bearer token: "
                "expected one or more of A-Z a-z 0-9 - . _ ~ + / and then any number of = "
                "(RFC 6750 section 2.1)"
            )
    return tokens


def by_digest(tokens: list[str]) -> Callable[[str, Any], bool]:
    """Returns a function that compares SHA-256 digests; those of `tokens` are computed now."""
    known = [sha256(token.encode()).digest() for token in tokens]

    def accepts(token: str, c: Any) -> bool:
        digest = sha256(token.encode()).digest()
        found = False
        for each in known:
            # No break: the time taken must not reveal which token matched.
            found |= compare_digest(each, digest)
        return found

    return accepts


def by_hash_function(
    tokens: list[str], hash_function: HashFunction
) -> Callable[[str, Any], Awaitable[bool]]:
    """Returns a function that compares hashes by `hash_function`, computed at the first request.

    An async hash function can't run any earlier. Concurrent first requests may each hash the
    configured tokens, with the same result.
    """
    encoded = [token.encode() for token in tokens]
    known: list[bytes | None] | None = None

    async def accepts(token: str, c: Any) -> bool:
        nonlocal known
        if known is None:
            known = [await _hashed(each, hash_function) for each in tokens]
        digest = await _hashed(token, hash_function)
        presented = token.encode()
        found = False
        for text, each in zip(encoded, known, strict=True):
            alike = digest is not None and each is not None and compare_digest(each, digest)
            # Equal hashes are not enough: the hash function may be weak.
            found |= compare_digest(text, presented) & alike
        return found

    return accepts


async def _hashed(token: str, hash_function: HashFunction) -> bytes | None:
    digest: Any = hash_function(token)
    if hasattr(digest, "__await__"):
        digest = await digest
    if digest is None or isinstance(digest, bytes):
        return digest
    if isinstance(digest, str):
        return digest.encode()
    raise TypeError(
        f"bearer_auth(hash_function=...) gave {type(digest).__name__}: expected str, bytes or None"
    )
