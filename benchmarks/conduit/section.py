# SPDX-License-Identifier: MIT
"""The section `conduit`: requests to the API of examples/conduit, on Kit and on FastAPI.

Each app has a database of its own with the same rows, of SQLite in a file, or of PostgreSQL.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import abreast, postgres
from ..abreast import Answered, Case, Figures
from ..rows import Answer, Request, Row, WrongAnswerError, lines, posted

NAMES = {"kit": "on_kit", "fastapi": "on_fastapi"}
USERS = 10
ARTICLES = 500
PAGE = 20
TAGS = ("sand", "spice", "water")
PASSWORD = "what nobody knows"
SECRET = "0123456789abcdef0123456789abcdef"
ARGON2 = {"time_cost": 1, "memory_cost": 1024, "parallelism": 1}
"""Cheap parameters, in KiB: those of argon2's authors would be nearly all of the row `login`."""
LOGINS = "1000000/second"

Ask = Callable[[], Awaitable[Answered]]


def measure(rounds: int, slot_s: float, database: str = "sqlite") -> Figures:
    """Fills a database for each app, and times them.

    Args:
        rounds: How many turns each app has in each row.
        slot_s: About how long a turn is, in seconds of processor time.
        database: `sqlite` or `postgresql`.
    """
    loop = abreast.event_loop()
    try:
        with databases(database) as urls:
            return loop.run_until_complete(_measure(urls, rounds, slot_s))
    except (ImportError, postgres.NoPostgresError) as error:
        return Figures(rounds, {}, [str(error)])
    finally:
        loop.close()


@contextmanager
def databases(kind: str) -> Iterator[dict[str, str]]:
    """The URL of an empty database for each app."""
    with ExitStack() as stack:
        if kind == "sqlite":
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            yield {name: f"sqlite:///{folder / name}.db" for name in NAMES}
        else:
            servers = {name: stack.enter_context(postgres.started()) for name in NAMES}
            yield {name: url.replace("//", "//kit@", 1) for name, url in servers.items()}


async def _measure(urls: dict[str, str], rounds: int, slot_s: float) -> Figures:
    apps: dict[str, Any] = {}
    for name, module in NAMES.items():
        settings = settings_of(urls[name])
        await fill(settings)
        apps[name] = import_module(f"{__package__}.{module}").make(settings)
    return await abreast.measure(apps, cases(), rounds, slot_s)


def settings_of(url: str) -> Any:
    """The settings of an app, whose database this is."""
    from argon2 import PasswordHasher
    from conduit import passwords
    from conduit.settings import Settings

    passwords.hasher = PasswordHasher(**ARGON2)
    environ = {"DATABASE_URL": url, "SECRET": SECRET, "ENV": "production", "LOGIN_LIMIT": LOGINS}
    return Settings.from_environ({f"CONDUIT_{name}": value for name, value in environ.items()})


async def fill(settings: Any) -> None:
    """Makes the tables, and fills them: users, articles by turns, three tags and favorites each."""
    from conduit.database import Database
    from conduit.passwords import hash_password
    from conduit.tables import Article, Favorite, Follow, Table, Tag, User
    from sqlalchemy import insert

    began = datetime(2026, 1, 1, tzinfo=UTC)
    users, articles = range(1, USERS + 1), range(1, ARTICLES + 1)
    hashed = await hash_password(PASSWORD)
    rows: list[tuple[Any, list[dict[str, Any]]]] = [
        (User, [user_of(number) | {"password": hashed} for number in users]),
        (Article, [article_of(number, began) for number in articles]),
        (
            Tag,
            [
                {"article_id": number, "name": name, "position": position}
                for number in articles
                for position, name in enumerate(TAGS)
            ],
        ),
        (
            Favorite,
            [
                {"article_id": number, "user_id": user}
                for number in articles
                for user in users[: number % 4]
            ],
        ),
        (Follow, [{"follower_id": 1, "followed_id": user} for user in users[1:]]),
    ]
    database = Database(settings)
    async with database.engine.begin() as connection:
        await connection.run_sync(Table.metadata.create_all)
        for table, values in rows:
            await connection.execute(insert(table), values)
        if connection.dialect.name == "postgresql":
            for table in ("users", "articles"):
                await connection.exec_driver_sql(
                    f"SELECT setval('{table}_id_seq', (SELECT max(id) FROM {table}))"
                )
    await database.close()


def user_of(number: int) -> dict[str, Any]:
    """The row of a user."""
    name = f"user{number}"
    return {
        "id": number,
        "username": name,
        "username_key": name,
        "email": f"{name}@example.com",
        "bio": "Writes.",
        "image": f"https://example.com/{name}.png",
    }


