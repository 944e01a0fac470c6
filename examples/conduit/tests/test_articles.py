# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from conduit.application import create_app
from conduit.database import Database
from conduit.settings import Settings
from conduit.tables import Article, now
from conduit.testing import Client
from sqlalchemy import event, update

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def slugs(answer: Any) -> list[str]:
    return [each["slug"] for each in answer.body["articles"]]


async def test_an_article_is_read_as_it_was_published(api: Client, ann: Client) -> None:
    new = {
        "title": "How to train your dragon",
        "description": "Ever wonder how?",
        "body": "Very carefully.",
        "tagList": ["training", "dragons", "training"],
    }
    answer = await ann.post("/articles", {"article": new})
    assert answer.status == 201
    article = answer.body["article"]
    assert (await api.get("/articles/how-to-train-your-dragon")).body == {"article": article}
    assert TIMESTAMP.fullmatch(article.pop("createdAt"))
    assert TIMESTAMP.fullmatch(article.pop("updatedAt"))
    assert article == {
        **new,
        "slug": "how-to-train-your-dragon",
        "tagList": ["dragons", "training"],
        "favorited": False,
        "favoritesCount": 0,
        "author": {"username": "ann", "bio": None, "image": None, "following": False},
    }


async def test_whole_seconds_are_written_with_milliseconds(ann: Client, database: Database) -> None:
    slug = await ann.publish()
    async with database.transaction() as session:
        moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        await session.execute(update(Article).values(created_at=moment))
    article = (await ann.get(f"/articles/{slug}")).body["article"]
    assert article["createdAt"] == "2026-01-02T03:04:05.000Z"


async def test_a_slug_that_is_taken_gets_a_suffix(ann: Client) -> None:
    assert await ann.publish("The same") == "the-same"
    assert re.fullmatch("the-same-[0-9a-f]{8}", await ann.publish("The same"))
    # Its URL would be that of the feed.
    assert re.fullmatch("feed-[0-9a-f]{8}", await ann.publish("Feed"))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"title": ""}, "title can't be empty"),
        ({"title": " \n"}, "title can't be empty"),
        ({"title": None}, "title: Expected `str`, got `null`"),
        ({"title": "x" * 256}, "title: Expected `str` of length <= 255"),
        ({"body": "a\x00b"}, "body must not contain null characters"),
        ({"body": "x" * 100_001}, "body: Expected `str` of length <= 100000"),
        ({"description": ""}, "description can't be empty"),
        ({"tagList": ["a"] * 21}, "tagList: Expected `array` of length <= 20"),
        ({"tagList": ["a" * 51]}, "tagList[0]: Expected `str` of length <= 50"),
        ({"tagList": [""]}, "tagList can't be empty"),
        ({"tagList": None}, "tagList: Expected `array`, got `null`"),
    ],
)
async def test_invalid_articles(ann: Client, changed: dict[str, Any], message: str) -> None:
    article = {"title": "Title", "description": "About", "body": "Text", **changed}
    answer = await ann.post("/articles", {"article": article})
    assert (answer.status, answer.messages) == (422, [message])
    assert (await ann.get("/articles")).body["articlesCount"] == 0


async def test_lists_have_the_newest_first_and_no_bodies(api: Client, ann: Client) -> None:
    published = [await ann.publish(f"Number {number}") for number in range(3)]
    answer = await api.get("/articles")
    assert slugs(answer) == published[::-1]
    assert "body" not in answer.body["articles"][0]
    assert answer.body["articlesCount"] == 3


async def test_articles_of_one_moment_keep_their_order(
    api: Client, ann: Client, database: Database
) -> None:
    published = [await ann.publish(f"Number {number}") for number in range(4)]
    async with database.transaction() as session:
        await session.execute(update(Article).values(created_at=now()))
    for offset, expected in enumerate(reversed(published)):
        assert slugs(await api.get(f"/articles?limit=1&offset={offset}")) == [expected]


async def test_filters(api: Client, ann: Client, bob: Client) -> None:
    first = await ann.publish("First", tagList=["x", "y"])
    second = await bob.publish("Second", tagList=["y"])
    await bob.post(f"/articles/{first}/favorite")
    for query, expected in (
        ("tag=y", [second, first]),
        ("tag=x", [first]),
        ("tag=z", []),
        ("author=Ann", [first]),
        ("author=nobody", []),
        ("favorited=bob", [first]),
        ("favorited=ann", []),
        ("author=bob&tag=y", [second]),
        ("author=bob&favorited=bob", []),
    ):
        answer = await api.get(f"/articles?{query}")
        assert (query, slugs(answer)) == (query, expected)
        assert answer.body["articlesCount"] == len(expected)


async def test_the_count_is_that_of_all_pages(api: Client, ann: Client) -> None:
    for number in range(3):
        await ann.publish(f"Number {number}", tagList=["x"])
    answer = await api.get("/articles?tag=x&limit=1&offset=2")
    assert (len(slugs(answer)), answer.body["articlesCount"]) == (1, 3)
    answer = await api.get("/articles?offset=2147483647")
    assert answer.body == {"articles": [], "articlesCount": 3}


@pytest.mark.parametrize(
    ("query", "messages"),
    [
        ("limit=0", ["limit: Expected `int` >= 1"]),
        ("limit=101", ["limit: Expected `int` <= 100"]),
        ("offset=-1", ["offset: Expected `int` >= 0"]),
        ("offset=9223372036854775808", ["offset: Expected `int` <= 2147483647"]),
        ("limit=x&offset=", ["limit: Expected `int`", "offset: Expected `int`"]),
        ("tag=%00", [r"tag: Expected `str` matching regex '^[^\\x00]*$'"]),
        (f"author={'a' * 41}", ["author: Expected `str` of length <= 40"]),
    ],
)
async def test_invalid_queries(api: Client, query: str, messages: list[str]) -> None:
    answer = await api.get(f"/articles?{query}")
    assert (answer.status, answer.messages) == (422, messages)


