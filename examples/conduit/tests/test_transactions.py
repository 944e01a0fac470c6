# SPDX-License-Identifier: MIT
"""One transaction per request, as a dependency and as middleware."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from conduit import passwords
from conduit.database import Database, Session, Transaction, in_transaction
from conduit.tables import Article, Comment, Favorite, Tag, User
from conduit.testing import PASSWORD, Client
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from kit import Context, HTTPException, Kit, Response
from kit.typed import typed


def add(session: AsyncSession, name: str) -> None:
    user = User(username=name, username_key=name, email=name, password="")
    session.add(user)


async def end(c: Context, session: AsyncSession, way: str) -> Response | None:
    add(session, way)
    await session.flush()
    if way == "fault":
        raise ZeroDivisionError
    if way == "refused":
        raise HTTPException(409)
    if way == "cancelled":
        raise asyncio.CancelledError
    if way == "forgotten":
        return None
    if way == "broken":
        await session.execute(text("PRAGMA defer_foreign_keys = ON"))
        session.add(Favorite(user_id=-1, article_id=-1))
    return c.text(way, 422 if way == "answered" else 200)


def writing_app(database: Database) -> Kit:
    """An app with both forms of the transaction, whose endpoints end in different ways."""

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[Mapping[str, Any]]:
        yield {"database": database}

    app = Kit(lifespan=lifespan)
    app.use("/middleware/*", in_transaction)

    @app.post("/dependency/:way")
    @typed
    async def by_dependency(c: Context, way: str, session: Transaction) -> Response | None:
        return await end(c, session, way)

    @app.post("/middleware/:way")
    @typed
    async def by_middleware(c: Context, way: str, session: Session) -> Response | None:
        return await end(c, session, way)

    @app.post("/middleware/plain/forgotten")
    async def forgetful(c: Context) -> Any:
        await end(c, c.get("db"), "forgotten")

    return app


async def count(database: Database, table: Any) -> int:
    async with database.transaction(writes=False) as session:
        return await session.scalar(select(func.count()).select_from(table)) or 0


@pytest.mark.parametrize("form", ["dependency", "middleware"])
async def test_a_success_is_committed(database: Database, form: str) -> None:
    app = writing_app(database)
    async with app.running():
        assert (await app.request(f"/{form}/fine", method="POST")).status == 200
    assert await count(database, User) == 1


@pytest.mark.parametrize(
    ("form", "way", "status"),
    [
        ("dependency", "refused", 409),
        ("middleware", "refused", 409),
        ("dependency", "fault", 500),
        ("middleware", "fault", 500),
        ("middleware", "answered", 422),
        ("middleware", "plain/forgotten", 500),
        # The commit checks this constraint, when the response can still be replaced.
        ("dependency", "broken", 500),
        ("middleware", "broken", 500),
        ("dependency", "cancelled", 500),  # by its own code: the request isn't cancelled
        ("middleware", "cancelled", 500),
    ],
)
async def test_an_error_rolls_back(database: Database, form: str, way: str, status: int) -> None:
    app = writing_app(database)
    async with app.running():
        assert (await app.request(f"/{form}/{way}", method="POST")).status == status
    assert await count(database, User) == 0


async def test_a_client_that_sends_slowly_blocks_nobody(ann: Client) -> None:
    written = []

    async def body() -> AsyncIterator[bytes]:
        yield b'{"article": {"title": "Slow", '
        written.append(await ann.publish("Quick"))
        yield b'"description": "d", "body": "b"}}'

    headers = {"authorization": f"Token {ann.token}", "content-type": "application/json"}
    response = await ann.app.request("/api/articles", method="POST", headers=headers, body=body())
    assert (response.status, written) == (201, ["quick"])


async def test_a_new_password_is_hashed_without_a_lock(
    ann: Client, bob: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []

    async def hash_slowly(password: str) -> str:
        written.append(await bob.publish("Meanwhile"))
        return await passwords.hash_password(password)

    monkeypatch.setattr("conduit.users.hash_password", hash_slowly)
    answer = await ann.put("/user", {"user": {"password": "another password"}})
    assert (answer.status, written) == (200, ["meanwhile"])


async def test_errors_have_no_secrets(database: Database) -> None:
    async with database.transaction() as session:
        for _ in range(2):
            session.add(User(username="a", username_key="a", email="a@b", password="$argon2"))
        with pytest.raises(IntegrityError) as caught:
            await session.flush()
        await session.rollback()
    assert "$argon2" not in str(caught.value)
    assert "a@b" not in str(caught.value)


async def test_connections_are_given_back(api: Client, ann: Client) -> None:
    for _ in range(30):  # the pool has ten
        assert (await ann.put("/user", {"user": {"username": None}})).status == 422
        assert (await ann.delete("/articles/none")).status == 404
        assert (await api.get("/tags")).status == 200


async def test_of_many_registrations_one_gets_the_name(api: Client, database: Database) -> None:
    async def join(number: int) -> int:
        user = {"username": "ann", "email": f"ann{number}@example.com", "password": PASSWORD}
        return (await api.post("/users", {"user": user})).status

    statuses = Counter(await asyncio.gather(*map(join, range(20))))
    assert statuses == {201: 1, 422: 19}
    assert await count(database, User) == 1


async def test_of_many_articles_one_gets_the_slug(ann: Client, database: Database) -> None:
    slugs = await asyncio.gather(*(ann.publish("Same", tagList=["x"]) for _ in range(20)))
    assert len({*slugs}) == 20
    assert "same" in slugs
    assert (await count(database, Article), await count(database, Tag)) == (20, 20)


async def test_of_many_new_titles_one_gets_the_slug(ann: Client) -> None:
    old = [await ann.publish(f"Number {number}") for number in range(10)]
    changes = {"article": {"title": "Same", "body": "New"}}
    answers = await asyncio.gather(*(ann.put(f"/articles/{slug}", changes) for slug in old))
    assert {answer.status for answer in answers} == {200}
    slugs = [answer.body["article"]["slug"] for answer in answers]
    assert len({*slugs}) == 10
    assert slugs.count("same") == 1
    assert {answer.body["article"]["body"] for answer in answers} == {"New"}


async def test_a_favorite_of_many_requests_counts_once(ann: Client, database: Database) -> None:
    slug = await ann.publish()
    path = f"/articles/{slug}/favorite"
    answers = await asyncio.gather(*(ann.post(path) for _ in range(20)))
    assert {answer.status for answer in answers} == {200}
    assert {answer.body["article"]["favoritesCount"] for answer in answers} == {1}
    assert await count(database, Favorite) == 1


async def test_of_many_deletions_one_finds_the_article(ann: Client, database: Database) -> None:
    slug = await ann.publish()
    await ann.post(f"/articles/{slug}/comments", {"comment": {"body": "x"}})
    requests = (ann.delete(f"/articles/{slug}") for _ in range(20))
    statuses = Counter([answer.status for answer in await asyncio.gather(*requests)])
    assert statuses == {204: 1, 404: 19}
    assert await count(database, Comment) == 0
