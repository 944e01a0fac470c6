# SPDX-License-Identifier: MIT
"""The headers with a single value: their names, defaults and valid values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from kit.authoring.options import OptionChecks
from kit.http.fields import list_members

from ._suggestions import suggestion


class _Header(NamedTuple):
    name: str
    value: str  # the value for True
    values: tuple[str, ...] = ()  # the values in the standard; if empty, values aren't checked
    is_list: bool = False
    takes_report_to: bool = False
    has_case: bool = True


_HEADERS: Mapping[str, _Header] = {
    # SPEC: HTML, section 7.1.4.1.
    "cross_origin_embedder_policy": _Header(
        "Cross-Origin-Embedder-Policy",
        "require-corp",
        ("require-corp", "credentialless", "unsafe-none"),
        takes_report_to=True,
    ),
    # SPEC: Fetch, section 3.7.
    "cross_origin_resource_policy": _Header(
        "Cross-Origin-Resource-Policy", "same-origin", ("same-origin", "same-site", "cross-origin")
    ),
    # SPEC: HTML, section 7.1.3.1.
    "cross_origin_opener_policy": _Header(
        "Cross-Origin-Opener-Policy",
        "same-origin",
        ("same-origin", "same-origin-allow-popups", "noopener-allow-popups", "unsafe-none"),
        takes_report_to=True,
    ),
    # SPEC: HTML, section 7.1.2.
    "origin_agent_cluster": _Header("Origin-Agent-Cluster", "?1", ("?1", "?0")),
    # SPEC: Referrer Policy, sections 3 and 4.1: the last one that a browser supports counts.
    "referrer_policy": _Header(
        "Referrer-Policy",
        "no-referrer",
        (
            "no-referrer",
            "no-referrer-when-downgrade",
            "origin",
            "origin-when-cross-origin",
            "same-origin",
            "strict-origin",
            "strict-origin-when-cross-origin",
            "unsafe-url",
        ),
        is_list=True,
        has_case=False,
    ),
    # SPEC: RFC 6797, section 6.1.
    "strict_transport_security": _Header(
        "Strict-Transport-Security", "max-age=15552000; includeSubDomains"
    ),
    # SPEC: Fetch, section 3.6.
    "x_content_type_options": _Header(
        "X-Content-Type-Options", "nosniff", ("nosniff",), is_list=True, has_case=False
    ),
    "x_dns_prefetch_control": _Header(
        "X-DNS-Prefetch-Control", "off", ("off", "on"), has_case=False
    ),
    "x_download_options": _Header("X-Download-Options", "noopen"),
    # SPEC: RFC 7034, section 2.1; ALLOW-FROM has no effect in current browsers.
    "x_frame_options": _Header(
        "X-Frame-Options", "SAMEORIGIN", ("SAMEORIGIN", "DENY"), has_case=False
    ),
    "x_permitted_cross_domain_policies": _Header(
        "X-Permitted-Cross-Domain-Policies",
        "none",
        (
            "none",
            "master-only",
            "by-content-type",
            "by-ftp-filename",
            "all",
            "none-this-response",
        ),
        has_case=False,
    ),
    "x_xss_protection": _Header("X-XSS-Protection", "0"),
}

_REPORT_TO = re.compile(r'(.*?)[ \t]*;[ \t]*report-to="[^"\\]*"')
# SPEC: RFC 6797 section 6.1: directives in any order, each once; names are case-insensitive.
_HSTS_DIRECTIVE = re.compile(
    r'(?i:(max-age)[ \t]*=[ \t]*(?:[0-9]+|"[0-9]+")|(includeSubDomains)|(preload))'
)
_HSTS = "'max-age=SECONDS', optionally with '; includeSubDomains' and '; preload'"
_XSS = re.compile(r"[01](?:[ \t]*;[ \t]*(?:mode[ \t]*=[ \t]*block|report[ \t]*=[ \t]*[!-~]+))*")


def single_headers(check: OptionChecks, options: Mapping[str, bool | str]) -> list[tuple[str, str]]:
    """Returns names and values of the headers to send.

    Args:
        check: The checks of the factory.
        options: The options with their values: True for the default, a str for another value, False
            or an empty str for none.

    Raises:
        TypeError: If a value is neither a bool nor a str.
        ValueError: If a value has no effect, or can't be sent.
    """
    headers = []
    for option, value in options.items():
        header = _HEADERS[option]
        if not isinstance(value, (bool, str)):
            check.wrong_type(option, value, "a bool or a str")
        if not value:
            continue
        if isinstance(value, str):
            _check_value(check, option, value, header)
        headers.append((header.name, header.value if value is True else str(value)))
    return headers


def _check_value(check: OptionChecks, option: str, value: str, header: _Header) -> None:
    check.header_value(option, value)
    if option == "strict_transport_security":
        _check_hsts(check, option, value)
    elif option == "x_xss_protection" and not _XSS.fullmatch(value):
        check.unusable(option, value, "'0', '1' or '1; mode=block'")
    if not header.values:
        return
    match = _REPORT_TO.fullmatch(value) if header.takes_report_to else None
    said = match[1] if match else value
    members = list_members(said) if header.is_list else [said]
    for each in members:
        if each not in header.values and (
            header.has_case or each.lower() not in map(str.lower, header.values)
        ):
            listed = " or ".join(map(repr, header.values))
            hint = suggestion(each, header.values, f"expected {listed}")
            raise ValueError(f"secure_headers({option}={value!r:.100}) can't be used: {hint}")


def _check_hsts(check: OptionChecks, option: str, value: str) -> None:
    seen: list[str] = []
    for each in value.split(";"):
        if not each.strip(" \t"):
            continue
        match = _HSTS_DIRECTIVE.fullmatch(each.strip(" \t"))
        if match is None:
            check.unusable(option, value, _HSTS)
        seen.append(str(match[match.lastindex or 0]).lower())
    if "max-age" not in seen or len(seen) != len(set(seen)):
        check.unusable(option, value, _HSTS)