async def test_the_feed_is_of_those_one_follows(api: Client, ann: Client, bob: Client) -> None:
    cleo = await api.join("cleo")
    of_ann, of_bob = await ann.publish("Of Ann"), await bob.publish("Of Bob")
    assert (await cleo.get("/articles/feed")).body == {"articles": [], "articlesCount": 0}
    await cleo.post("/profiles/ann/follow")
    answer = await cleo.get("/articles/feed")
    assert (slugs(answer), answer.body["articlesCount"]) == ([of_ann], 1)
    assert answer.body["articles"][0]["author"]["following"] is True
    await cleo.post("/profiles/bob/follow")
    assert slugs(await cleo.get("/articles/feed?limit=1")) == [of_bob]
    assert (await api.get("/articles/feed")).status == 401


async def test_favorites_are_counted(api: Client, ann: Client, bob: Client) -> None:
    slug = await ann.publish()
    for client, count in ((ann, 1), (ann, 1), (bob, 2)):
        article = (await client.post(f"/articles/{slug}/favorite")).body["article"]
        assert (article["favorited"], article["favoritesCount"]) == (True, count)
    for client, favorited in ((api, False), (ann, True)):
        article = (await client.get("/articles")).body["articles"][0]
        assert (article["favorited"], article["favoritesCount"]) == (favorited, 2)
    for _ in range(2):
        article = (await ann.delete(f"/articles/{slug}/favorite")).body["article"]
        assert (article["favorited"], article["favoritesCount"]) == (False, 1)


async def test_an_update_changes_what_it_names(ann: Client) -> None:
    slug = await ann.publish("Title", body="Old", tagList=["x"])
    before = (await ann.get(f"/articles/{slug}")).body["article"]
    answer = await ann.put(f"/articles/{slug}", {"article": {"body": "New"}})
    article = answer.body["article"]
    assert article.pop("updatedAt") >= before.pop("updatedAt")
    assert article == before | {"body": "New"}


async def test_a_new_title_makes_a_new_slug(ann: Client) -> None:
    slug, other = await ann.publish("Title"), await ann.publish("Other")
    for title, expected in (
        ("New title", "new-title"),
        ("New title!", "new-title"),
        ("Other", f"{other}-[0-9a-f]{{8}}"),
    ):
        changes = {"title": title, "description": f"About {title}"}
        answer = await ann.put(f"/articles/{slug}", {"article": changes})
        assert answer.status == 200
        article = answer.body["article"]
        assert (article["title"], article["description"]) == (title, f"About {title}")
        assert re.fullmatch(expected, article["slug"])
        slug = article["slug"]
    assert (await ann.get("/articles/title")).status == 404


async def test_a_new_title_with_the_same_slug_keeps_it(ann: Client) -> None:
    await ann.publish("Title")
    slug = await ann.publish("Title")  # has a suffix
    answer = await ann.put(f"/articles/{slug}", {"article": {"title": "TITLE!"}})
    article = answer.body["article"]
    assert (article["title"], article["slug"]) == ("TITLE!", slug)


async def test_null_is_no_change(ann: Client) -> None:
    slug = await ann.publish()
    for field in ("title", "description", "body"):
        answer = await ann.put(f"/articles/{slug}", {"article": {field: None}})
        assert (answer.status, answer.messages) == (422, [f"{field}: Expected `str`, got `null`"])


async def test_only_the_author_changes_an_article(api: Client, ann: Client, bob: Client) -> None:
    slug = await ann.publish()
    for client, status in ((api, 401), (bob, 403), (ann, 200)):
        answer = await client.put(f"/articles/{slug}", {"article": {"body": "New"}})
        assert answer.status == status
    for client, status in ((api, 401), (bob, 403), (ann, 204), (ann, 404)):
        assert (await client.delete(f"/articles/{slug}")).status == status


async def test_paths_that_name_no_article(ann: Client) -> None:
    for slug in ("none", "%00", "x" * 300, "%ff", "a%2Fb"):
        assert (await ann.get(f"/articles/{slug}")).status == 404
        assert (await ann.put(f"/articles/{slug}", {"article": {}})).status == 404
        assert (await ann.delete(f"/articles/{slug}")).status == 404
        assert (await ann.post(f"/articles/{slug}/favorite")).status == 404
        assert (await ann.delete(f"/articles/{slug}/favorite")).status == 404


async def test_tags_are_those_of_articles(api: Client, ann: Client) -> None:
    slug = await ann.publish("First", tagList=["rare", "common"])
    await ann.publish("Second", tagList=["common"])
    assert (await api.get("/tags")).body == {"tags": ["common", "rare"]}
    await ann.delete(f"/articles/{slug}")
    assert (await api.get("/tags")).body == {"tags": ["common"]}


async def test_a_list_takes_as_many_statements_for_many_as_for_one(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []

    class Watched(Database):
        def __init__(self, settings: Settings) -> None:
            super().__init__(settings)
            event.listen(
                self.engine.sync_engine,
                "before_cursor_execute",
                lambda *arguments: statements.append(arguments[2]),
            )

    monkeypatch.setattr("conduit.application.Database", Watched)
    app = create_app(settings)
    async with app.running():
        ann = await Client(app).join("ann")
        counts = []
        for number in range(5):
            await ann.publish(f"Number {number}", tagList=["x", "y"])
            statements.clear()
            await ann.get("/articles")
            counts.append(len(statements))
    assert counts == [5] * 5  # BEGIN, the user, the page, its tags, the count
