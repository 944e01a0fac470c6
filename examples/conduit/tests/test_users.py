# SPDX-License-Identifier: MIT
from __future__ import annotations

import time
from typing import Any

import pytest
from argon2 import PasswordHasher
from conduit import passwords
from conduit.database import Database
from conduit.settings import Settings
from conduit.tables import User
from conduit.testing import PASSWORD, Client
from sqlalchemy import delete

from kit.jwt import sign

BAD_USERNAME = (
    "username must consist of letters, digits, '_', '.' and '-', and start with a letter or a digit"
)
NEW = {"username": "Ann", "email": "Ann@Example.com", "password": PASSWORD}


async def test_registration_logs_in(api: Client) -> None:
    answer = await api.post("/users", {"user": NEW})
    assert answer.status == 201
    token = answer.body["user"].pop("token")
    expected = {"username": "Ann", "email": "ann@example.com", "bio": None, "image": None}
    assert answer.body == {"user": expected}
    current = await Client(api.app, token).get("/user")
    assert (current.status, current.body["user"]["username"]) == (200, "Ann")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"username": "aNN", "email": "b@example.com"}, "username has already been taken"),
        ({"username": "ben", "email": "ann@EXAMPLE.com"}, "email has already been taken"),
    ],
)
async def test_names_and_addresses_are_taken_in_any_case(
    api: Client, changed: dict[str, str], message: str
) -> None:
    await api.post("/users", {"user": NEW})
    answer = await api.post("/users", {"user": NEW | changed})
    assert (answer.status, answer.messages) == (422, [message])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"username": ""}, BAD_USERNAME),
        ({"username": ".."}, BAD_USERNAME),
        ({"username": "a/b"}, BAD_USERNAME),
        ({"username": "ann\n"}, BAD_USERNAME),
        ({"username": "a" * 41}, "username: Expected `str` of length <= 40"),
        ({"username": None}, "username: Expected `str`, got `null`"),
        ({"email": "ann"}, "email must be an address such as ann@example.com"),
        # The lower case of this letter is longer.
        ({"email": "İ@example.com"}, "email must be an address such as ann@example.com"),
        ({"email": "a\x00@example.com"}, "email must be an address such as ann@example.com"),
        ({"password": "short"}, "password: Expected `str` of length >= 8"),
        ({"password": "p" * 201}, "password: Expected `str` of length <= 200"),
        ({"password": "eight\x00or more"}, "password must not contain null characters"),
    ],
)
async def test_invalid_registrations(api: Client, changed: dict[str, Any], message: str) -> None:
    answer = await api.post("/users", {"user": NEW | changed})
    assert (answer.status, answer.messages) == (422, [message])


async def test_missing_fields_are_all_named(api: Client) -> None:
    answer = await api.post("/users", {"user": {}})
    fields = ("username", "email", "password")
    assert answer.messages == [f"{field}: Missing required field" for field in fields]


async def test_login(api: Client, ann: Client) -> None:
    credentials = {"email": "ANN@example.com", "password": PASSWORD}
    answer = await api.post("/users/login", {"user": credentials})
    assert (answer.status, answer.body["user"]["username"]) == (200, "ann")


@pytest.mark.parametrize(
    "credentials",
    [
        {"email": "ann@example.com", "password": "another password"},
        {"email": "nobody@example.com", "password": PASSWORD},
        {"email": "", "password": ""},
        {"email": "ann@example.com", "password": f"{PASSWORD}\x00"},
    ],
)
async def test_a_failed_login_reveals_nothing(
    api: Client, ann: Client, credentials: dict[str, str]
) -> None:
    answer = await api.post("/users/login", {"user": credentials})
    assert (answer.status, answer.messages) == (401, ["email or password is wrong"])


async def test_null_characters_are_refused_before_the_database_sees_them(api: Client) -> None:
    credentials = {"email": "ann@example.com\x00", "password": PASSWORD}
    answer = await api.post("/users/login", {"user": credentials})
    assert (answer.status, answer.messages) == (422, ["email must not contain null characters"])


