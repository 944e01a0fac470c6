# SPDX-License-Identifier: MIT
"""Concurrent clients of examples/conduit, each with its own connection."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import httpx
from conduit_served import PASSWORD, Conduit

TIMEOUT_S = 60.0


class Account(NamedTuple):
    """A user with a token."""

    name: str
    email: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers that authenticate requests."""
        return {"authorization": f"Token {self.token}"}


class Ask(NamedTuple):
    """A request."""

    method: str
    path: str
    account: Account | None = None
    json: Any = None


def at_once(conduit: Conduit, asks: list[Ask]) -> list[httpx.Response]:
    """Sends all requests concurrently, over connections that are already open."""
    return asyncio.run(_at_once(conduit.url, asks))


async def _at_once(url: str, asks: list[Ask]) -> list[httpx.Response]:
    # The server closes a connection that is idle for five seconds; on a busy machine that could be
    # just when a request is sent on it.
    limits = httpx.Limits(
        max_connections=len(asks), max_keepalive_connections=len(asks), keepalive_expiry=2.0
    )
    async with httpx.AsyncClient(timeout=TIMEOUT_S, limits=limits) as client:
        opened = url.removesuffix("/api") + "/livez"
        await asyncio.gather(*(client.get(opened) for _ in asks))
        return await asyncio.gather(*(_send(client, url, each) for each in asks))


async def _send(client: httpx.AsyncClient, url: str, asked: Ask) -> httpx.Response:
    headers = asked.account.headers if asked.account else {}
    return await client.request(asked.method, url + asked.path, headers=headers, json=asked.json)


def ask(conduit: Conduit, asked: Ask) -> httpx.Response:
    """Sends one request."""
    return at_once(conduit, [asked])[0]


def registration(name: str, email: str) -> Ask:
    """Returns the request that registers a user."""
    user = {"username": name, "email": email, "password": PASSWORD}
    return Ask("POST", "/users", json={"user": user})


def article(account: Account, title: str, tags: list[str] | None = None) -> Ask:
    """Returns the request that publishes an article."""
    text = {"title": title, "description": "Short", "body": "Long", "tagList": tags or []}
    return Ask("POST", "/articles", account, {"article": text})


def register(conduit: Conduit, names: list[str]) -> list[Account]:
    """Registers users concurrently."""
    responses = at_once(conduit, [registration(name, f"{name}@example.com") for name in names])
    assert {response.status_code for response in responses} == {201}, responses[0].text
    users = [response.json()["user"] for response in responses]
    return [Account(user["username"], user["email"], user["token"]) for user in users]


def publish(conduit: Conduit, account: Account, title: str, tags: list[str] | None = None) -> str:
    """Publishes an article, and returns its slug."""
    response = ask(conduit, article(account, title, tags))
    assert response.status_code == 201, response.text
    return str(response.json()["article"]["slug"])
