# SPDX-License-Identifier: MIT
"""Content-Security-Policy: directives, their values, and nonces (CSP Level 3)."""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from os import urandom
from typing import Any, Literal, TypeAlias, get_args

from kit.authoring.maybe_await import is_awaitable, settle
from kit.authoring.options import OptionChecks
from kit.interface import AnyContext, Context

from ._sources import check_values
from ._suggestions import suggestion

VARIABLE = "secure_headers_nonce"

Directive: TypeAlias = Literal[
    "base_uri",
    "child_src",
    "connect_src",
    "default_src",
    "fenced_frame_src",
    "font_src",
    "form_action",
    "frame_ancestors",
    "frame_src",
    "img_src",
    "manifest_src",
    "media_src",
    "object_src",
    "report_to",
    "report_uri",
    "require_trusted_types_for",
    "sandbox",
    "script_src",
    "script_src_attr",
    "script_src_elem",
    "style_src",
    "style_src_attr",
    "style_src_elem",
    "trusted_types",
    "upgrade_insecure_requests",
    "webrtc",
    "worker_src",
]
"""A directive of Content Security Policy Level 3, written in snake_case."""

SourceFunction: TypeAlias = Callable[[AnyContext, str], str | Awaitable[str]]
"""Returns a source for one response: `def source(c, directive)`, plain or async. `directive` is its
name in snake_case; an empty str adds nothing."""

ContentSecurityPolicy: TypeAlias = Mapping[
    Directive, str | SourceFunction | Sequence[str | SourceFunction]
]
"""A mapping of directives to sources: a list of str and functions, or a single one. A directive
without sources, such as `upgrade_insecure_requests`, has `[]`."""

_DIRECTIVES: tuple[str, ...] = get_args(Directive)
# SPEC: CSP Level 3, section 2.2.1, directive-value; a comma would start another policy.
_VALUE = re.compile(r"[ !-+\--:<-~]*")
# SPEC: section 2.3.1, nonce-source.
_NONCE_VALUE = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_NONCE_SIZE_BYTES = 16
_NONCE_DIRECTIVES = ("default_src", "script_src", "script_src_elem", "style_src", "style_src_elem")


def NONCE(c: Context[Any, Any], directive: str = "") -> str:  # noqa: N802 - a constant to its users
    """A source of a policy: the nonce of the response. Scripts and styles with this nonce may run.

    A response has one nonce: 128 random bits, generated when the first policy needs it. Handlers
    read it with `c.get("secure_headers_nonce")`. (CSP Level 3, section 7.1.)

    Args:
        c: The context.
        directive: Name of the directive; unused.

    Returns:
        `'nonce-...'`, including the quotes.

    Raises:
        ValueError: If other code has set the variable to an invalid nonce.

    Example:
        app.use(secure_headers(content_security_policy={"script_src": ["'self'", NONCE]}))
    """
    nonce = c.get(VARIABLE)
    if not nonce:
        nonce = b2a_base64(urandom(_NONCE_SIZE_BYTES), newline=False).decode()
        c.set(VARIABLE, nonce)
    elif not isinstance(nonce, str) or not _NONCE_VALUE.fullmatch(nonce):
        raise ValueError(
            f"c.get({VARIABLE!r}) is not a nonce: expected base64, or no value to generate one"
        )
    return f"'nonce-{nonce}'"


class Policy:
    """A policy that is built for each response.

    Args:
        option: Name of its option, for errors.
        parts: Strings, and functions with the names of their directives.
    """

    __slots__ = ("_between", "_option", "_parts", "uses_nonce")

    def __init__(self, option: str, parts: Sequence[str | tuple[SourceFunction, str]]) -> None:
        self._option = option
        self._parts = parts
        functions = [each[0] for each in parts if not isinstance(each, str)]
        self.uses_nonce = NONCE in functions
        # PERF: in nearly every policy, NONCE is the only function: the nonce joins its strings.
        self._between: list[str] | None = None
        if all(function is NONCE for function in functions):
            text = "".join(each if isinstance(each, str) else "\0" for each in parts)
            self._between = text.split("\0")

    def write(self, c: Context[Any, Any]) -> str | Awaitable[str]:
        """Returns the policy for a response, or an awaitable of it."""
        if self._between is not None:
            return NONCE(c).join(self._between)
        return self._call(c)

    async def _call(self, c: Context[Any, Any]) -> str:
        written = []
        for part in self._parts:
            if isinstance(part, str):
                written.append(part)
                continue
            function, directive = part
            source: Any = function(c, directive)
            if is_awaitable(source):
                source = await settle(source, function)
            if not isinstance(source, str):
                raise TypeError(
                    f"secure_headers: a function of {self._option}[{directive!r}] returned "
                    f"{type(source).__name__}, expected a str"
                )
            if not source.isascii():
                source = _percent_encoded(source)
            if not _VALUE.fullmatch(source):
                raise ValueError(
                    f"secure_headers: a function of {self._option}[{directive!r}] returned "
                    f"{source!r:.100}, expected text without ';', ',' and control characters"
                )
            written.append(source)
        return "".join(written)


