# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_type

import httpx

from kit.interface import AsyncMiddleware, Context, Response
from kit.oidc import (
    AccessToken,
    Login,
    LoginError,
    Logins,
    User,
    access_token,
    is_navigation,
    logins,
    oidc,
    require_scopes,
)
from kit.oidc.providers import github, google
from kit.oidc.testing import TestProvider


@dataclass
class Account:
    number: int


async def find_account(user: User, c: Context[Any, Any]) -> Account | None:
    return Account(7) if user.email_verified else None


def show(error: LoginError, c: Context[Any, Any]) -> Response:
    return c.text(error.message, error.status)


login = oidc(issuer="https://id.example", client_id="a", client_secret="b", on_error=show)
assert_type(login, Login[User])
assert_type(login.required, AsyncMiddleware)
assert_type(login.require(max_age=300), AsyncMiddleware)
assert_type(oidc(issuer="https://a.example", client_id="a", load=find_account), Login[Account])
assert_type(logins(login, login), Logins[User])
assert_type(google(client_id="a", client_secret="b"), Login[Any])
assert_type(github(client_id="a", client_secret="b"), Login[Any])
assert_type(access_token(issuer="https://a.example", audience="a"), AsyncMiddleware)
assert_type(require_scopes("a"), AsyncMiddleware)


async def handle(c: Context[Any, Any], token: AccessToken) -> None:
    assert_type(await login.user(c), User)
    assert_type(await login.find(c), User | None)
    assert_type(await login.get_access_token(c), str)
    assert_type(await login.start(c, return_to="/a", prompt="none"), Response)
    assert_type(await login.log_out(c), Response)
    assert_type(is_navigation(c), bool)
    assert_type(token.scopes, frozenset[str])


def test() -> None:
    with TestProvider(login) as provider:
        assert_type(provider, TestProvider)
        assert_type(provider.authorize("https://id.example/authorize"), str)
        assert_type(provider.transport, httpx.AsyncBaseTransport)
        assert_type(provider.logout_token(sub="ann"), str)
