# SPDX-License-Identifier: MIT
"""Content codings: chooses one by Accept-Encoding (RFC 9110, sections 8.4.1 and 12.5.3)."""

from __future__ import annotations

from functools import lru_cache

from .fields import parse_accept

__all__ = ("IDENTITY", "choose_encoding")

IDENTITY = "identity"
"""Stands for a representation without any coding (section 12.5.3)."""

# PERF: browsers send the same few values, so they are parsed once; what is long isn't kept.
_LONGEST_KEPT = 256


def choose_encoding(accept_encoding: str | None, available: tuple[str, ...]) -> str | None:
    """Chooses the content coding of a response by what the client accepts (section 12.5.3).

    The coding with the highest quality is chosen, the first available one among equals. A coding
    that the client doesn't name has the quality of `*`, if that is there. Identity, unless it is
    named or stands under a `*` with a quality of 0, is acceptable, but comes last.

    Args:
        accept_encoding: The value of Accept-Encoding; that of several lines is joined by commas.
            None if there is none: then nothing is encoded.
        available: The codings that the response can have, in lower case, the preferred one first,
            without identity.

    Returns:
        One of `available`, or `identity`. None if the client refuses all of them and identity too:
        the answer to that is a 406, or to disregard the header (section 12.5).
    """
    if accept_encoding is None:
        return IDENTITY
    if len(accept_encoding) > _LONGEST_KEPT:
        return _chosen(accept_encoding, available)
    return _kept(accept_encoding, available)


def _chosen(accept_encoding: str, available: tuple[str, ...]) -> str | None:
    qualities: dict[str, float] = {}
    for each in parse_accept(accept_encoding):
        name = each.type.lower()
        # SPEC: section 8.4.1.3: an alias. What is named twice has the higher of its qualities.
        qualities.setdefault("gzip" if name == "x-gzip" else name, each.q)
    others = qualities.get("*", 0.0)
    best, highest = None, 0.0
    for coding in available:
        q = qualities.get(coding, others)
        if q > highest:
            best, highest = coding, q
    # SPEC: section 12.5.3: identity needs no mention, and is refused by name or by `*;q=0` alone.
    identity = qualities.get(IDENTITY, qualities.get("*"))
    if best is None:
        return None if identity == 0 else IDENTITY
    return IDENTITY if identity is not None and identity > highest else best


_kept = lru_cache(maxsize=128)(_chosen)
