# SPDX-License-Identifier: MIT
"""Finds the places of a template's fields: where escaping protects, and where it doesn't."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import cast

__all__ = ("PLACES", "find_states")

# The relevant states of the tokenizer (WHATWG HTML, section 13.2.5), and the text that ends each of
# them. Blanks are as defined by the standard.
_BLANK = "\t\n\f\r "
_ENDS = {
    "text": re.compile(
        rf"<!---?>|(?P<comment><!--)|(?P<declaration><[!?])"
        rf"|</?(?P<element>[A-Za-z][^{_BLANK}/>]*)|</?\Z"
    ),
    "comment": re.compile("--!?>"),
    "declaration": re.compile(">"),
    '"': re.compile('"'),
    "'": re.compile("'"),
    "script": re.compile(r"(?=</script)", re.IGNORECASE),
    "style": re.compile(r"(?=</style)", re.IGNORECASE),
}
_AFTER = {"comment": "text", "declaration": "text", '"': "tag", "'": "tag"}
SRCDOC = ('srcdoc"', "srcdoc'")
"""The states within `srcdoc`; its value is HTML again once its escapes are decoded."""
_EVENT_HANDLER = ('on"', "on'")
for _state in (*SRCDOC, *_EVENT_HANDLER):
    _ENDS[_state] = _ENDS[_state[-1]]
    _AFTER[_state] = "tag"
# The start of a literal that follows a field within a tag name or an unquoted value.
_REST = {"name": re.compile(rf"[^{_BLANK}/>]*"), "value": re.compile(rf"[^{_BLANK}>]*")}
# A quote begins a value only after `=`. A name may begin with `=`, unless it continues a name.
_VALUE = rf"(?P<equals>[{_BLANK}]*=[{_BLANK}]*(?:(?P<quote>[\"'])|[^{_BLANK}>]*))?"
_ATTRIBUTE = re.compile(rf"(?P<name>[^{_BLANK}/>][^{_BLANK}/>=]*){_VALUE}")
_REST_OF_ATTRIBUTE = re.compile(rf"(?P<name>)[^{_BLANK}/>=]*{_VALUE}")
_BETWEEN = re.compile(rf"[{_BLANK}/]*")
_RAW_TEXT = ("script", "style")
_TAG = "in a tag, outside of quotes"
PLACES = {
    "tag": _TAG,
    "name": _TAG,
    "value": _TAG,
    "declaration": _TAG,
    "script": "in <script>",
    "style": "in <style>",
    **dict.fromkeys(_EVENT_HANDLER, "in an attribute that is a script, such as onclick"),
}
"""The states in which escaping doesn't protect, with their descriptions for errors."""


# Templates are literals, so an app has a limited number; the bound is for apps that build them.
@lru_cache(maxsize=1024)
def find_states(literals: tuple[str, ...], state: str = "text") -> tuple[str, ...]:
    """Returns the state of the tokenizer at each field of a template.

    Args:
        literals: The parts of the template around its fields.
        state: The state at its beginning: the state of the field that contains the template.
    """
    element = ""
    states: list[str] = []
    for literal in literals[:-1]:
        state, element = _advance(literal, state, element)
        states.append(state)
    return tuple(states)


def _advance(literal: str, state: str, element: str) -> tuple[str, str]:
    """Returns the state after a literal, and the name of the tag it ends in."""
    position = 0
    if state == "tag":
        state, position = _pass_attribute(_REST_OF_ATTRIBUTE, literal, position)
    elif state in _REST:
        position = _find_end(_REST[state], literal, position)
        if position < len(literal):
            state = "tag"
    while position < len(literal):
        if state == "tag":
            position = _find_end(_BETWEEN, literal, position)
            if literal.startswith(">", position):
                position += 1
                state = element if element in _RAW_TEXT else "text"
            elif position < len(literal):
                state, position = _pass_attribute(_ATTRIBUTE, literal, position)
            continue
        found = _ENDS[state].search(literal, position)
        if found is None:
            break
        position = found.end()
        if state == "text":
            state = _open(found, position == len(literal))
            element = "" if found[0].startswith("</") else (found["element"] or "").lower()
        else:
            state = _AFTER.get(state, "text")
    return state, element


def _open(found: re.Match[str], is_last: bool) -> str:
    """Returns the state after the tag or comment that a `<` in text opens."""
    if found["comment"] or found["declaration"]:
        return "comment" if found["comment"] else "declaration"
    if found[0].endswith(">"):  # an empty comment
        return "text"
    return "name" if is_last else "tag"


def _pass_attribute(pattern: re.Pattern[str], literal: str, position: int) -> tuple[str, int]:
    """Returns the state and position after an attribute, or at the beginning of its value."""
    found = cast(re.Match[str], pattern.match(literal, position))
    position = found.end()
    if found["quote"]:
        return _describe_attribute(found["name"].lower()) + found["quote"], position
    return "value" if found["equals"] and position == len(literal) else "tag", position


def _describe_attribute(attribute: str) -> str:
    if attribute == "srcdoc":
        return "srcdoc"
    return "on" if attribute.startswith("on") else ""


def _find_end(pattern: re.Pattern[str], literal: str, position: int) -> int:
    """Returns the end of a pattern's match, which may be empty."""
    return cast(re.Match[str], pattern.match(literal, position)).end()
