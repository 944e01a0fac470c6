# SPDX-License-Identifier: MIT
"""Where the fields of a template stand: where escaping protects, and where it doesn't."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ("places_of",)

# What ends each state of the tokenizer, as far as it matters here (WHATWG HTML, section 13.2.5).
_ENDS = {
    "text": re.compile(r"<!--|<[!?]|</?(?P<element>[A-Za-z][^\s/>]*)|</?\Z"),
    "tag": re.compile(r"[\"'>]"),
    '"': re.compile('"'),
    "'": re.compile("'"),
    "comment": re.compile("-->"),
    "script": re.compile(r"(?=</script)", re.IGNORECASE),
    "style": re.compile(r"(?=</style)", re.IGNORECASE),
}
_RAW_TEXT = ("script", "style")
_TAG = "in a tag, outside of quotes"


# A template is a literal, of which an app has as many as it has lines. The bound is for those that
# make theirs up.
@lru_cache(maxsize=1024)
def places_of(literals: tuple[str, ...]) -> tuple[str | None, ...]:
    """Returns for each field where it stands, if escaping doesn't protect there, else None.

    Args:
        literals: The parts of a template around its fields. The first begins in text.
    """
    state, element = "text", ""
    places: list[str | None] = []
    for literal in literals[:-1]:
        state, element = _after(literal, state, element)
        if state in _RAW_TEXT:
            places.append(f"in <{state}>")
        else:
            places.append(_TAG if state == "tag" else None)
    return tuple(places)


def _after(literal: str, state: str, element: str) -> tuple[str, str]:
    """Returns the state behind a literal, and the name of the tag that it is in."""
    position = 0
    while found := _ENDS[state].search(literal, position):
        position = found.end()
        if state == "text":
            opening = found[0]
            state = "comment" if opening == "<!--" else "tag"
            element = "" if opening.startswith("</") else (found["element"] or "").lower()
        elif state == "tag" and found[0] == ">":
            state = element if element in _RAW_TEXT else "text"
        elif state == "tag":
            state = found[0]
        else:
            state = "tag" if state in ('"', "'") else "text"
    return state, element
