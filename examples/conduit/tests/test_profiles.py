# SPDX-License-Identifier: MIT
from __future__ import annotations

from conduit.testing import Client


async def test_a_profile_shows_whether_the_reader_follows(api: Client, ann: Client) -> None:
    expected = {"username": "ann", "bio": None, "image": None, "following": False}
    assert (await api.get("/profiles/ann")).body == {"profile": expected}
    ben = await api.join("ben")
    assert (await ben.get("/profiles/ANN")).body == {"profile": expected}
    for _ in range(2):  # the second time changes nothing
        answer = await ben.post("/profiles/ann/follow")
        assert (answer.status, answer.body["profile"]["following"]) == (200, True)
    assert (await ben.get("/profiles/ann")).body["profile"]["following"] is True
    assert (await ann.get("/profiles/ben")).body["profile"]["following"] is False
    for _ in range(2):
        answer = await ben.delete("/profiles/ann/follow")
        assert (answer.status, answer.body["profile"]["following"]) == (200, False)
    assert (await ben.get("/profiles/ann")).body["profile"]["following"] is False


async def test_nobody_follows_themselves(ann: Client) -> None:
    answer = await ann.post("/profiles/Ann/follow")
    assert (answer.status, answer.messages) == (422, ["you can't follow yourself"])


async def test_unknown_users(ann: Client) -> None:
    for name in ("ben", "%00", "a" * 100, "%F0%9F%90%8D"):
        assert (await ann.get(f"/profiles/{name}")).status == 404
        assert (await ann.post(f"/profiles/{name}/follow")).status == 404
        assert (await ann.delete(f"/profiles/{name}/follow")).status == 404


async def test_following_requires_a_token(api: Client, ann: Client) -> None:
    assert (await api.post("/profiles/ann/follow")).status == 401
    assert (await api.delete("/profiles/ann/follow")).status == 401
