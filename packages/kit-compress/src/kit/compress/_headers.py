# SPDX-License-Identifier: MIT
"""Reads the headers that affect compression, and adjusts the headers of compressed responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kit.http.entity_tags import parse_entity_tag, parse_entity_tags, weaken
from kit.http.fields import list_members
from kit.http.vary import add_vary
from kit.interface import Context, Headers

__all__ = (
    "ACCEPT_ENCODING",
    "describe_encoded",
    "describe_revalidated",
    "is_fixed",
    "is_part",
    "is_shorter",
    "vary",
)

ACCEPT_ENCODING = "Accept-Encoding"
# The response is already encoded, must be sent unchanged, or is partial (a range of bytes).
_FIXED = frozenset(("content-encoding", "transfer-encoding", "content-range"))
_FIXED_WHOLE = _FIXED - {"content-range"}
# SPEC: RFC 9530, RFC 3230 and RFC 1864: digests of the unencoded bytes. A client with the encoded
# bytes could not use ranges of the unencoded ones.
_OF_THE_BYTES = frozenset(
    ("content-digest", "repr-digest", "digest", "content-md5", "accept-ranges")
)


def is_shorter(known: Mapping[str, str], threshold: int) -> bool | None:
    """Returns whether a response is declared to be shorter than a threshold.

    Args:
        known: The headers of the response, by name in lower case.
        threshold: The size, in bytes.

    Returns:
        None if there is no valid Content-Length.
    """
    value = known.get("content-length")
    if value is None or not (value.isascii() and value.isdigit()):
        return None
    return int(value) < threshold


def is_part(known: Mapping[str, str], threshold: int) -> bool:
    """Returns whether a 206 has a part of a response that would be long enough to be encoded.

    Args:
        known: The headers of the response, by name in lower case.
        threshold: The size of the whole response, in bytes.
    """
    # SPEC: RFC 9110, section 14.4: `*` if the size is unknown. Several parts have no Content-Range,
    # and not the type of the whole response, either.
    unit, _, size = known.get("content-range", "").rpartition("/")
    is_known = size.isascii() and size.isdigit()
    return int(size[:18]) >= threshold if is_known else bool(unit) and size == "*"


def is_fixed(status: int, known: Mapping[str, str]) -> bool:
    """Returns whether a response must not be encoded; for a 206, whether its 200 must not be.

    Args:
        status: Its status.
        known: Its headers, by name in lower case.
    """
    if not (_FIXED_WHOLE if status == 206 else _FIXED).isdisjoint(known):
        return True
    # SPEC: RFC 9111 section 5.2.2.6.
    control = known.get("cache-control")
    return (
        control is not None
        and "no-transform" in (lower := control.lower())
        and "no-transform" in list_members(lower)
    )


def describe_encoded(headers: Headers, known: Mapping[str, str], coding: str) -> None:
    """Adjusts the headers of a response that is now encoded, except Content-Length.

    Args:
        headers: Its headers.
        known: Its previous headers, by name in lower case.
        coding: The name of the coding.
    """
    add_vary(headers, ACCEPT_ENCODING)
    headers.append("Content-Encoding", coding)
    etag = known.get("etag")
    if etag is not None:
        headers.set("ETag", weaken(etag))
    for name in _OF_THE_BYTES.intersection(known):
        headers.delete(name)


def vary(c: Context[Any, Any], known: Mapping[str, str]) -> None:
    """Adds Vary to a response that could have been encoded.

    Args:
        c: The context.
        known: The headers of the response, by name in lower case.
    """
    value = known.get("vary")
    if value is not None:
        members = {member.lower() for member in list_members(value)}
        if not members.isdisjoint(("*", "accept-encoding")):
            return
    # Uses the context, which copies a response that the handler may return again.
    c.header("Vary", ACCEPT_ENCODING, append=True)


def describe_revalidated(c: Context[Any, Any], known: Mapping[str, str]) -> None:
    """Adjusts the headers of a 304 to match those of the 200 (RFC 9110, section 15.4.5).

    It is unknown whether the 200 was encoded, but a client that sends a strong ETag as a weak one
    has an encoded response.

    Args:
        c: The context.
        known: The headers of the response, by name in lower case.
    """
    if is_fixed(304, known):
        return
    tag = parse_entity_tag(known.get("etag") or "")
    vary(c, known)
    if tag is not None and not tag.weak:
        listed = parse_entity_tags(c.req.header("If-None-Match"))
        if tag not in listed and tag._replace(weak=True) in listed:
            c.header("ETag", str(tag._replace(weak=True)))