def _percent_encoded(source: str) -> str:
    """Percent-encodes non-ASCII characters, since browsers drop a directive that isn't ASCII.

    SPEC: CSP Level 3, section 2.2.1, step 2.4.
    """
    from urllib.parse import quote

    return "".join(each if each.isascii() else quote(each, errors="replace") for each in source)


def compile_policy(
    check: OptionChecks, option: str, policy: Any, report_names: Sequence[str]
) -> str | Policy:
    """Checks a policy, and returns it as text, or as a writer if it has functions.

    Args:
        check: The checks of the factory.
        option: Name of its option.
        policy: The policy, see `ContentSecurityPolicy`.
        report_names: Names of the reporting endpoints; empty if there are none.

    Raises:
        TypeError: If a value has the wrong type.
        ValueError: If a directive is unknown, or a value has no effect.
    """
    if not isinstance(policy, Mapping):
        check.wrong_type(
            option, policy, "a mapping of directives, e.g. {'default_src': [\"'self'\"]}"
        )
    if not policy:
        check.unusable(option, policy, "at least one directive, or None")
    parts: list[str | tuple[SourceFunction, str]] = []
    for directive, value in policy.items():
        if directive not in _DIRECTIVES:
            hint = suggestion(directive, _DIRECTIVES, "expected one such as 'default_src'")
            raise ValueError(
                f"secure_headers({option}=...) has the unknown directive {directive!r:.100}: {hint}"
            )
        where = f"{option}[{directive!r}]"
        values = _parse_values(check, where, value)
        if NONCE in values and directive not in _NONCE_DIRECTIVES:
            raise ValueError(
                f"secure_headers({where}=...) has NONCE, which has no effect there: "
                f"expected it in {' or '.join(map(repr, _NONCE_DIRECTIVES))}"
            )
        texts = [each for each in values if isinstance(each, str)]
        check_values(check, where, directive, texts, len(values))
        if directive == "report_to":
            _check_report_to(check, where, texts, report_names)
        parts.append(("; " if parts else "") + directive.replace("_", "-"))
        for each in values:
            parts.append(" ")
            parts.append(each if isinstance(each, str) else (each, directive))
    merged = _merged(parts)
    return merged[0] if len(merged) == 1 and isinstance(merged[0], str) else Policy(option, merged)


def _parse_values(check: OptionChecks, where: str, value: Any) -> list[Any]:
    if isinstance(value, str) or callable(value):
        value = [value]
    if not isinstance(value, Iterable) or isinstance(value, (bytes, bytearray, Mapping)):
        check.wrong_type(where, value, "a list of str and functions (c, directive)")
    values = list(value)
    for each in values:
        if callable(each):
            check.function(where, each, "(c, directive)")
        elif not isinstance(each, str):
            check.wrong_type(where, each, "a list of str and functions (c, directive)")
    return values


def _check_report_to(
    check: OptionChecks, where: str, texts: Sequence[str], names: Sequence[str]
) -> None:
    for each in texts:
        if names and each not in names:
            listed = " or ".join(map(repr, names))
            check.unusable(where, each, f"an endpoint that was given, {listed}")


def _merged(
    parts: Iterable[str | tuple[SourceFunction, str]],
) -> list[str | tuple[SourceFunction, str]]:
    """Joins adjacent strings."""
    merged: list[str | tuple[SourceFunction, str]] = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        else:
            merged.append(part)
    return merged
