# SPDX-License-Identifier: MIT
"""Where browsers send reports: Reporting-Endpoints, and its predecessor Report-To."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from kit.authoring.options import OptionChecks
from kit.http.fields import quoted_string


class ReportingEndpoint(TypedDict):
    """An endpoint of Reporting-Endpoints (W3C Reporting API, section 3.3).

    Attributes:
        name: Its name in `report_to` of a policy.
        url: An https URL, or a path on this server.
    """

    name: str
    url: str


class ReportToEndpoint(TypedDict):
    """An endpoint of a group of Report-To.

    Attributes:
        url: An https URL, or a path on this server.
        priority: Endpoints with the lowest number are tried first.
        weight: Its share of the reports among endpoints with the same priority.
    """

    url: str
    priority: NotRequired[int]
    weight: NotRequired[int]


class ReportTo(TypedDict):
    """A group of Report-To (W3C Reporting API of 2018, section 3.1).

    Attributes:
        group: Its name in `report_to` of a policy.
        max_age: How long browsers store it, in seconds; 0 deletes it.
        endpoints: The endpoints; one of them gets each report.
        include_subdomains: Whether reports from subdomains are sent there too.
    """

    group: str
    max_age: int
    endpoints: Sequence[ReportToEndpoint]
    include_subdomains: NotRequired[bool]


# SPEC: RFC 9651 section 3.1.2, key.
_KEY = r"[a-z*][a-z0-9_.*-]*"
_NAME = "a name in lower case, such as 'csp-endpoint'"
# SPEC: Reporting API section 3.3: reports go only to potentially trustworthy URLs.
_URL = re.compile(
    r"(?i:https://[^/\\?#]|http://(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/?#]|\Z)|/(?![/\\]))[!-~]*"
)
_HTTPS = "an https URL, or a path such as '/reports'"


def endpoints_value(check: OptionChecks, endpoints: Any) -> tuple[str, list[str]]:
    """Returns the value of Reporting-Endpoints, and the names of the endpoints.

    Raises:
        TypeError: If a value has the wrong type.
        ValueError: If a name or URL can't be used.
    """
    option = "reporting_endpoints"
    names: list[str] = []
    members = []
    for index, each in enumerate(_listed(check, option, endpoints)):
        where = f"{option}[{index}]"
        _check_keys(check, where, each, ("name", "url"))
        name = check.text(f"{where}['name']", each["name"], _KEY, _NAME)
        if name in names:
            check.unusable(f"{where}['name']", name, "a name that no other endpoint has")
        names.append(name)
        url = _checked_url(check, f"{where}['url']", each["url"])
        members.append(f"{name}={quoted_string(url)}")
    return ", ".join(members), names


def groups_value(check: OptionChecks, groups: Any) -> tuple[str, list[str]]:
    """Returns the value of Report-To, and the names of the groups.

    Raises:
        TypeError: If a value has the wrong type.
        ValueError: If a name, age or URL can't be used.
    """
    option = "report_to"
    names: list[str] = []
    members = []
    for index, each in enumerate(_listed(check, option, groups)):
        where = f"{option}[{index}]"
        _check_keys(check, where, each, ("group", "max_age", "endpoints"), ("include_subdomains",))
        group = check.text(f"{where}['group']", each["group"], r"[!-~]+", "a name in ASCII")
        if group in names:
            check.unusable(f"{where}['group']", group, "a name that no other group has")
        names.append(group)
        check.number(f"{where}['max_age']", each["max_age"], least=0, unit="seconds")
        check.flag(f"{where}['include_subdomains']", each.get("include_subdomains", False))
        _check_endpoints(check, f"{where}['endpoints']", each["endpoints"])
        endpoints = [{**endpoint} for endpoint in each["endpoints"]]
        members.append(json.dumps({**each, "endpoints": endpoints}, separators=(",", ":")))
    return ", ".join(members), names


def _check_endpoints(check: OptionChecks, option: str, endpoints: Any) -> None:
    for index, each in enumerate(_listed(check, option, endpoints)):
        where = f"{option}[{index}]"
        _check_keys(check, where, each, ("url",), ("priority", "weight"))
        _checked_url(check, f"{where}['url']", each["url"])
        for name in ("priority", "weight"):
            check.number(f"{where}[{name!r}]", each.get(name, 1), least=0)


def _listed(check: OptionChecks, option: str, value: Any) -> Sequence[Any]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        check.wrong_type(option, value, "a list of dicts")
    return value


def _check_keys(
    check: OptionChecks,
    where: str,
    value: Any,
    needed: tuple[str, ...],
    others: tuple[str, ...] = (),
) -> None:
    check.keys(where, value, (*needed, *others))
    missing = [key for key in needed if key not in value]
    if missing:
        raise ValueError(f"secure_headers({where}=...) has no {missing[0]!r}")


def _checked_url(check: OptionChecks, where: str, url: Any) -> str:
    text = check.text(where, url)
    if not _URL.fullmatch(text):
        check.unusable(where, url, _HTTPS)
    return text
