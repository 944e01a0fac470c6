# SPDX-License-Identifier: MIT
"""The middleware, which decides which headers are sent, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kit.authoring.maybe_await import is_awaitable
from kit.authoring.options import OptionChecks
from kit.interface import AsyncMiddleware, Context, Next
from kit.interface.metadata import attach

from ._csp import VARIABLE, ContentSecurityPolicy, Policy, compile_policy
from ._headers import single_headers
from ._permissions import PermissionsPolicy, permissions_value
from ._reporting import ReportingEndpoint, ReportTo, endpoints_value, groups_value

_POWERED_BY = "X-Powered-By"


def secure_headers(
    *,
    content_security_policy: ContentSecurityPolicy | None = None,
    content_security_policy_report_only: ContentSecurityPolicy | None = None,
    cross_origin_embedder_policy: bool | str = False,
    cross_origin_resource_policy: bool | str = True,
    cross_origin_opener_policy: bool | str = True,
    origin_agent_cluster: bool | str = True,
    referrer_policy: bool | str = True,
    strict_transport_security: bool | str = True,
    x_content_type_options: bool | str = True,
    x_dns_prefetch_control: bool | str = True,
    x_download_options: bool | str = True,
    x_frame_options: bool | str = True,
    x_permitted_cross_domain_policies: bool | str = True,
    x_xss_protection: bool | str = True,
    permissions_policy: PermissionsPolicy | None = None,
    reporting_endpoints: Sequence[ReportingEndpoint] | None = None,
    report_to: Sequence[ReportTo] | None = None,
    remove_powered_by: bool = True,
    overwrite: bool = True,
) -> AsyncMiddleware:
    """Returns middleware that sets security headers.

    Every response gets them, including errors and 404. For a single header, True sends the value
    given here, a str sends another value, and False or `""` leaves the header out.

    Values that browsers would ignore are rejected when the middleware is created. The return value
    of a function in a policy is checked for each response; if it can't be sent, the request fails.

    Args:
        content_security_policy: What a page may load and run, see `ContentSecurityPolicy`.
        content_security_policy_report_only: A policy whose violations are only reported.
        cross_origin_embedder_policy: `require-corp`.
        cross_origin_resource_policy: `same-origin`.
        cross_origin_opener_policy: `same-origin`.
        origin_agent_cluster: `?1`.
        referrer_policy: `no-referrer`.
        strict_transport_security: `max-age=15552000; includeSubDomains`: 180 days, in seconds (RFC
            6797).
        x_content_type_options: `nosniff`.
        x_dns_prefetch_control: `off`.
        x_download_options: `noopen`.
        x_frame_options: `SAMEORIGIN`; browsers prefer `frame_ancestors` if the policy has it.
        x_permitted_cross_domain_policies: `none`.
        x_xss_protection: `0`, which turns off an exploitable filter of old browsers.
        permissions_policy: Which features a page and its frames may use, see `PermissionsPolicy`.
        reporting_endpoints: Where browsers send reports, see `ReportingEndpoint`. If there are any,
            `report_to` of a policy must name one of them.
        report_to: The same for browsers that support only the older header, see `ReportTo`.
        remove_powered_by: Remove `X-Powered-By`.
        overwrite: Replace headers that a handler set; False keeps them.

    Returns:
        The middleware, for `app.use(...)`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value can't be sent, or would have no effect.

    Example:
        app.use(secure_headers())
    """
    check = OptionChecks("secure_headers")
    check.flag("remove_powered_by", remove_powered_by)
    check.flag("overwrite", overwrite)
    headers = single_headers(
        check,
        {
            "cross_origin_embedder_policy": cross_origin_embedder_policy,
            "cross_origin_resource_policy": cross_origin_resource_policy,
            "cross_origin_opener_policy": cross_origin_opener_policy,
            "origin_agent_cluster": origin_agent_cluster,
            "referrer_policy": referrer_policy,
            "strict_transport_security": strict_transport_security,
            "x_content_type_options": x_content_type_options,
            "x_dns_prefetch_control": x_dns_prefetch_control,
            "x_download_options": x_download_options,
            "x_frame_options": x_frame_options,
            "x_permitted_cross_domain_policies": x_permitted_cross_domain_policies,
            "x_xss_protection": x_xss_protection,
        },
    )
    others: list[tuple[str, str]] = []
    report_names: list[str] = []
    if permissions_policy is not None:
        others.append(("Permissions-Policy", permissions_value(check, permissions_policy)))
    if reporting_endpoints is not None:
        value, report_names = endpoints_value(check, reporting_endpoints)
        others.append(("Reporting-Endpoints", value))
    if report_to is not None:
        value, groups = groups_value(check, report_to)
        others.append(("Report-To", value))
        report_names = [*report_names, *groups]
    # SPEC: RFC 9651 section 3: a list or dictionary without members is not sent.
    headers += [(name, value) for name, value in others if value]
    policies: list[tuple[str, Policy]] = []
    for option, name, policy in (
        ("content_security_policy", "Content-Security-Policy", content_security_policy),
        (
            "content_security_policy_report_only",
            "Content-Security-Policy-Report-Only",
            content_security_policy_report_only,
        ),
    ):
        if policy is not None:
            compiled = compile_policy(check, option, policy, report_names)
            if isinstance(compiled, Policy):
                policies.append((name, compiled))
            else:
                headers.append((name, compiled))
    middleware = _setting(dict(headers), policies, remove_powered_by, overwrite)
    if any(policy.uses_nonce for _, policy in policies):
        attach(middleware, provides={VARIABLE: str})
    return middleware


def _setting(
    fixed: dict[str, str],
    policies: list[tuple[str, Policy]],
    remove_powered_by: bool,
    overwrite: bool,
) -> AsyncMiddleware:
    async def secure_headers(c: Context[Any, Any], next: Next) -> None:
        headers = fixed
        if policies:
            # Before the handlers, which may use the nonce in the page.
            headers = {**fixed}
            for name, policy in policies:
                value: Any = policy.write(c)
                headers[name] = await value if is_awaitable(value) else value
        await next()
        if remove_powered_by:
            c.header(_POWERED_BY, None)
        c.set_headers(headers, overwrite=overwrite)

    return secure_headers
