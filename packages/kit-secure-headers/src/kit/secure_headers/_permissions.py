# SPDX-License-Identifier: MIT
"""Permissions-Policy, a dictionary of structured fields (W3C Permissions Policy, section 5.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from kit.authoring.options import OptionChecks

from ._suggestions import suggestion

Feature: TypeAlias = Literal[
    "accelerometer",
    "all_screens_capture",
    "ambient_light_sensor",
    "aria_notify",
    "attribution_reporting",
    "autofill",
    "autoplay",
    "battery",
    "bluetooth",
    "browsing_topics",
    "camera",
    "captured_surface_control",
    "ch_device_memory",
    "ch_downlink",
    "ch_dpr",
    "ch_ect",
    "ch_prefers_color_scheme",
    "ch_prefers_reduced_motion",
    "ch_prefers_reduced_transparency",
    "ch_rtt",
    "ch_save_data",
    "ch_ua",
    "ch_ua_arch",
    "ch_ua_bitness",
    "ch_ua_form_factors",
    "ch_ua_full_version",
    "ch_ua_full_version_list",
    "ch_ua_high_entropy_values",
    "ch_ua_mobile",
    "ch_ua_model",
    "ch_ua_platform",
    "ch_ua_platform_version",
    "ch_ua_wow64",
    "ch_viewport_height",
    "ch_viewport_width",
    "ch_width",
    "clipboard_read",
    "clipboard_write",
    "compute_pressure",
    "conversion_measurement",
    "cross_origin_isolated",
    "deferred_fetch",
    "deferred_fetch_minimal",
    "digital_credentials_create",
    "digital_credentials_get",
    "direct_sockets",
    "display_capture",
    "document_domain",
    "encrypted_media",
    "execution_while_not_rendered",
    "execution_while_out_of_viewport",
    "focus_without_user_activation",
    "fullscreen",
    "gamepad",
    "geolocation",
    "gyroscope",
    "hid",
    "identity_credentials_get",
    "idle_detection",
    "interest_cohort",
    "join_ad_interest_group",
    "keyboard_map",
    "language_detector",
    "language_model",
    "local_fonts",
    "local_network",
    "local_network_access",
    "loopback_network",
    "magnetometer",
    "manual_text",
    "mediasession",
    "microphone",
    "midi",
    "monetization",
    "navigation_override",
    "on_device_speech_recognition",
    "otp_credentials",
    "payment",
    "picture_in_picture",
    "private_aggregation",
    "private_state_token_issuance",
    "private_state_token_redemption",
    "publickey_credentials_create",
    "publickey_credentials_get",
    "rewriter",
    "run_ad_auction",
    "screen_wake_lock",
    "serial",
    "shared_autofill",
    "shared_storage",
    "shared_storage_select_url",
    "smart_card",
    "speaker_selection",
    "storage_access",
    "summarizer",
    "sync_script",
    "sync_xhr",
    "tools",
    "translator",
    "trust_token_redemption",
    "unload",
    "usb",
    "vertical_scroll",
    "web_share",
    "window_management",
    "writer",
    "xr_spatial_tracking",
]
"""A feature of the W3C's registry or of a browser, in snake_case."""

PermissionsPolicy: TypeAlias = Mapping[Feature, bool | Sequence[str]]
"""Who may use a feature: True for everyone, False or `[]` for nobody, or a list of `"self"` and
origins such as `"https://example.com"`; `["*"]` is True, `["none"]` False."""

_FEATURES: tuple[str, ...] = get_args(Feature)
_OPTION = "permissions_policy"
# SPEC: RFC 6454 section 6.1; Permissions Policy section 5.5 also takes `*.` before a host.
_ORIGIN = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://"
    r"(?:(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?"
)
_EXPECTED = "'self' or an origin such as 'https://example.com'"


def permissions_value(check: OptionChecks, policy: Any) -> str:
    """Returns the value of Permissions-Policy, empty without any features.

    Raises:
        TypeError: If the policy or a value has the wrong type.
        ValueError: If a feature is unknown, or a value has no effect.
    """
    if not isinstance(policy, Mapping):
        check.wrong_type(_OPTION, policy, "a mapping of features, e.g. {'camera': False}")
    members = []
    for feature, allowed in policy.items():
        if feature not in _FEATURES:
            hint = suggestion(feature, _FEATURES, "expected one such as 'geolocation'")
            raise ValueError(
                f"secure_headers({_OPTION}=...) has the unknown feature {feature!r:.100}: {hint}"
            )
        members.append(f"{feature.replace('_', '-')}={_allowlist(check, feature, allowed)}")
    # SPEC: RFC 9651 section 3.2: a dictionary.
    return ", ".join(members)


def _allowlist(check: OptionChecks, feature: str, allowed: Any) -> str:
    if isinstance(allowed, bool):
        return "*" if allowed else "()"
    where = f"{_OPTION}[{feature!r}]"
    if isinstance(allowed, str) or not isinstance(allowed, Sequence):
        check.wrong_type(where, allowed, f"a bool, or a list of {_EXPECTED}")
    for word in ("*", "none"):
        if word in allowed:
            if len(allowed) > 1:
                check.unusable(where, allowed, f"{word!r} alone, or a list without it")
            return "*" if word == "*" else "()"
    return f"({' '.join(_member(check, where, each) for each in allowed)})"


def _member(check: OptionChecks, where: str, member: Any) -> str:
    if not isinstance(member, str):
        check.wrong_type(where, member, f"a list of {_EXPECTED}")
    if member == "self":
        return member
    if member == "src":
        # SPEC: HTML, section 4.8.5: a keyword of the attribute `allow`, which the header ignores.
        check.unusable(where, member, f"{_EXPECTED}; 'src' is for the attribute allow of iframes")
    if not _ORIGIN.fullmatch(member):
        check.unusable(where, member, _EXPECTED)
    return f'"{member}"'  # origins need no escaping
