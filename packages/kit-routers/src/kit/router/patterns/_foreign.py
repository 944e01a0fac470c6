# SPDX-License-Identifier: MIT
"""Recognizes patterns in the syntax of other frameworks."""

from __future__ import annotations

import re

from ._parsing import split_pattern

# The expressions of converters in Flask, Django, Starlette, FastAPI, Litestar, Falcon, Sanic and
# others; None for any segment.
_CONVERTERS = {
    "alpha": "[A-Za-z]+",
    "date": "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "decimal": r"[0-9]+(?:\.[0-9]+)?",
    "default": None,
    "float": r"[0-9]+(?:\.[0-9]+)?",
    "int": "[0-9]+",
    "number": "[0-9]+",
    "path": ".+",
    "slug": "[-A-Za-z0-9_]+",
    "str": None,
    "string": None,
    "uuid": "[0-9a-fA-F-]{36}",
    "ymd": "[0-9]{4}-[0-9]{2}-[0-9]{2}",
}
_ANY_SEGMENT = "[^/]+"

_NAME = r"[^\W\d][\w-]*"
_IS_NAME = re.compile(_NAME)
_AFTER_COLON = re.compile(r":(\w+)")
# `{id}` or `{id:type}`, where the type may be an expression with its own braces; `<id>` or
# `<type:id>`, where the type may have arguments. Excludes `(?P<id>...)`.
_FOREIGN = re.compile(
    rf"\{{(?P<brace>{_NAME})(?P<brace_rest>:(?:[^{{}}]|\{{[^{{}}]*\}})+)?\}}"
    rf"|(?<!\(\?P)<(?P<angle>{_NAME}(?:\([^()<>]*\))?)(?P<angle_rest>:[^<>]+)?>"
)


def foreign_syntax(path: str) -> str | None:
    """Translates a pattern from the syntax of another framework.

    Supports parameters in braces (`/users/{id}`, `/users/{id:int}`, `/files/{rest:path}`,
    `/users/{id:[0-9]+}`), in angle brackets (`/users/<id>`, `/users/<int:id>`, `/users/<id:int>`),
    and after a colon, with a converter (`/users/:id:int`) or several in a segment
    (`/flights/:from-:to`). Unknown converters are dropped. Kit's own parameters, such as
    `:id{[0-9]+}`, are never mistaken for foreign ones.

    In Kit, a parameter spans a whole segment: for `{name}.json`, it includes the literal.

    Args:
        path: The pattern as given.

    Returns:
        The equivalent pattern in Kit, e.g. `/users/:id{[0-9]+}`; None if nothing in it is foreign.
    """
    if "{" not in path and "<" not in path and ":" not in path.replace("/:", ""):
        return None
    segments = split_pattern(path)
    translated = [_translated(segment) for segment in segments]
    if translated == segments:
        return None
    return ("/" if path.startswith("/") else "") + "/".join(translated)


def _translated(segment: str) -> str:
    if segment.startswith(":"):  # a Kit parameter
        return _without_colons(segment)
    found = list(_FOREIGN.finditer(segment))
    parameters = [_parameter(match) for match in found]
    if len(found) == 1 and found[0][0] == segment:
        name, expression = parameters[0]
        return f":{name}" if expression is None else f":{name}{{{expression}}}"
    literals = _FOREIGN.split(segment)[:: _FOREIGN.groups + 1]
    # A brace outside the parameters can't be part of an expression.
    if not found or any("{" in literal or "}" in literal for literal in literals):
        return segment
    text = re.escape(literals[0])
    for (_, expression), literal in zip(parameters, literals[1:], strict=True):
        text += _grouped(expression or _ANY_SEGMENT) + re.escape(literal)
    return f":{'_'.join(name for name, _ in parameters)}{{{text}}}"


def _without_colons(segment: str) -> str:
    """Translates a parameter with a colon in its name, e.g. `:id:int` or `:from-:to`."""
    name, brace, expression = segment[1:].partition("{")
    first, colon, converter = name.removesuffix("?").partition(":")
    if not colon or not first or not converter:
        return segment
    optional = "?" if name.endswith("?") else ""
    if brace:
        return f":{first}{brace}{expression}"
    if _is_converter(converter):
        found = _expression_of(converter)
        return f":{first}{'' if found is None else f'{{{found}}}'}{optional}"
    # Not optional: an expression with a slash can't be.
    literals = _AFTER_COLON.split(segment.removesuffix("?"))[::2]
    if not all(literals[1:-1]):
        return f":{first}{optional}"
    text = "".join(_ANY_SEGMENT + re.escape(literal) for literal in literals[1:])
    return f":{'_'.join(_AFTER_COLON.findall(segment))}{{{text}}}"


def _parameter(match: re.Match[str]) -> tuple[str, str | None]:
    """The name of a foreign parameter and its expression; None for any segment."""
    left = match["brace"] or match["angle"]
    rest = match["brace_rest"] or match["angle_rest"]
    if rest is None:
        return left, None
    right = rest[1:].strip()
    # In braces the name comes first, in angle brackets usually the converter.
    pairs = [(left, right), (right, left)]
    for name, converter in pairs if match["brace"] else reversed(pairs):
        if _IS_NAME.fullmatch(name) and _is_converter(converter):
            return name, _expression_of(converter)
    if _IS_NAME.fullmatch(right):  # with a converter that the app has registered itself
        return (left if match["brace"] else right), None
    return left.partition("(")[0], right.removeprefix("re:")


def _is_converter(text: str) -> bool:
    """Whether this is the name of a converter, possibly with arguments."""
    name, parenthesis, _ = text.partition("(")
    return name in _CONVERTERS or (name in ("any", "regex") and bool(parenthesis))


def _expression_of(converter: str) -> str | None:
    name, _, arguments = converter.partition("(")
    if name in _CONVERTERS:
        return _CONVERTERS[name]
    choices = [each.strip().strip("'\"") for each in arguments.removesuffix(")").split(",")]
    return "|".join(map(re.escape, choices)) if name == "any" else ",".join(choices)


def _grouped(expression: str) -> str:
    return f"(?:{expression})" if "|" in expression else expression
