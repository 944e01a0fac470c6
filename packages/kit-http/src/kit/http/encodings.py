# SPDX-License-Identifier: MIT
"""Content codings: chooses one by Accept-Encoding (RFC 9110, sections 8.4.1 and 12.5.3)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from .fields import parse_accept

__all__ = ("IDENTITY", "choose_encoding")

IDENTITY = "identity"
"""Represents a response without any coding (section 12.5.3)."""

# PERF: browsers send the same few values, so they are parsed once; long values aren't cached.
_LONGEST_KEPT = 256
# SPEC: sections 8.4.1.1 and 8.4.1.3: older equivalent names.
_ALIASES = {"x-compress": "compress", "x-gzip": "gzip"}


def choose_encoding(accept_encoding: str | None, available: Iterable[str]) -> str | None:
    """Chooses the content coding of a response according to Accept-Encoding (section 12.5.3).

    The coding with the highest quality wins; if qualities are equal, the first available one. A
    coding that the client doesn't list has the quality of `*`, if present. Identity is acceptable
    as the last choice, unless the client lists it or excludes it with `*;q=0`.

    Names are case-insensitive; `x-gzip` and `x-compress` mean `gzip` and `compress` (section
    8.4.1). If a coding is listed more than once, a quality of 0 takes precedence, then the highest
    one. A malformed quality counts as 1, as in `fields.parse_accept`.

    Args:
        accept_encoding: The value of Accept-Encoding; several lines are joined with commas. None if
            the header is absent; nothing is then encoded.
        available: The available codings in order of preference, without identity.

    Returns:
        One of `available`, in the same spelling, or `identity`. None if the client excludes all of
        them, including identity: respond with a 406, or ignore the header (section 12.5).

    Raises:
        TypeError: If `available` is a str instead of a list or tuple.
    """
    if not isinstance(available, tuple):
        available = _as_tuple(available)
    if accept_encoding is None:
        return IDENTITY
    if len(accept_encoding) > _LONGEST_KEPT:
        return _chosen(accept_encoding, available)
    return _kept(accept_encoding, available)


def _as_tuple(available: Iterable[str]) -> tuple[str, ...]:
    if isinstance(available, (str, bytes)):
        raise TypeError(
            "choose_encoding(available=...) takes a list or tuple of codings, "
            f"such as ('br', 'gzip'), not {available!r:.100}"
        )
    return tuple(available)


def _chosen(accept_encoding: str, available: tuple[str, ...]) -> str | None:
    qualities = _qualities(accept_encoding)
    others = qualities.get("*", 0.0)
    best, highest = None, 0.0
    for coding in available:
        q = qualities.get(_canonical(coding), others)
        if q > highest:
            best, highest = coding, q
    # SPEC: section 12.5.3: identity is implied, and only excluded by name or by `*;q=0`.
    identity = qualities.get(IDENTITY, qualities.get("*"))
    if best is None:
        return None if identity == 0 else IDENTITY
    return IDENTITY if identity is not None and identity > highest else best


def _qualities(accept_encoding: str) -> dict[str, float]:
    """Returns the quality of each listed coding by its canonical name."""
    qualities: dict[str, float] = {}
    for each in parse_accept(accept_encoding):  # the highest quality first
        name = _canonical(each.type)
        if name not in qualities or each.q == 0:
            qualities[name] = each.q
    return qualities


def _canonical(coding: str) -> str:
    name = coding.lower()
    return _ALIASES.get(name, name)


_kept = lru_cache(maxsize=128)(_chosen)
