# SPDX-License-Identifier: MIT
"""The entries of a cache and their keys."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, msgpack


class Key(NamedTuple):
    """The key of an entry.

    Attributes:
        cache: The name of the cache.
        group: The unit of purging: a path, or a key that `key_generator` returned.
        rest: Distinguishes the entries of a group.
    """

    cache: str
    group: str
    rest: str


class Entry(Struct, frozen=True, array_like=True, tag=1, dict=True):
    """A stored response.

    Attributes:
        status: HTTP status code.
        headers: Names and values; several lines with the same name are joined with commas.
        body: The content, as plain bytes: no subclass, which `encode` refuses.
        stored_at: When it was received, in seconds since 1970-01-01 00:00:00 UTC.
        initial_age: Its age at that time, in seconds.
        lifetime: How long it is fresh, in seconds of age.
        stale_while_revalidate: How many seconds after that it may be sent while a new response is
            fetched (RFC 5861).
        stale_if_error: How many seconds after that it may be sent instead of an error.
        must_revalidate: Whether it must not be sent once it is stale, even if the client allows it.
        for_authorized: Whether it may be sent to requests with Authorization.
        vary: Names of the request headers it depends on, in lower case.
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
        """Returns its age in seconds (RFC 9111, section 4.2.3)."""
        return self.initial_age + max(0.0, now - self.stored_at)

    @property
    def ttl(self) -> float:
        """How many seconds after `stored_at` it can still be used."""
        extra = max(self.stale_while_revalidate, self.stale_if_error)
        return self.lifetime - self.initial_age + extra

    @cached_property
    def fields(self) -> dict[str, str]:
        """The headers by name."""
        return dict(self.headers)


class Variants(Struct, frozen=True, array_like=True, tag=2):
    """Declares that the responses of a key depend on request headers, and have their own keys.

    Attributes:
        names: The names of these headers, in lower case.
        ends_at: When the last of these responses can't be used anymore, in seconds since
            1970-01-01 00:00:00 UTC.
    """

    names: tuple[str, ...]
    ends_at: float = 0.0


Stored: TypeAlias = Entry | Variants
"""A value in a store."""

_encoder = msgpack.Encoder()
_decoder: msgpack.Decoder[Any] = msgpack.Decoder(Stored)


def encode(stored: Stored) -> bytes:
    """Encodes a value for a store as MessagePack.

    Args:
        stored: A response, or the headers that distinguish its variants.
    """
    return _encoder.encode(stored)


def decode(data: bytes) -> Stored | None:
    """Decodes a value encoded by `encode`.

    Args:
        data: The bytes.

    Returns:
        The value; None if it can't be decoded, e.g. because of another version of this package.
    """
    try:
        found: Stored = _decoder.decode(data)
    except ValueError:  # of msgspec
        return None
    return found
