# SPDX-License-Identifier: MIT
"""Finds the supported language that matches a client's preferences (RFC 4647, section 3.4)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from kit.http.fields import parse_accept

__all__ = ("Lookup", "accepted_tags")

# Browsers send only a few different values of Accept-Language, all of them short.
_KEPT_VALUES = 256
_LONGEST_KEPT = 256


def accepted_tags(value: str) -> list[str]:
    """Returns the acceptable language ranges of Accept-Language, the best ones first.

    Args:
        value: The value of the header (RFC 9110, section 12.5.4).
    """
    return [each.type for each in parse_accept(value) if each.q > 0]


class Lookup:
    """The languages that an app supports.

    Args:
        languages: The languages, as the app spells them.
        ignore_case: Whether to compare tags case-insensitively.
    """

    __slots__ = ("_find_kept", "_ignore_case", "_longest", "_spelled")

    def __init__(self, languages: Iterable[str], ignore_case: bool) -> None:
        self._ignore_case = ignore_case
        self._spelled: dict[str, str] = {}
        for language in languages:
            self._spelled.setdefault(language.lower() if ignore_case else language, language)
        self._longest = max(map(len, self._spelled), default=0)
        self._find_kept = lru_cache(maxsize=_KEPT_VALUES)(self._find_first)

    def find(self, tag: str) -> str | None:
        """Returns the language for one tag, or None.

        Tries the tag itself, then removes subtags from its end: `de-CH` matches `de`.

        Args:
            tag: The tag, with or without surrounding whitespace.
        """
        tag = tag.strip()
        if self._ignore_case:
            tag = tag.lower()
        found = self._spelled.get(tag)
        # Cut to the longest language first, since a tag may consist of thousands of hyphens.
        end = self._longest + 1
        while found is None and (end := tag.rfind("-", 0, end)) > 0:
            found = self._spelled.get(tag[:end])
        return found

    def find_accepted(self, value: str) -> str | None:
        """Returns the language for a value of Accept-Language, or None.

        Args:
            value: The value.
        """
        return self._find_kept(value) if len(value) <= _LONGEST_KEPT else self._find_first(value)

    def _find_first(self, value: str) -> str | None:
        for tag in accepted_tags(value):
            found = self.find(tag)
            if found is not None:
                return found
        return None
