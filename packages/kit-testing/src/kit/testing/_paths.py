# SPDX-License-Identifier: MIT
"""Matches the names of test client calls to route paths, and builds request paths."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

from kit.http.paths import decode_path
from kit.interface import UnsupportedPathError
from kit.router.patterns import compile_expression, parse_parameter, split_pattern
from kit.testing._errors import ParameterError
from kit.testing._inputs import as_text

Names: TypeAlias = tuple[str, ...]

# SPEC: RFC 3986 section 3.3: characters that a segment may contain unencoded, besides letters and
# digits. Expressions of routes match these unencoded, and all others encoded.
_SEGMENT_SAFE = "-._~!$&'()*+,;=:@"


class Segment(NamedTuple):
    """One segment of a route's path.

    Attributes:
        text: The segment as the route spells it, e.g. `:id{[0-9]+}?`.
        literal: The same without the `?` of an optional parameter.
        name: Name of the parameter, `*` for a wildcard, None for literal text.
        expression: The expression that the parameter must match, or None.
        optional: Whether the segment may be absent.
        aliases: The names that a client may use for it.
    """

    text: str
    literal: str
    name: str | None
    expression: str | None
    optional: bool
    aliases: tuple[str, ...]


Variant: TypeAlias = tuple[Segment, ...]

_EMPTY = Segment("", "", None, None, False, ("", "index"))


@lru_cache(maxsize=4096)
def variants(path: str) -> tuple[Variant, ...]:
    """Returns the paths that a route stands for: several if its last parameter is optional.

    They are the same as those of `kit.router.patterns.expand_optional`.
    """
    has_optional = path.endswith("?")
    segments = tuple(_segment(text, has_optional) for text in split_pattern(path))
    if not any(segment.optional for segment in segments):
        return (segments,)
    found: dict[Variant, None] = {}
    for index, segment in enumerate(segments):
        if segment.optional:
            found[segments[:index] or (_EMPTY,)] = None
            found[segments[: index + 1]] = None
    return tuple(found)


def _segment(text: str, has_optional: bool) -> Segment:
    if not text:
        return _EMPTY
    optional = has_optional and ":" in text and text.endswith("?")
    literal = text[:-1] if optional else text
    if literal == "*":
        return Segment(text, literal, "*", None, optional, (text,))
    parameter = parse_parameter(literal)
    if parameter is None:
        return Segment(text, literal, None, None, optional, (text, literal))
    name = parameter.name
    aliases = (text, literal, f":{name}", *((f":{name}?",) if optional else ()))
    return Segment(text, literal, name, parameter.expression, optional, aliases)


def begins(variant: Variant, names: Names) -> bool:
    """Returns whether a client may use these names for the first segments."""
    return len(variant) >= len(names) and all(
        name in segment.aliases for name, segment in zip(names, variant, strict=False)
    )


def parse_values(variant: Variant, names: Names) -> dict[str, str] | None:
    """Returns the values of parameters among the names of a call, e.g. `general` for `:room`.

    Args:
        variant: The path of the route.
        names: The names that the call uses for its segments.

    Returns:
        The values; None if the path doesn't match.
    """
    if len(variant) != len(names):
        return None
    values: dict[str, str] = {}
    for segment, given in zip(variant, names, strict=True):
        if given in segment.aliases:
            continue
        name, expression = segment.name, segment.expression
        if name is None or name == "*" or name in values:
            return None
        if not (_takes(expression, given) if expression else given):
            return None
        values[name] = given
    return values


def fill(variant: Variant, names: Names, param: Any, call: str) -> str:
    """Returns the path of a call, percent-encoded.

    Args:
        variant: The path of the route.
        names: The names that the call uses for its segments: an optional parameter may be absent
            if its name is written with `?`.
        param: Values of the parameters, a mapping or None.
        call: The call, for error messages.

    Raises:
        ParameterError: If a parameter is missing, or is not one of the path.
        TypeError: If a value is not a single value.
        ValueError: If a value can't be sent in a path.
    """
    if param is not None and not isinstance(param, Mapping):
        raise TypeError(f"{call}: param takes a mapping, not {param!r:.100}")
    values = {name: value for name, value in (param or {}).items() if value is not None}
    known = tuple(dict.fromkeys(s.name for s in variant if s.name is not None))
    unknown = tuple(name for name in values if name not in known)
    parts: list[str] = []
    missing: list[str] = []
    absent: str | None = None
    for index, (segment, given) in enumerate(zip(variant, names or ("",), strict=True)):
        name = segment.name
        if name is not None and name in values:
            if absent is not None:  # no segment can follow an absent one
                missing.append(absent)
            text = as_text(values[name], f"{call}: the parameter {name!r}")
            is_rest = name == "*" and index == len(variant) - 1
            parts.append(_encode_value(segment, text, is_rest=is_rest, call=call))
        elif name is None:
            if absent is None:
                parts.append(quote(segment.literal, safe=_SEGMENT_SAFE + "%"))
        elif segment.optional and given.endswith("?"):
            absent = absent or name
        elif name not in missing:
            missing.append(name)
    if missing or unknown:
        path = "/" + "/".join(segment.text for segment in variant)
        raise ParameterError(call, path, tuple(dict.fromkeys(missing)), unknown, known)
    return "/" + "/".join(parts)


def _encode_value(segment: Segment, text: str, *, is_rest: bool, call: str) -> str:
    what = f"{call}: the parameter {segment.name!r}"
    try:
        encoded = quote(text, safe=_SEGMENT_SAFE + ("/" if is_rest else ""))
        if "/" in text and segment.expression is not None:
            encoded = _with_slashes(text, segment.expression) or encoded
    except UnicodeEncodeError:
        raise ValueError(f"{what} can't be sent: {text!r:.100} has a lone surrogate") from None
    if any(part in (".", "..") for part in encoded.split("/")):
        raise ValueError(
            f"{what} can't be sent: a URL drops the segment {text!r:.100} (WHATWG URL, path state)"
        )
    if not text and not is_rest and not _takes(segment.expression, ""):
        raise ValueError(f"{what} is empty: no route matches an empty segment there")
    return encoded


def _with_slashes(text: str, expression: str) -> str | None:
    """Encodes all but the slashes, as a browser would, if the expression matches the result.

    Returns None otherwise, and if a URL or an app could drop a slash: encode those too, then.
    """
    if any(part in ("", ".", "..") for part in text.split("/")):
        return None
    encoded = quote(text, safe=_SEGMENT_SAFE + "/")
    return encoded if _takes(expression, decode_path(encoded)) else None


def _takes(expression: str | None, text: str) -> bool:
    if expression is None:
        return False
    try:
        return compile_expression(expression, expression, "").match(text) is not None
    except UnsupportedPathError:  # a third-party router may support the expression
        return False
