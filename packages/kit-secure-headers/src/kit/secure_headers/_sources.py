# SPDX-License-Identifier: MIT
"""The values of Content-Security-Policy directives (CSP Level 3, sections 2.3 and 6)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kit.authoring.options import OptionChecks

from ._suggestions import suggestion

# SPEC: section 2.2.1, directive-value without spaces.
_ITEM = re.compile(r"[!-+\--:<-~]+")
_URL_ITEM = re.compile(r"[!-~]+")
_KEYWORDS = (
    "'none'",
    "'self'",
    "'unsafe-inline'",
    "'unsafe-eval'",
    "'unsafe-hashes'",
    "'unsafe-webtransport-hashes'",
    "'strict-dynamic'",
    "'wasm-unsafe-eval'",
    "'trusted-types-eval'",
    "'inline-speculation-rules'",
    "'report-sample'",
    "'report-sha256'",
    "'report-sha384'",
    "'report-sha512'",
)
# SPEC: section 6.4.2.1, ancestor-source-list.
_OF_ANCESTORS = ("'none'", "'self'")
_HASH = re.compile(r"'sha(?:256|384|512)-[A-Za-z0-9+/_-]+={0,2}'", re.IGNORECASE)
_BARE_NONCE_OR_HASH = re.compile(r"(?:nonce|sha256|sha384|sha512)-.*", re.IGNORECASE)
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*"
# A path ends before `?` and `#`, which browsers don't match.
_PLACE = re.compile(
    rf"{_SCHEME}:|(?:{_SCHEME}://)?"
    r"(?:\*|(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?|\[[0-9A-Fa-f:.]+\])"
    r"(?::(?:[0-9]+|\*))?(?:/[^?#]*)?"
)
_SANDBOX = (
    "allow-downloads",
    "allow-forms",
    "allow-modals",
    "allow-orientation-lock",
    "allow-pointer-lock",
    "allow-popups",
    "allow-popups-to-escape-sandbox",
    "allow-presentation",
    "allow-same-origin",
    "allow-scripts",
    "allow-storage-access-by-user-activation",
    "allow-top-navigation",
    "allow-top-navigation-by-user-activation",
    "allow-top-navigation-to-custom-protocols",
)
_FIXED = {
    "require_trusted_types_for": ("'script'",),
    "sandbox": _SANDBOX,
    "webrtc": ("'allow'", "'block'"),
}
# SPEC: Trusted Types, section 4.3.2: names of policies and keywords.
_TRUSTED_TYPE = re.compile(r"\*|'none'|'allow-duplicates'|[A-Za-z0-9#=_/@.%-]+")
_BARE_TRUSTED_TYPE_KEYWORDS = ("none", "allow-duplicates")
_SEPARATORS = "ASCII without blanks, control characters, ';' and ','"


def check_values(
    check: OptionChecks, where: str, directive: str, texts: Sequence[str], count: int
) -> None:
    """Checks the values of a directive.

    Args:
        check: The checks of the factory.
        where: The directive within its option, for errors.
        directive: Its name in snake_case.
        texts: Its values; each str may contain several, separated by spaces.
        count: How many values it has, including functions.

    Raises:
        ValueError: If a value would break the policy, or would have no effect.
    """
    if directive == "upgrade_insecure_requests":
        if count:
            check.unusable(where, texts, "[], since it takes no values")
        return
    if directive == "report_uri" and not count:
        check.unusable(where, texts, "at least one URL")
    items = []
    for text in texts:
        if not text.strip(" "):
            check.unusable(where, text, "[] for a directive without values")
        items += [item for item in text.split(" ") if item]
    for item in items:
        _check_item(check, where, directive, item)
    functions = count - len(texts)
    if directive == "report_to" and len(items) + functions != 1:
        check.unusable(where, texts, "the name of one endpoint")
    if "'none'" in map(str.lower, items) and len(items) + functions > 1:
        check.unusable(where, texts, "\"'none'\" alone, or sources without it")


def _check_item(check: OptionChecks, where: str, directive: str, item: str) -> None:
    if not _ITEM.fullmatch(item):
        if directive == "report_uri" and _URL_ITEM.fullmatch(item):
            written = item.replace(";", "%3B").replace(",", "%2C")
            check.unusable(where, item, f"a URL without ';' and ',', {written!r:.100}")
        check.unusable(where, item, _SEPARATORS)
    if directive in ("report_to", "report_uri"):
        return
    if directive == "trusted_types":
        if item in _BARE_TRUSTED_TYPE_KEYWORDS or not _TRUSTED_TYPE.fullmatch(item):
            names = ("'none'", "'allow-duplicates'")
            _refuse(where, item, names, "expected the name of a policy, such as 'default'")
    elif directive in _FIXED:
        if item not in _FIXED[directive]:
            listed = " or ".join(map(repr, _FIXED[directive]))
            _refuse(where, item, _FIXED[directive], f"expected {listed}")
    else:
        _check_source(check, where, item)
        if directive == "frame_ancestors" and "'" in item and item.lower() not in _OF_ANCESTORS:
            check.unusable(where, item, "\"'self'\", \"'none'\", schemes or hosts")


def _check_source(check: OptionChecks, where: str, item: str) -> None:
    lower = item.lower()
    if f"'{lower}'" in _KEYWORDS or _BARE_NONCE_OR_HASH.fullmatch(item):
        check.unusable(where, item, f"quotes around it, \"'{item}'\"")
    if lower.startswith("'nonce-"):
        check.unusable(where, item, "NONCE, since a nonce that can be guessed protects nothing")
    if lower in _KEYWORDS or _HASH.fullmatch(item):
        return
    if "'" in item:
        _refuse(where, item, _KEYWORDS, "expected a keyword such as \"'self'\"")
    if not _PLACE.fullmatch(item):
        check.unusable(
            where, item, "a keyword, a scheme such as 'https:', or a host such as 'cdn.example.com'"
        )


def _refuse(where: str, item: str, known: Sequence[str], otherwise: str) -> None:
    hint = suggestion(item, known, otherwise)
    raise ValueError(f"secure_headers({where}={item!r:.100}) can't be used: {hint}")
