# SPDX-License-Identifier: MIT
"""Fifty concurrent clients of examples/conduit that want the same thing."""

from __future__ import annotations

from collections import Counter

import conduit_served
import httpx
import pytest
from conduit_clients import Account, Ask, article, ask, at_once, publish, register, registration

pytestmark = [pytest.mark.once, pytest.mark.slow]

CLIENTS = 50


@pytest.fixture(scope="session")
def users(conduit: conduit_served.Conduit) -> list[Account]:
    """Users for the clients, registered concurrently."""
    return register(conduit, [f"user{number}of{conduit.workers}" for number in range(CLIENTS)])


def statuses(responses: list[httpx.Response]) -> dict[int, int]:
    """Counts the statuses of responses."""
    return dict(Counter(response.status_code for response in responses))


def test_one_gets_the_name(conduit: conduit_served.Conduit) -> None:
    name = f"wanted{conduit.workers}"
    asks = [registration(name, f"{name}-{number}@example.com") for number in range(CLIENTS)]
    responses = at_once(conduit, asks)
    assert statuses(responses) == {201: 1, 422: CLIENTS - 1}
    refused = next(response for response in responses if response.status_code == 422)
    assert "username" in refused.json()["errors"]["body"][0]
    assert conduit.count(f"users WHERE username = '{name}'") == 1


def test_one_gets_the_email_address(conduit: conduit_served.Conduit) -> None:
    email = f"wanted{conduit.workers}@example.com"
    asks = [registration(f"w{number}of{conduit.workers}", email) for number in range(CLIENTS)]
    responses = at_once(conduit, asks)
    assert statuses(responses) == {201: 1, 422: CLIENTS - 1}
    refused = next(response for response in responses if response.status_code == 422)
    assert "email" in refused.json()["errors"]["body"][0]
    assert conduit.count(f"users WHERE email = '{email}'") == 1


def test_one_changes_their_name_to_a_free_one_and_none_to_a_taken_one(
    conduit: conduit_served.Conduit, users: list[Account]
) -> None:
    name = f"free{conduit.workers}"
    others = register(conduit, [f"renamed{number}of{conduit.workers}" for number in range(10)])
    for expected in ({200: 1, 422: 9}, {200: 1, 422: 9}):
        # In the second round, the owner of the name keeps it.
        asks = [Ask("PUT", "/user", other, {"user": {"username": name}}) for other in others]
        assert statuses(at_once(conduit, asks)) == expected
        assert conduit.count(f"users WHERE username = '{name}'") == 1
    asks = [Ask("PUT", "/user", user, {"user": {"username": name}}) for user in users]
    assert statuses(at_once(conduit, asks)) == {422: CLIENTS}


def test_all_favorites_count(conduit: conduit_served.Conduit, users: list[Account]) -> None:
    slug = publish(conduit, users[0], "Liked by all")
    for method, count in (("POST", CLIENTS), ("DELETE", 0)):
        asks = [Ask(method, f"/articles/{slug}/favorite", user) for user in users]
        responses = at_once(conduit, asks)
        assert statuses(responses) == {200: CLIENTS}
        favorited = {response.json()["article"]["favorited"] for response in responses}
        assert favorited == {method == "POST"}
        found = ask(conduit, Ask("GET", f"/articles/{slug}")).json()["article"]
        assert found["favoritesCount"] == count
        assert conduit.count(f"favorites JOIN articles ON article_id = id AND slug = '{slug}'") == (
            count
        )


def test_a_favorite_counts_once(conduit: conduit_served.Conduit, users: list[Account]) -> None:
    slug = publish(conduit, users[0], "Liked by one")
    for method, count in (("POST", 1), ("DELETE", 0)):
        asks = [Ask(method, f"/articles/{slug}/favorite", users[1])] * CLIENTS
        responses = at_once(conduit, asks)
        assert statuses(responses) == {200: CLIENTS}
        counted = {response.json()["article"]["favoritesCount"] for response in responses}
        assert counted == {count}
        assert conduit.count(f"favorites JOIN articles ON article_id = id AND slug = '{slug}'") == (
            count
        )


