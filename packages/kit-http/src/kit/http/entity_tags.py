# SPDX-License-Identifier: MIT
"""Entity tags (RFC 9110, section 8.8.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple, Self

__all__ = (
    "EntityTag",
    "is_entity_tag",
    "parse_entity_tag",
    "parse_entity_tags",
    "split_entity_tags",
    "weaken",
)

# SPEC: section 8.8.3: no blanks, no escapes; `W/` is case-sensitive.
_OPAQUE = "[!#-~\x80-\xff]*"
_ENTITY_TAG = re.compile(f'(W/)?"({_OPAQUE})"')
_STRONG = re.compile(f'"{_OPAQUE}"')
_UNQUOTED = re.compile(_OPAQUE)
# Commas within quotes don't separate. Unlike in a quoted-string, a backslash isn't an escape.
# APPSEC: possessive, since backtracking takes 100 bytes for each character.
_MEMBER = re.compile(r'(?:[^",]++|"[^"]*+"?+)++')


class _Fields(NamedTuple):
    opaque: str
    weak: bool = False


class EntityTag(_Fields):
    """An entity tag; convert it with `str` to get the value of an ETag header.

    Attributes:
        opaque: The text between the quotes.
        weak: Whether equal tags only mean that two representations are equivalent, not that they
            have the same bytes.

    Raises:
        TypeError: If `opaque` is not a str.
        ValueError: If `opaque` contains quotes, blanks, control characters or characters beyond
            latin-1.
    """

    __slots__ = ()

    def __new__(cls, opaque: str, weak: bool = False) -> Self:  # noqa: D102 - see the class
        if not isinstance(opaque, str):
            raise TypeError(f"EntityTag(opaque=...) takes a str, not {opaque!r:.100}")
        if not _UNQUOTED.fullmatch(opaque):
            raise ValueError(
                f"EntityTag(opaque={opaque!r:.100}) can't be used: expected the text between the "
                "quotes, of visible latin-1 characters without quotes and blanks"
            )
        return super().__new__(cls, opaque, weak)

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> Self:  # type: ignore[override]
        # `_replace` calls this method, so it must check the fields, too.
        return cls(*iterable)

    def __str__(self) -> str:
        return f'W/"{self.opaque}"' if self.weak else f'"{self.opaque}"'

    def matches(self, other: EntityTag, *, strong: bool = False) -> bool:
        """Compares two entity tags (section 8.8.3.2).

        Args:
            other: The other tag.
            strong: Whether to use the strong comparison, in which weak tags never match. The weak
                comparison only considers the text between the quotes.
        """
        return self.opaque == other.opaque and not (strong and (self.weak or other.weak))


def is_entity_tag(value: str) -> bool:
    """Returns whether a text is an entity tag; faster than parsing it.

    Args:
        value: The text, without blanks around it.
    """
    return _ENTITY_TAG.fullmatch(value) is not None


def parse_entity_tag(value: str) -> EntityTag | None:
    """Parses one entity tag, e.g. the value of an ETag header (section 8.8.3).

    Args:
        value: The text, without blanks around it.

    Returns:
        The tag; None if the text is malformed, e.g. has no quotes.
    """
    found = _ENTITY_TAG.fullmatch(value)
    # PERF: the pattern has checked the fields, so the constructor doesn't need to.
    return tuple.__new__(EntityTag, (found[2], found[1] is not None)) if found else None


def parse_entity_tags(value: str | None) -> list[EntityTag]:
    """Parses a list of entity tags, as sent in If-Match and If-None-Match.

    Args:
        value: The value; several lines are joined with commas. None if the header is absent.

    Returns:
        The tags in order, without malformed members and without `*`.
    """
    members = map(parse_entity_tag, split_entity_tags(value)) if value else ()
    return [tag for tag in members if tag is not None]


def split_entity_tags(value: str) -> list[str]:
    """Splits a list of entity tags.

    Args:
        value: The value of If-Match or If-None-Match.

    Returns:
        The members in order, including malformed ones, without surrounding blanks. Empty members
        are omitted.
    """
    members = _MEMBER.findall(value) if '"' in value else value.split(",")
    return [stripped for each in members if (stripped := each.strip(" \t"))]


def weaken(etag: str) -> str:
    """Returns the weak form of an entity tag (section 8.8.1).

    If the bytes of a response change but its meaning doesn't, its ETag must be weak.

    Args:
        etag: The value of an ETag header. Text that isn't a strong entity tag is returned
            unchanged.
    """
    return f"W/{etag}" if _STRONG.fullmatch(etag) else etag
