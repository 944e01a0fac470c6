# SPDX-License-Identifier: MIT
"""The errors of logins, with texts that are safe to show."""

from __future__ import annotations

__all__ = ("LoginError", "ProviderError")

# SPEC: RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6. Texts of the provider are
# never shown: anyone can put them into the address.
_MESSAGES = {
    "access_denied": "The login was cancelled, or you may not use this app",
    "account_selection_required": "Choose an account at the provider, and log in again",
    "consent_required": "The provider needs your consent: log in again",
    "expired_attempt": "The login took too long: log in again",
    "insufficient_acr": "The provider did not authenticate you as this app requires",
    "interaction_required": "The provider has to ask you something: log in again",
    "invalid_request": "The response of the provider is invalid: log in again",
    "login_required": "You are not logged in at the provider",
    "provider_error": "The provider reported an error: try again later",
    "provider_unavailable": "The provider can't be reached: try again later",
    "invalid_token": "The provider sent data that can't be trusted: log in again",
    "server_error": "The provider has a problem: try again later",
    "temporarily_unavailable": "The provider is busy: try again later",
    "unknown_attempt": (
        "This login was not started in this browser, or is complete already: log in again"
    ),
    "wrong_issuer": "The response comes from another provider: log in again",
}
_STATUSES = {
    "access_denied": 403,
    "insufficient_acr": 403,
    "provider_error": 502,
    "provider_unavailable": 503,
    "invalid_token": 502,
    "server_error": 502,
    "temporarily_unavailable": 503,
}
SILENT_FAILURES = frozenset(
    {"account_selection_required", "consent_required", "interaction_required", "login_required"}
)
"""What a provider answers to `prompt=none` if it would have to ask the user."""


class LoginError(Exception):
    """A login failed.

    Its text is for logs. Show `message`, which has nothing that a client or a provider sent.

    Args:
        code: The reason, as in the table of the README: an error of the provider that is known,
            such as `access_denied`, or one of this package, such as `unknown_attempt`.
        detail: What was wrong, for logs.

    Attributes:
        code: The reason; `provider_error` for one that is not known.
        message: A text that can be shown to the user.
        status: The status of the response.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.code = code if code in _MESSAGES else "provider_error"
        self.message = _MESSAGES[self.code]
        self.status = _STATUSES.get(self.code, 400)
        self._detail = detail

    def __str__(self) -> str:
        return f"{self.code}: {self._detail}"


class ProviderError(LoginError):
    """The provider can't be reached, or its answer can't be used."""

    def __init__(self, detail: str, code: str = "provider_unavailable") -> None:
        super().__init__(code, detail)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._detail, self.code)
