# SPDX-License-Identifier: MIT
"""Content codings: chooses one by Accept-Encoding (RFC 9110, sections 8.4.1 and 12.5.3)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from .fields import parse_accept

__all__ = ("IDENTITY", "choose_encoding")

IDENTITY = "identity"
"""Stands for a representation without any coding (section 12.5.3)."""

# PERF: browsers send the same few values, so they are parsed once; what is long isn't kept.
_LONGEST_KEPT = 256
# SPEC: sections 8.4.1.1 and 8.4.1.3: older names, which mean the same.
_ALIASES = {"x-compress": "compress", "x-gzip": "gzip"}


def choose_encoding(accept_encoding: str | None, available: Iterable[str]) -> str | None:
    """Chooses the content coding of a response by what the client accepts (section 12.5.3).

    The coding with the highest quality is chosen, the first available one among equals. A coding
    that the client doesn't name has the quality of `*`, if that is there. Identity is acceptable,
    as the last choice, unless the client names it or refuses it by `*;q=0`.

    Names are compared without regard to case; `x-gzip` and `x-compress` are `gzip` and `compress`
    (section 8.4.1). For a coding that is named more than once, a quality of 0 counts before all
    others, then the highest one. A malformed quality counts as 1, as in `fields.parse_accept`.

    Args:
        accept_encoding: The value of Accept-Encoding; several lines are joined by commas. None if
            the header is absent: then nothing is encoded.
        available: The codings that the response can have, the preferred one first, without
            identity.

    Returns:
        One of `available`, as it is written there, or `identity`. None if the client refuses all
        of them and identity too: answer with a 406, or disregard the header (section 12.5).

    Raises:
        TypeError: If `available` is a str, not a list or tuple of them.
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
    # SPEC: section 12.5.3: identity needs no mention, and is refused by name or by `*;q=0` alone.
    identity = qualities.get(IDENTITY, qualities.get("*"))
    if best is None:
        return None if identity == 0 else IDENTITY
    return IDENTITY if identity is not None and identity > highest else best


def _qualities(accept_encoding: str) -> dict[str, float]:
    """Returns the quality of each coding that is named, by its canonical name."""
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