def article_of(number: int, began: datetime) -> dict[str, Any]:
    """The row of an article."""
    written = began + timedelta(minutes=number)
    return {
        "id": number,
        "author_id": number % USERS + 1,
        "slug": f"article-{number}",
        "title": f"Article {number}",
        "description": f"What article {number} says",
        "body": "A paragraph of some words, and then another one. " * 20,
        "created_at": written,
        "updated_at": written,
    }


def cases() -> list[Case]:
    """The rows, in the order of the table."""
    return [
        Case(Row("list of 20 articles", lambda _: get(b"/api/articles")), check_list),
        Case(Row("one article", lambda _: get(b"/api/articles/article-250")), check_article),
        Case(Row("login", lambda _: post(b"/api/users/login", LOGIN)), check_login),
        Case(Row("new article", new_article, has_new_values=True), check_created),
        Case(Row("401", lambda _: get(b"/api/user")), check_refused),
    ]


LOGIN = {"user": {"email": "user1@example.com", "password": PASSWORD}}


def get(path: bytes) -> Request:
    return Request(path, Answer(), lines=lines())


def post(path: bytes, value: Any, *own: tuple[bytes, bytes]) -> Request:
    arguments = posted(b"application/json", json.dumps(value).encode())
    arguments["lines"] += own
    return Request(path, Answer(), **arguments)


def new_article(number: int) -> Request:
    """An article whose title is new, of the first user."""
    article = {
        "title": f"New title {number}",
        "description": "What nobody knew",
        "body": "A paragraph of some words, and then another one. " * 20,
        "tagList": list(TAGS),
    }
    return post(b"/api/articles", {"article": article}, (b"authorization", b"Token " + token()))


def token() -> bytes:
    """The token of the first user."""
    import jwt

    claims = {"sub": "1", "exp": datetime.now(UTC) + timedelta(days=1)}
    return jwt.encode(claims, SECRET, "HS256").encode()


async def check_list(ask: Ask) -> None:
    found = _parsed(await ask(), 200)
    _check(len(found["articles"]) == PAGE and found["articlesCount"] == ARTICLES, found)
    for number, article in zip(
        range(ARTICLES, ARTICLES - PAGE, -1), found["articles"], strict=True
    ):
        _check(article == shown(number), article)


async def check_article(ask: Ask) -> None:
    article = _parsed(await ask(), 200)["article"]
    body = article_of(250, datetime.now(UTC))["body"]
    _check(article == {**shown(250), "body": body}, article)


async def check_login(ask: Ask) -> None:
    import jwt

    user = _parsed(await ask(), 200)["user"]
    _check(jwt.decode(user.pop("token"), SECRET, ["HS256"])["sub"] == "1", user)
    expected = {key: user_of(1)[key] for key in ("username", "email", "bio", "image")}
    _check(user == expected, user)


async def check_created(ask: Ask) -> None:
    first, second = [_parsed(await ask(), 201)["article"] for _ in range(2)]
    for article in (first, second):
        _check(article["slug"] == article["title"].lower().replace(" ", "-"), article)
        _check(article["tagList"] == [*TAGS], article)
        _check(article["author"]["username"] == "user1", article)
    _check(first["slug"] != second["slug"], second)


async def check_refused(ask: Ask) -> None:
    found = _parsed(await ask(), 401)
    _check(isinstance(found["errors"]["body"][0], str), found)


def shown(number: int) -> dict[str, Any]:
    """An article of a list, as the API has it for someone who isn't logged in."""
    row = article_of(number, datetime(2026, 1, 1, tzinfo=UTC))
    author = user_of(row["author_id"])
    time = row["created_at"].strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return {
        **{key: row[key] for key in ("slug", "title", "description")},
        "tagList": [*TAGS],
        "createdAt": time,
        "updatedAt": time,
        "favorited": False,
        "favoritesCount": number % 4,
        "author": {key: author[key] for key in ("username", "bio", "image")} | {"following": False},
    }


def _parsed(answered: Answered, status: int) -> Any:
    got = answered.headers.get(b"content-type", b"")
    if answered.status != status or not got.startswith(b"application/json"):
        raise WrongAnswerError(
            f"{answered.status} {got!r} {answered.body!r:.300}, expected {status}"
        )
    return json.loads(answered.body)


def _check(is_right: bool, got: Any) -> None:
    if not is_right:
        raise WrongAnswerError(f"{got!r:.500}")
