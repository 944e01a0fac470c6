# SPDX-License-Identifier: MIT
"""Creates HTML from templates in code, with every value escaped: `html` and `raw`.

    html("<p>Hello, {name}!</p>", name=name)
    html(t"<p>Hello, {name}!</p>")  # Python 3.14

This module needs the package markupsafe: `pip install "kit-core[html]"`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from string import Formatter
from typing import Any, LiteralString, NamedTuple, Protocol, overload

from kit.authoring.maybe_await import is_awaitable

from ._places import PLACES, SRCDOC, find_states

try:
    from markupsafe import Markup, escape
except ImportError as error:
    raise ImportError(
        'kit.html needs the package markupsafe: pip install "kit-core[html]"'
    ) from error

__all__ = ("TemplateString", "html", "raw")


class TemplateString(Protocol):
    """A t-string of Python 3.14, `string.templatelib.Template` (PEP 750)."""

    @property
    def strings(self) -> tuple[str, ...]:
        """The literal parts."""

    @property
    def interpolations(self) -> tuple[Any, ...]:
        """The values between them, with their conversions and formats."""


@overload
def html(template: LiteralString, /, **values: Any) -> Markup: ...
@overload
def html(template: TemplateString, /) -> Markup: ...
def html(template: Any, /, **values: Any) -> Markup:
    """Creates HTML from a template, with every value escaped.

    A field of the template is a name, `{name}`, with an optional format, `{price:.2f}`; `{{` and
    `}}` are braces. Values are rendered as follows:

    - text, a number, any other object: its `str`, with `&`, `<`, `>`, `"` and `'` escaped
    - results of `html` or `raw`, and objects with a method `__html__`: unchanged
    - None, True and False: nothing, so that a value may be `note and html(...)`
    - a list, tuple or iterator: its items, one after the other
    - a t-string: the HTML that `html` returns for it

    Escaping protects text and quoted attributes. In a tag outside of quotes, in `<script>` and
    `<style>`, and in attributes that contain scripts, such as `onclick`, only numbers and results
    of `html` or `raw` are accepted. In `srcdoc`, which contains HTML again, these results are
    escaped once more. URLs, such as the target of a link, and styles in attributes are not checked.

    Args:
        template: A literal, or a t-string. It is trusted, so it must not contain text from outside,
            as an f-string could; type checkers that know `LiteralString` reject such a template.
        **values: The values of the fields. Values without a field are ignored.

    Returns:
        The HTML, a str, for `c.html` or for a field of another template.

    Raises:
        ValueError: If the template is malformed, if a field isn't a name or has no value, or if a
            value is in a place that escaping doesn't protect.
        TypeError: If the template is neither a literal nor a t-string, or if a value is bytes or
            awaitable.

    Example:
        c.html(html("<h1>{title}</h1>", title=book.title))
    """
    if isinstance(template, str):
        if isinstance(template, Markup):
            raise TypeError("html() takes a literal, not Markup, which is HTML already")
        literals, fields = _parse(template)
        parts = [_render(_get_value(field.name, values), field) for field in fields]
    elif hasattr(template, "interpolations") and hasattr(template, "strings"):
        if values:
            raise TypeError("html() takes no values with a t-string, which has its own")
        return _render_template_string(template, "text")
    else:
        raise TypeError(f"html() takes a str or a t-string, not {template!r:.100}")
    return _join(literals, parts)


def raw(text: str) -> Markup:
    """Marks text as HTML that is sent unchanged.

    Args:
        text: HTML that you trust; it is not escaped.

    Returns:
        The same text, for a field of `html`.

    Raises:
        TypeError: If it is not a str.
    """
    if not isinstance(text, str):
        raise TypeError(f"raw() takes a str, not {text!r:.100}")
    return Markup(text)  # noqa: S704 - raw() marks trusted HTML


class _Field(NamedTuple):
    name: str
    spec: str
    state: str


def _render_template_string(template: TemplateString, state: str) -> Markup:
    literals = template.strings
    states = find_states(literals, state)
    parts = [
        _render(
            _convert(each.value, each.conversion),
            _Field(each.expression, each.format_spec, state),
        )
        for each, state in zip(template.interpolations, states, strict=True)
    ]
    return _join(literals, parts)


def _join(literals: tuple[str, ...], parts: list[str]) -> Markup:
    whole = [literals[0]]
    for part, literal in zip(parts, literals[1:], strict=True):
        whole += (part, literal)
    return Markup("".join(whole))  # noqa: S704 - each part is escaped, or trusted


@lru_cache(maxsize=1024)
def _parse(template: str) -> tuple[tuple[str, ...], tuple[_Field, ...]]:
    literals: list[str] = [""]
    fields: list[tuple[str, str]] = []
    try:
        parsed = [*Formatter().parse(template)]
    except ValueError as error:
        text = f"html() can't read the template: {error}; write {{{{ and }}}} for braces"
        raise ValueError(text) from None
    for literal, name, spec, conversion in parsed:
        literals[-1] += literal
        if name is None:
            continue
        # APPSEC: `{user.__class__}` must not work, regardless of the template's author.
        if not name.isidentifier() or conversion:
            shown = name + (f"!{conversion}" if conversion else "")
            raise ValueError(
                f"html() can't use the field {{{shown}}}: expected a name such as {{title}}; look "
                "up attributes and convert values where you pass them"
            )
        if spec and "{" in spec:
            raise ValueError(f"html() can't use a field within the format of {{{name}}}")
        fields.append((name, spec or ""))
        literals.append("")
    states = find_states(tuple(literals))
    return tuple(literals), tuple(
        _Field(name, spec, state) for (name, spec), state in zip(fields, states, strict=True)
    )


def _get_value(name: str, values: dict[str, Any]) -> Any:
    try:
        return values[name]
    except KeyError:
        given = ", ".join(values) or "none"
        raise ValueError(f"html() has no value for {{{name}}}; values given: {given}") from None


def _convert(value: Any, conversion: str | None) -> Any:
    if conversion is None:
        return value
    return str(value) if conversion == "s" else repr(value) if conversion == "r" else ascii(value)


def _render(value: Any, field: _Field) -> str:
    if field.state in SRCDOC:
        return _render_within_srcdoc(value, field)
    if value is None or value is True or value is False:
        return ""
    if isinstance(value, (list, tuple, Iterator)):
        return "".join([_render(each, field) for each in value])
    if hasattr(value, "__html__"):
        return _get_html(value, field)
    if hasattr(value, "interpolations") and hasattr(value, "strings"):
        return _render_template_string(value, field.state)
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"html() can't show {{{field.name}}}: decode it, it is {value!r:.100}")
    if is_awaitable(value) or hasattr(value, "__aiter__"):
        raise TypeError(f"html() can't wait for {{{field.name}}}: await {value!r:.100} before")
    if field.state in PLACES and value.__class__ not in (int, float):
        place = PLACES[field.state]
        raise ValueError(
            f"html() can't put the value of {{{field.name}}} {place}, where escaping doesn't "
            "protect: put quotes around an attribute, or pass raw(...) if you trust the value"
        )
    return escape(format(value, field.spec) if field.spec else value)


def _render_within_srcdoc(value: Any, field: _Field) -> str:
    """Returns HTML as the value of an attribute; the browser decodes it before it is parsed."""
    if isinstance(value, (list, tuple, Iterator)):
        return "".join([_render_within_srcdoc(each, field) for each in value])
    is_html = hasattr(value, "__html__") or hasattr(value, "interpolations")
    if not is_html and value not in (None, True, False) and value.__class__ not in (int, float):
        # APPSEC: text escaped once would be parsed as HTML, and its context isn't known.
        raise ValueError(
            f"html() can't put the value of {{{field.name}}} in srcdoc, which is HTML again: pass "
            "what html(...) returned, or raw(...) if you trust the value"
        )
    return escape(str.__str__(_render(value, field._replace(state="text"))))


def _get_html(value: Any, field: _Field) -> str:
    if field.spec:
        raise ValueError(f"html() can't format {{{field.name}}} as {field.spec!r}: it is HTML")
    return str(value.__html__())
