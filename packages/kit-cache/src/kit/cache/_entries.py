# SPDX-License-Identifier: MIT
"""What a cache stores, and under which keys."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, msgpack


class Key(NamedTuple):
    """Where something is stored.

    Attributes:
        cache: The name of the cache.
        group: What is purged together: a path, or what `key_generator` returned.
        rest: What tells the entries of a group apart.
    """

    cache: str
    group: str
    rest: str


class Entry(Struct, frozen=True, array_like=True, tag=1, dict=True):
    """A response.

    Attributes:
        status: HTTP status code.
        headers: Names and values; several lines of one name are joined by commas.
        body: The content.
        stored_at: When it was received, in seconds since 1970-01-01 00:00:00 UTC.
        initial_age: How old it was by then, in seconds.
        lifetime: For how long it is fresh, in seconds of age.
        stale_while_revalidate: For how many seconds after that it may be sent while it is fetched
            anew (RFC 5861).
        stale_if_error: For how many seconds after that it may be sent in place of an error.
        must_revalidate: Whether it may not be sent once it is stale, whatever the client says.
        for_authorized: Whether it may be sent to requests with Authorization.
        vary: The names of the request headers that it depends on, in lower case.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    stored_at: float
    initial_age: float
    lifetime: float
    stale_while_revalidate: float
    stale_if_error: float
    must_revalidate: bool
    for_authorized: bool
    vary: tuple[str, ...]

    def age(self, now: float) -> float:
        """Returns how old it is, in seconds (RFC 9111, section 4.2.3)."""
        return self.initial_age + max(0.0, now - self.stored_at)

    @property
    def ttl(self) -> float:
        """For how many seconds after `stored_at` there is a use for it."""
        extra = max(self.stale_while_revalidate, self.stale_if_error)
        return self.lifetime - self.initial_age + extra

    @cached_property
    def fields(self) -> dict[str, str]:
        """The headers by their names."""
        return dict(self.headers)


class Variants(Struct, frozen=True, array_like=True, tag=2):
    """Says that the responses of a key depend on request headers, and are stored apart.

    Attributes:
        names: The names of these headers, in lower case.
    """

    names: tuple[str, ...]


Stored: TypeAlias = Entry | Variants
"""What a store keeps."""

_encoder = msgpack.Encoder()
_decoder: msgpack.Decoder[Any] = msgpack.Decoder(Stored)


def encode(stored: Stored) -> bytes:
    """Encodes what a cache stores, as MessagePack.

    Args:
        stored: A response, or what tells its variants apart.
    """
    return _encoder.encode(stored)


def decode(data: bytes) -> Stored | None:
    """Decodes what `encode` returned.

    Args:
        data: The bytes.

    Returns:
        None if they are something else, e.g. of another version of this package.
    """
    try:
        found: Stored = _decoder.decode(data)
    except ValueError:  # of msgspec
        return None
    return found