async def test_an_unknown_address_is_hashed_for_too(
    api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = []
    verify = passwords.hasher.verify

    class Hasher:
        def verify(self, hashed: str, password: str) -> bool:
            checked.append(password)
            return verify(hashed, password)

    passwords.nobody()
    monkeypatch.setattr(passwords, "hasher", Hasher())
    user = {"email": "nobody@example.com", "password": PASSWORD}
    assert (await api.post("/users/login", {"user": user})).status == 401
    assert checked == [PASSWORD]


async def test_an_outdated_hash_is_replaced_at_login(
    api: Client, ann: Client, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    stronger = PasswordHasher(2, 8, 1)
    monkeypatch.setattr(passwords, "hasher", stronger)
    login = {"user": {"email": "ann@example.com", "password": PASSWORD}}
    for _ in range(2):
        assert (await api.post("/users/login", login)).status == 200
    async with database.transaction(writes=False) as session:
        found = await session.get(User, 1)
    assert found is not None
    assert "t=2" in found.password


async def test_a_new_hash_of_the_old_password_does_not_undo_a_change(
    api: Client, ann: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hash_password = passwords.hash_password

    async def hash_slowly(password: str) -> str:
        monkeypatch.undo()
        await ann.put("/user", {"user": {"password": "another password"}})
        return await hash_password(password)

    monkeypatch.setattr(passwords, "is_outdated", lambda hashed: True)
    monkeypatch.setattr(passwords, "hash_password", hash_slowly)
    for password, status in ((PASSWORD, 200), ("another password", 200), (PASSWORD, 401)):
        user = {"email": "ann@example.com", "password": password}
        assert (await api.post("/users/login", {"user": user})).status == status


async def test_an_update_changes_what_it_names(ann: Client) -> None:
    image = "https://example.com/ann.png"
    answer = await ann.put("/user", {"user": {"bio": "Writes", "image": image}})
    assert answer.status == 200
    answer = await ann.put("/user", {"user": {"username": "Anna"}})
    user = answer.body["user"]
    assert (user["username"], user["bio"], user["image"]) == ("Anna", "Writes", image)


@pytest.mark.parametrize("nothing", [None, ""])
async def test_bio_and_image_are_removed_by_null(ann: Client, nothing: str | None) -> None:
    await ann.put("/user", {"user": {"bio": "x", "image": "https://example.com/x"}})
    answer = await ann.put("/user", {"user": {"bio": nothing, "image": nothing}})
    assert (answer.body["user"]["bio"], answer.body["user"]["image"]) == (None, None)


@pytest.mark.parametrize("field", ["username", "email", "password"])
async def test_what_everyone_has_is_not_removed_by_null(ann: Client, field: str) -> None:
    answer = await ann.put("/user", {"user": {field: None}})
    assert (answer.status, answer.messages) == (422, [f"{field}: Expected `str`, got `null`"])


async def test_a_new_password_is_that_of_the_next_login(api: Client, ann: Client) -> None:
    await ann.put("/user", {"user": {"password": "another password"}})
    for password, status in ((PASSWORD, 401), ("another password", 200)):
        user = {"email": "ann@example.com", "password": password}
        assert (await api.post("/users/login", {"user": user})).status == status


async def test_an_update_keeps_to_what_is_taken(ann: Client, bob: Client) -> None:
    answer = await ann.put("/user", {"user": {"bio": "x", "email": "bob@example.com"}})
    assert (answer.status, answer.messages) == (422, ["email has already been taken"])
    assert (await ann.get("/user")).body["user"]["bio"] is None


async def test_a_user_can_change_the_case_of_their_name(ann: Client) -> None:
    answer = await ann.put("/user", {"user": {"username": "ANN", "email": "ann@example.com"}})
    assert (answer.status, answer.body["user"]["username"]) == (200, "ANN")


async def test_images_are_addresses(ann: Client) -> None:
    answer = await ann.put("/user", {"user": {"image": "javascript:alert(1)"}})
    assert (answer.status, answer.messages) == (
        422,
        ["image must be an address that begins with http"],
    )


@pytest.mark.parametrize("authorization", ["Token x", "Token", "Bearer x", "Token a.b.c", "x"])
@pytest.mark.parametrize("path", ["/user", "/articles"])
async def test_wrong_tokens_are_refused_also_where_none_is_needed(
    api: Client, authorization: str, path: str
) -> None:
    answer = await api("GET", path, headers={"authorization": authorization})
    assert answer.status == 401
    assert answer.messages
    assert answer.headers["www-authenticate"].startswith('Token realm="conduit"')


async def test_a_token_ends(api: Client, ann: Client, settings: Settings) -> None:
    for seconds, status in ((60, 200), (-60, 401)):
        claims = {"sub": "1", "exp": time.time() + seconds}
        token = sign(claims, settings.secret, "HS256")
        assert (await Client(api.app, token).get("/user")).status == status


async def test_a_token_that_never_ends_is_refused(
    api: Client, ann: Client, settings: Settings
) -> None:
    token = sign({"sub": "1"}, settings.secret, "HS256")
    assert (await Client(api.app, token).get("/user")).status == 401


async def test_the_token_of_a_deleted_user_is_refused(
    api: Client, ann: Client, database: Database
) -> None:
    async with database.transaction() as session:
        await session.execute(delete(User))
    assert (await ann.get("/user")).status == 401
    assert (await ann.get("/articles")).status == 401
    await api.join("ben")  # doesn't get the id of the deleted user
    assert (await ann.get("/user")).status == 401
