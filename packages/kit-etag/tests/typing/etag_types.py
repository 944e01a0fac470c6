# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from hashlib import sha256
from typing import assert_type

from kit.etag import GenerateDigest, etag
from kit.interface import AsyncMiddleware


def digest(body: bytes) -> bytes:
    return sha256(body).digest()


async def digest_later(body: bytes) -> bytes | None:
    return digest(body) if body else None


by_sha256: GenerateDigest = digest

assert_type(etag(), AsyncMiddleware)
assert_type(etag(weak=True, retained_headers=["Content-Language"]), AsyncMiddleware)
assert_type(etag(generate_digest=digest), AsyncMiddleware)
assert_type(etag(generate_digest=digest_later), AsyncMiddleware)
assert_type(etag(generate_digest=lambda body: None), AsyncMiddleware)
etag(generate_digest="sha1")  # type: ignore
etag(weak="yes")  # type: ignore
