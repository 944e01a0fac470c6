# SPDX-License-Identifier: MIT
"""The section `conduit`: requests to the API of examples/conduit, on Kit and on FastAPI.

Each app has its own SQLite and PostgreSQL databases, with the same rows.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import abreast, postgres
from ..abreast import Answered, Case, Figures
from ..rows import Answer, Request, Row, WrongAnswerError, lines, posted

KINDS = SQLITE, POSTGRESQL = "SQLite", "PostgreSQL"
NAMES = {"kit": "on_kit", "fastapi": "on_fastapi"}
USERS = 10
ARTICLES = 100
ARTICLE = 50
"""The article that is read."""
PAGE = 20
TAGS = ("sand", "spice", "water")
BODY = "A paragraph of some words, and then another one. " * 20
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
PASSWORD = "what nobody knows"
SECRET = "0123456789abcdef0123456789abcdef"
LOGINS = "1000000/second"

Ask = Callable[[], Awaitable[Answered]]


def measure(rounds: int, slot_s: float, kinds: Sequence[str] = KINDS) -> Figures:
    """Fills a database of each kind for each app, and times the apps.

    Args:
        rounds: The number of turns of each app in each row.
        slot_s: The approximate length of a turn, in seconds of processor time.
        kinds: The kinds of databases.
    """
    figures = Figures(rounds, {})
    for kind in kinds:
        loop = abreast.event_loop()
        try:
            with databases(kind) as urls:
                found = loop.run_until_complete(_measure(urls, rounds, slot_s))
        except (ImportError, postgres.NoPostgresError) as error:
            figures.left_out.append(f"{kind}: {error}")
        else:
            for row, by_name in found.seconds.items():
                figures.seconds[f"{kind}: {row}"] = by_name
            figures.left_out += [f"{kind}: {line}" for line in found.left_out]
        finally:
            loop.close()
    return figures


@contextmanager
def databases(kind: str) -> Iterator[dict[str, str]]:
    """Creates an empty database for each app, and yields their URLs."""
    with ExitStack() as stack:
        if kind == SQLITE:
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
    """Returns the settings of an app with this database."""
    from argon2 import PasswordHasher
    from conduit import passwords
    from conduit.settings import Settings

    # Cheap, with 1 MiB: secure parameters would take nearly all of the time of `login`.
    passwords.hasher = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)
    environ = {"DATABASE_URL": url, "SECRET": SECRET, "ENV": "production", "LOGIN_LIMIT": LOGINS}
    return Settings.from_environ({f"CONDUIT_{name}": value for name, value in environ.items()})


async def fill(settings: Any) -> None:
    """Creates the tables, and fills them with the queries of the app."""
    from conduit.database import Database
    from conduit.passwords import hash_password
    from conduit.queries import articles, users
    from conduit.schemas import NewArticle
    from conduit.tables import Table

    database = Database(settings)
    async with database.engine.begin() as connection:
        await connection.run_sync(Table.metadata.create_all)
    hashed = await hash_password(PASSWORD)
    async with database.transaction() as session:
        known = []
        for number in range(1, USERS + 1):
            user = await users.add_user(session, *account_of(number), hashed)
            user.bio, user.image = author_of(number)["bio"], author_of(number)["image"]
            known.append(user)
        for number in range(1, ARTICLES + 1):
            new = NewArticle(*texts_of(number), [*TAGS])
            article = await articles.add_article(session, known[number % USERS], new)
            for user in known[: favorites_of(number)]:
                await articles.favorite(session, user, article)
        for user in known[1:]:
            await users.follow(session, known[0], user)
    await database.close()


def account_of(number: int) -> tuple[str, str]:
    """Returns the name and email address of a user."""
    return f"user{number}", f"user{number}@example.com"


def author_of(number: int) -> dict[str, Any]:
    """Returns the profile of a user."""
    name, _ = account_of(number)
    return {"username": name, "bio": "Writes.", "image": f"https://example.com/{name}.png"}


def texts_of(number: int) -> tuple[str, str, str]:
    """Returns the title, description and body of an article."""
    return f"Article {number}", f"What article {number} says", BODY


def favorites_of(number: int) -> int:
    """Returns the favorites count of an article."""
    return number % 4


def cases() -> list[Case]:
    """Returns the rows in the order of the table."""
    return [
        Case(Row("list of 20 articles", lambda _: get(b"/api/articles")), check_list),
        Case(
            Row("one article", lambda _: get(b"/api/articles/article-%d" % ARTICLE)), check_article
        ),
        Case(Row("login", lambda _: post(b"/api/users/login", LOGIN)), check_login),
        Case(Row("new article", new_article, has_new_values=True), check_created),
        Case(Row("401", lambda _: get(b"/api/user", 401)), check_refused),
    ]


LOGIN = {"user": {"email": account_of(1)[1], "password": PASSWORD}}


def get(path: bytes, status: int = 200) -> Request:
    return Request(path, Answer(status), lines=lines())


def post(path: bytes, value: Any, status: int = 200, *own: tuple[bytes, bytes]) -> Request:
    arguments = posted(b"application/json", json.dumps(value).encode())
    arguments["lines"] += own
    return Request(path, Answer(status), **arguments)


def new_article(number: int) -> Request:
    """Returns a request of the first user to publish an article with a new title."""
    article = {
        "title": f"New title {number}",
        "description": "What nobody knew",
        "body": BODY,
        "tagList": list(TAGS),
    }
    own = b"authorization", b"Token " + token()
    return post(b"/api/articles", {"article": article}, 201, own)


@cache
def token() -> bytes:
    """Returns a token of the first user."""
    import jwt

    claims = {"sub": "1", "exp": datetime.now(UTC) + timedelta(days=1)}
    return jwt.encode(claims, SECRET, "HS256").encode()


async def check_list(ask: Ask) -> None:
    found = _parsed(await ask(), 200)
    _check(len(found["articles"]) == PAGE and found["articlesCount"] == ARTICLES, found)
    for position, article in enumerate(found["articles"]):
        check_shown(article, ARTICLES - position)


async def check_article(ask: Ask) -> None:
    article = _parsed(await ask(), 200)["article"]
    _check(article.pop("body") == BODY, article)
    check_shown(article, ARTICLE)


async def check_login(ask: Ask) -> None:
    import jwt

    user = _parsed(await ask(), 200)["user"]
    _check(jwt.decode(user.pop("token"), SECRET, ["HS256"])["sub"] == "1", user)
    _check(user == author_of(1) | {"email": account_of(1)[1]}, user)


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


def check_shown(article: dict[str, Any], number: int) -> None:
    """Checks an article in a response to a request without a token."""
    title, description, _ = texts_of(number)
    for name in ("createdAt", "updatedAt"):
        _check(TIME.fullmatch(article.pop(name)) is not None, article)
    expected = {
        "slug": f"article-{number}",
        "title": title,
        "description": description,
        "tagList": [*TAGS],
        "favorited": False,
        "favoritesCount": favorites_of(number),
        "author": author_of(number % USERS + 1) | {"following": False},
    }
    _check(article == expected, article)


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
