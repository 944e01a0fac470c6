# SPDX-License-Identifier: MIT
from __future__ import annotations

from conduit.testing import Client


async def test_comments_are_listed_in_order(api: Client, ann: Client, bob: Client) -> None:
    slug = await ann.publish()
    for client, body in ((bob, "First"), (ann, "Second")):
        answer = await client.post(f"/articles/{slug}/comments", {"comment": {"body": body}})
        assert (answer.status, answer.body["comment"]["body"]) == (200, body)
        assert answer.body["comment"]["author"]["username"] == client.username
    await ann.post("/profiles/bob/follow")
    for client, following in ((api, False), (ann, True)):
        comments = (await client.get(f"/articles/{slug}/comments")).body["comments"]
        assert [each["body"] for each in comments] == ["First", "Second"]
        assert comments[0]["author"]["following"] is following
        assert comments[0].keys() == {"id", "createdAt", "updatedAt", "body", "author"}


async def test_only_the_author_deletes_a_comment(ann: Client, bob: Client) -> None:
    slug, other = await ann.publish(), await ann.publish("Another one")
    answer = await bob.post(f"/articles/{slug}/comments", {"comment": {"body": "x"}})
    path = f"/articles/{slug}/comments/{answer.body['comment']['id']}"
    assert (await ann.delete(path)).status == 403
    assert (await bob.delete(path.replace(slug, other))).status == 404
    assert (await bob.delete(path)).status == 204
    assert (await bob.delete(path)).status == 404
    assert (await ann.get(f"/articles/{slug}/comments")).body == {"comments": []}


async def test_comments_go_with_their_article(ann: Client) -> None:
    slug = await ann.publish()
    await ann.post(f"/articles/{slug}/comments", {"comment": {"body": "x"}})
    assert (await ann.delete(f"/articles/{slug}")).status == 204
    assert (await ann.get(f"/articles/{slug}/comments")).status == 404


async def test_invalid_comments(ann: Client) -> None:
    slug = await ann.publish()
    for body, message in (
        (" ", "body can't be empty"),
        ("\x00", "body must not contain null characters"),
        ("x" * 10_001, "body: Expected `str` of length <= 10000"),
    ):
        answer = await ann.post(f"/articles/{slug}/comments", {"comment": {"body": body}})
        assert (answer.status, answer.messages) == (422, [message])


async def test_paths_that_name_no_comment(ann: Client) -> None:
    slug = await ann.publish()
    for number in ("0", "1", "-1", "x", "2147483648", "9223372036854775808", "1.0"):
        assert (await ann.delete(f"/articles/{slug}/comments/{number}")).status == 404
    assert (await ann.get("/articles/none/comments")).status == 404
    answer = await ann.post("/articles/none/comments", {"comment": {"body": "x"}})
    assert answer.status == 404
