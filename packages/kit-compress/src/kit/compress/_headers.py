# SPDX-License-Identifier: MIT
"""What the headers of a response say about compressing it, and what they have to say after that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kit.interface import Context, Headers
from kit.interface.conditional import parse_entity_tag, parse_entity_tags, weakened
from kit.interface.fields import add_vary, list_members

__all__ = (
    "ACCEPT_ENCODING",
    "describe_encoded",
    "describe_revalidated",
    "is_fixed",
    "is_shorter",
    "vary",
)

ACCEPT_ENCODING = "Accept-Encoding"
# The response is encoded already, is to be sent as it is, or is a part of one (a range of bytes).
_FIXED = frozenset(("content-encoding", "transfer-encoding", "content-range"))
# SPEC: RFC 9530, RFC 3230 and RFC 1864: digests of the bytes that would have been sent. Ranges of
# those are not what a client that has the encoded ones could use.
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


def is_fixed(status: int, known: Mapping[str, str]) -> bool:
    """Returns whether a response must not be encoded.

    Args:
        status: Its status.
        known: Its headers, by name in lower case.
    """
    if status == 206 or not _FIXED.isdisjoint(known):
        return True
    # SPEC: RFC 9111 section 5.2.2.6.
    control = known.get("cache-control")
    return (
        control is not None
        and "no-transform" in (lower := control.lower())
        and "no-transform" in list_members(lower)
    )


def describe_encoded(headers: Headers, known: Mapping[str, str], coding: str) -> None:
    """Corrects the headers of a response that is encoded from now on, but for Content-Length.

    Args:
        headers: Its headers.
        known: What they were, by name in lower case.
        coding: The name of the coding.
    """
    add_vary(headers, ACCEPT_ENCODING)
    headers.append("Content-Encoding", coding)
    etag = known.get("etag")
    if etag is not None:
        headers.set("ETag", weakened(etag))
    for name in _OF_THE_BYTES.intersection(known):
        headers.delete(name)


def vary(c: Context[Any, Any], known: Mapping[str, str]) -> None:
    """Has a response that isn't encoded say that it might have been.

    Args:
        c: The context.
        known: The headers of the response, by name in lower case.
    """
    value = known.get("vary")
    if value is not None:
        members = {member.lower() for member in list_members(value)}
        if not members.isdisjoint(("*", "accept-encoding")):
            return
    # By the context, which copies a response that the handler may return again.
    c.header("Vary", ACCEPT_ENCODING, append=True)


def describe_revalidated(c: Context[Any, Any], known: Mapping[str, str]) -> None:
    """Corrects the headers of a 304: they are to be those of the 200 (RFC 9110, section 15.4.5).

    Whether that was encoded can't be seen, but a client that names a strong ETag as a weak one has
    an encoded response.

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