def test_all_follow_one_and_one_follows_once(
    conduit: conduit_served.Conduit, users: list[Account]
) -> None:
    star, fan = register(conduit, [f"{name}{conduit.workers}" for name in ("star", "fan")])
    followers = f"follows JOIN users ON followed_id = id AND username = '{star.name}'"
    path = f"/profiles/{star.name}/follow"
    for method, count in (("POST", CLIENTS), ("DELETE", 0)):
        responses = at_once(conduit, [Ask(method, path, user) for user in users])
        assert statuses(responses) == {200: CLIENTS}
        assert conduit.count(followers) == count
    for method, count in (("POST", 1), ("DELETE", 0)):
        responses = at_once(conduit, [Ask(method, path, fan)] * CLIENTS)
        assert statuses(responses) == {200: CLIENTS}
        following = {response.json()["profile"]["following"] for response in responses}
        assert following == {bool(count)}
        assert conduit.count(followers) == count


def test_articles_of_one_title_have_slugs_of_their_own(
    conduit: conduit_served.Conduit, users: list[Account]
) -> None:
    title = f"The same {conduit.workers}"
    responses = at_once(conduit, [article(user, title, ["b", "a"]) for user in users])
    assert statuses(responses) == {201: CLIENTS}
    assert len({response.json()["article"]["slug"] for response in responses}) == CLIENTS
    assert conduit.count(f"articles WHERE title = '{title}'") == CLIENTS
    tags = f"tags JOIN articles ON article_id = id AND title = '{title}'"
    assert conduit.count(tags) == 2 * CLIENTS


def test_articles_that_take_one_title_have_slugs_of_their_own(
    conduit: conduit_served.Conduit, users: list[Account]
) -> None:
    title = f"Taken by all {conduit.workers}"
    drafts = at_once(conduit, [article(user, f"Draft of {user.name}") for user in users])
    text = {"article": {"title": title, "description": "Changed"}}
    asks = [
        Ask("PUT", f"/articles/{draft.json()['article']['slug']}", user, text)
        for draft, user in zip(drafts, users, strict=True)
    ]
    responses = at_once(conduit, asks)
    assert statuses(responses) == {200: CLIENTS}
    assert len({response.json()["article"]["slug"] for response in responses}) == CLIENTS
    written = f"articles WHERE title = '{title}' AND description = 'Changed'"
    assert conduit.count(written) == CLIENTS


def test_an_article_is_deleted_once(conduit: conduit_served.Conduit, users: list[Account]) -> None:
    slug = publish(conduit, users[0], "Soon gone", ["gone"])
    responses = at_once(conduit, [Ask("DELETE", f"/articles/{slug}", users[0])] * CLIENTS)
    assert statuses(responses) == {204: 1, 404: CLIENTS - 1}
    assert conduit.count(f"articles WHERE slug = '{slug}'") == 0


def test_nothing_is_left_of_an_article_that_goes_while_all_use_it(
    conduit: conduit_served.Conduit, users: list[Account]
) -> None:
    slug = publish(conduit, users[0], f"Busy {conduit.workers}", ["busy"])
    path = f"/articles/{slug}"
    text = {"article": {"description": "Changed"}}
    asks = [
        each
        for number, user in enumerate(users[1:41])
        for each in (
            Ask("POST", f"{path}/comments", user, {"comment": {"body": "Hello"}}),
            Ask("POST", f"{path}/favorite", user),
            Ask("PUT", path, users[0], text) if number % 2 else Ask("GET", path, user),
        )
    ]
    asks.insert(60, Ask("DELETE", path, users[0]))
    responses = at_once(conduit, asks)
    assert {*statuses(responses)} <= {200, 201, 204, 404}
    assert statuses(responses)[204] == 1
    assert ask(conduit, Ask("GET", path)).status_code == 404
    for table in ("comments", "favorites", "tags"):
        assert conduit.count(f"{table} WHERE article_id NOT IN (SELECT id FROM articles)") == 0


def test_logins_are_limited_and_those_within_the_limit_succeed() -> None:
    with (
        conduit_served.database("sqlite") as database,
        conduit_served.Conduit(
            database, has_cheap_passwords=True, CONDUIT_LOGIN_LIMIT="10/hour"
        ) as conduit,
    ):
        (user,) = register(conduit, ["stormed"])
        login = {"user": {"email": user.email, "password": conduit_served.PASSWORD}}
        responses = at_once(conduit, [Ask("POST", "/users/login", None, login)] * CLIENTS)
    assert statuses(responses) == {200: 10, 429: CLIENTS - 10}
    refused = [response for response in responses if response.status_code == 429]
    assert all(int(response.headers["retry-after"]) > 0 for response in refused)
