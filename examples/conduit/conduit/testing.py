# SPDX-License-Identifier: MIT
"""A client for tests, which sends requests to the app without a server."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import msgspec

from conduit.schemas import ErrorResponse
from kit import Kit

PASSWORD = "a-long-password"  # noqa: S105


@dataclass
class Answer:
    status: int
    body: Any
    headers: dict[str, str]

    @property
    def messages(self) -> list[str]:
        """The messages of an error response."""
        return msgspec.convert(self.body, ErrorResponse).errors.body


@dataclass
class Client:
    """Sends requests to the API, with a token if it has one."""

    app: Kit
    token: str = ""
    username: str = ""

    async def __call__(
        self, method: str, path: str, json: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        sent = {"authorization": f"Token {self.token}"} if self.token else {}
        body = None if json is None else {"json": json}
        response = await self.app.request(
            f"/api{path}", method=method, headers={**sent, **(headers or {})}, **(body or {})
        )
        has_json = response.headers.get("content-type") == "application/json"
        answered = await response.json() if has_json else await response.text()
        return Answer(response.status, answered, dict(response.headers))

    async def get(self, path: str) -> Answer:
        return await self("GET", path)

    async def post(self, path: str, json: Any = None) -> Answer:
        return await self("POST", path, json)

    async def put(self, path: str, json: Any) -> Answer:
        return await self("PUT", path, json)

    async def delete(self, path: str) -> Answer:
        return await self("DELETE", path)

    async def join(self, username: str) -> Client:
        """Registers a user, and returns a client that is logged in."""
        email = f"{username}@example.com"
        user = {"username": username, "email": email, "password": PASSWORD}
        answer = await self.post("/users", {"user": user})
        return replace(self, token=answer.body["user"]["token"], username=username)

    async def publish(self, title: str = "A title", **fields: Any) -> str:
        """Publishes an article, and returns its slug."""
        article = {"title": title, "description": "About", "body": "Text", **fields}
        answer = await self.post("/articles", {"article": article})
        slug: str = answer.body["article"]["slug"]
        return slug
