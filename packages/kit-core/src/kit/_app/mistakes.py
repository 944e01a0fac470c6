# SPDX-License-Identifier: MIT
"""Adds notes to exceptions that Python raises for code of another framework in a handler.

The calls themselves can't be checked: that would make every request slower.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from kit.context import Context

_KEYWORD = re.compile(
    r"(?P<cls>Context|KitRequest)\.(?P<method>\w+)\(\) got "
    r"(?:an unexpected keyword argument|some positional-only arguments passed as keyword "
    r"arguments:) '(?P<name>\w+)"
)
_SECOND_ARGUMENTS = {
    "content_type": "headers={'content-type': ...}",
    "media_type": "headers={'content-type': ...}",
    "mimetype": "headers={'content-type': ...}",
    "status_code": "status=...",
}
_OF_RESPONSES = ("body", "cookies", "headers", "set_cookie", "status", "status_code")
_NEXT = re.compile(r"next\(\) takes 1 positional argument but \d+ were given")


def explain(error: Exception) -> None:
    """Adds a note that says what to write, if the exception comes from such a mistake.

    Args:
        error: The exception of a handler or middleware.
    """
    if getattr(error, "__notes__", None):
        return
    note = None
    if isinstance(error, TypeError):
        note = _note_on_call(str(error))
    elif isinstance(error, AttributeError):
        note = _note_on_attribute(error)
    if note is not None:
        error.add_note(note)


def _note_on_call(text: str) -> str | None:
    if _NEXT.fullmatch(text):
        return "next takes no arguments: write `await next()`; the response is then c.res"
    if text == "'mappingproxy' object does not support item assignment":
        return "If this is c.var, it is read-only: write c.set('name', value)"
    match = _KEYWORD.match(text)
    if match is None:
        return None
    name, is_context = match["name"], match["cls"] == "Context"
    call = f"{'c' if is_context else 'c.req'}.{match['method']}"
    if is_context and name in _SECOND_ARGUMENTS:
        return f"Write {call}(..., {_SECOND_ARGUMENTS[name]})"
    if not is_context and name == "type":
        return f"The type is given without its name: write {call}('name', int)"
    return None


def _note_on_attribute(error: AttributeError) -> str | None:
    obj, name = error.obj, error.name
    if name in _OF_RESPONSES and str(error).startswith("'NoneType' object "):
        return "If this is the result of `await next()`, it is None: the response is then c.res"
    if isinstance(obj, MappingProxyType):
        return f"If this is c.var, write c.get({name!r}) or c.var[{name!r}]"
    if isinstance(obj, Context):
        return (
            f"If it is a value for later handlers, write c.set({name!r}, value) and c.get({name!r})"
        )
    return None
