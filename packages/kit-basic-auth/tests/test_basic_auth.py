# SPDX-License-Identifier: MIT
"""Who is let in, and what the others are answered."""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import sys
from collections.abc import Callable
from typing import Any
from unicodedata import combining, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, HTTPException, Kit, Response
from kit.basic_auth import basic_auth

CHALLENGE = 'Basic realm="Secure Area", charset="UTF-8"'
REFUSED = (401, CHALLENGE, "Unauthorized")
INSIDE = (200, None, "inside")
USERS = ({"username": "bob", "password": "b0b"}, {"username": "eve", "password": "e:v:e"})
# What names and passwords consist of: anything but control characters (RFC 7617 section 2).
texts = st.text(st.characters(exclude_categories=["Cc", "Cs"]))


def encoded(username: str, password: str, encoding: str = "utf-8") -> str:
    return "Basic " + base64.b64encode(f"{username}:{password}".encode(encoding)).decode()


def app_with(*users: Any, **options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use("/*", basic_auth(*users, **options))
    app.all("/*", lambda c: c.text("inside"))
    return app


async def answer(
    app: Kit[Any, Any], authorization: str | None = None
) -> tuple[int, str | None, str]:
    """Status, challenge and body."""
    headers = {} if authorization is None else {"Authorization": authorization}
    response = await app.request("/x", {"headers": headers})
    return response.status, response.headers.get("www-authenticate"), await response.text()


# --- RFC 7617 -------------------------------------------------------------------------------------


def test_rfc_7617_section_2_example(run: Callable[..., Any]) -> None:
    app = app_with(username="Aladdin", password="open sesame", realm="WallyWorld")
    challenge = 'Basic realm="WallyWorld", charset="UTF-8"'
    assert run(answer, app) == (401, challenge, "Unauthorized")
    assert run(answer, app, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==") == INSIDE


def test_rfc_7617_section_2_1_example(run: Callable[..., Any]) -> None:
    app = app_with(username="test", password="123£", realm="foo")
    assert run(answer, app) == (401, 'Basic realm="foo", charset="UTF-8"', "Unauthorized")
    assert run(answer, app, "Basic dGVzdDoxMjPCow==") == INSIDE


def test_rfc_7617_section_2_the_first_colon_ends_the_name(run: Callable[..., Any]) -> None:
    app = app_with(username="ann", password="pass:with:colons")
    assert run(answer, app, encoded("ann", "pass:with:colons")) == INSIDE
    assert run(answer, app, encoded("ann:pass", "with:colons")) == INSIDE  # the same header
    assert run(answer, app, encoded("ann", "pass")) == REFUSED


def test_rfc_7617_section_2_no_control_characters(run: Callable[..., Any]) -> None:
    app = app_with(verify_user=lambda username, password, c: True)
    for control in [*map(chr, range(32)), "\x7f"]:
        assert run(answer, app, encoded("a", f"x{control}")) == REFUSED
        assert run(answer, app, encoded(f"a{control}", "x")) == REFUSED
        assert run(answer, app, encoded("a", f"é{control}")) == REFUSED


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("sent", ["NFC", "NFD"])
def test_rfc_7617_section_2_1_names_and_passwords_are_compared_in_nfc(
    run: Callable[..., Any], form: Any, sent: Any
) -> None:
    app = app_with(username=normalize(form, "café"), password=normalize(form, "pä"))
    authorization = encoded(normalize(sent, "café"), normalize(sent, "pä"))
    assert run(answer, app, authorization) == INSIDE


MARKS = "\u0301\u0327"  # in an order that normalizing has to change


def test_long_sequences_of_combining_marks_are_refused(run: Callable[..., Any]) -> None:
    """Normalizing one as long as a header kept the server busy for a second."""
    app = app_with(username="ada", password="pw" + MARKS * 15)
    assert run(answer, app, encoded("ada", "pw" + MARKS * 15)) == INSIDE
    assert run(answer, app, encoded("ada", "pw" + "\u0327" * 15 + "\u0301" * 15)) == INSIDE
    anybody = app_with(verify_user=lambda username, password, c: True)
    assert run(answer, anybody, encoded("ada", "pw" + MARKS * 15 + "x" + MARKS * 15)) == INSIDE
    for many in (MARKS * 16, MARKS * 10_000, "\u0f73" * 31, "\u0f75\u0f81" * 16):
        assert run(answer, anybody, encoded("ada", "pw" + many)) == REFUSED
        assert run(answer, anybody, encoded(many, "pw")) == REFUSED


def test_which_starters_decompose_into_marks() -> None:
    """Another one would let the sequences that are normalized grow."""
    assert {
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if not combining(character) and combining(normalize("NFD", character)[0])
    } == set("\u0f73\u0f75\u0f81")


# --- the header -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "Basic YWRhOnB3",
        "basic YWRhOnB3",
        "BASIC   YWRhOnB3",
        "Basic 77u/YWRhOnB3",
    ],
)
async def test_spelling_of_the_scheme_and_a_byte_order_mark(value: str) -> None:
    app = app_with(username="ada", password="pw")
    assert await answer(app, value) == INSIDE


async def test_padding_may_be_left_out() -> None:
    app = app_with(username="ada", password="pwd")
    assert await answer(app, "Basic YWRhOnB3ZA==") == INSIDE
    assert await answer(app, "Basic YWRhOnB3ZA") == INSIDE
    assert await answer(app, "Basic YWRhOnB3ZA=") == REFUSED
    assert await answer(app, "Basic YWRhOnB3ZA===") == REFUSED


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "Basic",
        "Basic ",
        "Basic Y",
        "Basic YQ==",  # no colon
        "Basic !!!!",
        "Basic YWRhOnB3 x",
        "Basic YWRhOnB3, Basic YWRhOnB3",
        "Basic\tYWRhOnB3",
        "BasicYWRhOnB3",
        "Basic YWRh=OnB3",
        "Basic _-_-",
        "Bearer YWRhOnB3",
        "Basic " + base64.b64encode(b"ada:\xff").decode(),
    ],
)
async def test_malformed_credentials_are_refused_and_never_shown_to_verify_user(
    value: str | None,
) -> None:
    def verify(username: str, password: str, c: Context) -> bool:
        raise AssertionError("called")

    assert await answer(app_with(username="ada", password="pw"), value) == REFUSED
    assert await answer(app_with(verify_user=verify), value) == REFUSED


async def test_latin_1_is_not_utf_8() -> None:
    app = app_with(username="café", password="x")
    assert await answer(app, encoded("café", "x")) == INSIDE
    assert await answer(app, encoded("café", "x", "latin-1")) == REFUSED


@given(value=st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0")))
async def test_any_header_value_gets_an_answer(value: str) -> None:
    assert await answer(app_with(username="ada", password="pw"), value) == REFUSED
    assert await answer(app_with(username="ada", password="pw"), f"Basic {value}") == REFUSED


# --- users ----------------------------------------------------------------------------------------


def test_any_of_several_users(run: Callable[..., Any]) -> None:
    app = app_with(*USERS, username="ada", password="pw")
    for username, password in (("ada", "pw"), ("bob", "b0b"), ("eve", "e:v:e")):
        assert run(answer, app, encoded(username, password)) == INSIDE
    for username, password in (("ada", "b0b"), ("bob", "pw"), ("", ""), ("ada", ""), ("Ada", "pw")):
        assert run(answer, app, encoded(username, password)) == REFUSED


def test_name_and_password_may_be_positional(run: Callable[..., Any]) -> None:
    for app in (
        app_with("ada", "s3cret", *USERS),
        app_with("ada", *USERS, password="s3cret"),
    ):
        assert run(answer, app, encoded("ada", "s3cret")) == INSIDE
        assert run(answer, app, encoded("bob", "b0b")) == INSIDE
        assert run(answer, app, encoded("ada", "b0b")) == REFUSED


def test_users_alone(run: Callable[..., Any]) -> None:
    assert run(answer, app_with(*USERS), encoded("eve", "e:v:e")) == INSIDE


def test_two_passwords_of_one_user(run: Callable[..., Any]) -> None:
    app = app_with({"username": "ada", "password": "old"}, {"username": "ada", "password": "new"})
    assert run(answer, app, encoded("ada", "old")) == INSIDE
    assert run(answer, app, encoded("ada", "new")) == INSIDE


async def test_changing_the_users_later_has_no_effect() -> None:
    user = {"username": "ada", "password": "pw"}
    app = app_with(user)
    user["password"] = "other"
    assert await answer(app, encoded("ada", "pw")) == INSIDE
    assert await answer(app, encoded("ada", "other")) == REFUSED


@given(name=texts, password=texts, other=texts)
async def test_every_name_and_password_works(name: str, password: str, other: str) -> None:
    name = name.replace(":", "")
    if not password:
        return
    app = app_with(username=name, password=password)
    authorization = encoded(name, password)
    # A name that begins with a byte order mark loses it, as text does everywhere on the Web.
    if not name.startswith("\ufeff"):
        assert await answer(app, authorization) == INSIDE
    if normalize("NFC", other) != normalize("NFC", password):
        assert await answer(app, encoded(name, other)) == REFUSED


# --- timing ---------------------------------------------------------------------------------------


def test_cve_2021_33880_every_user_is_compared(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names and passwords are compared at once, by what takes the same time for all of them."""
    compared: list[bool] = []
    compare = hmac.compare_digest

    def compare_digest(a: bytes, b: bytes) -> bool:
        compared.append(compare(a, b))
        assert len(a) == len(b) == 32
        return compared[-1]

    monkeypatch.setattr(hmac, "compare_digest", compare_digest)
    app = app_with(*USERS, username="ada", password="pw")
    for credentials, expected in (
        (("ada", "pw"), [True, False, False]),
        (("eve", "e:v:e"), [False, False, True]),
        (("ada", "wrong"), [False, False, False]),
        (("nobody", "pw"), [False, False, False]),
        (("", ""), [False, False, False]),
    ):
        compared.clear()
        run(answer, app, encoded(*credentials))
        assert compared == expected


def test_cve_2021_33880_every_user_is_compared_by_a_hash_function(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[bool] = []
    hashed: list[str] = []
    compare = hmac.compare_digest

    def compare_digest(a: bytes, b: bytes) -> bool:
        compared.append(compare(a, b))
        return compared[-1]

    def hash_function(text: str) -> str:
        hashed.append(text)
        return hashlib.sha256(text.encode()).hexdigest()

    monkeypatch.setattr(hmac, "compare_digest", compare_digest)
    app = app_with(*USERS, username="ada", password="pw", hash_function=hash_function)
    hashed.clear()  # of the sample
    run(answer, app, encoded("ada", "pw"))
    assert len(hashed) == 8  # those of the users once, and what was presented
    for credentials in (("ada", "pw"), ("eve", "e:v:e"), ("ada", "wrong"), ("nobody", "")):
        compared.clear()
        hashed.clear()
        run(answer, app, encoded(*credentials))
        assert len(compared) == 12
        assert hashed == [*credentials]


# --- hash_function --------------------------------------------------------------------------------


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def sha256_async(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


@pytest.mark.parametrize("function", [sha256, sha256_async, lambda text: str(len(text))])
def test_hash_function_plain_async_and_weak(run: Callable[..., Any], function: Any) -> None:
    app = app_with(*USERS, hash_function=function)
    assert run(answer, app, encoded("bob", "b0b")) == INSIDE
    assert run(answer, app, encoded("eve", "e:v:e")) == INSIDE
    # Of the same lengths, which a weak hash function can't tell apart.
    assert run(answer, app, encoded("bob", "eve")) == REFUSED
    assert run(answer, app, encoded("eve", "b0b")) == REFUSED


def test_no_hash_matches_nothing(run: Callable[..., Any]) -> None:
    app = app_with(*USERS, hash_function=lambda text: None)
    assert run(answer, app, encoded("bob", "b0b")) == REFUSED


def test_a_hash_function_of_another_type_is_an_error() -> None:
    with pytest.raises(TypeError) as caught:
        app_with(*USERS, hash_function=len)
    assert str(caught.value) == (
        "basic_auth(hash_function=...) returned int: expected str, bytes or None"
    )


async def test_a_hash_function_may_return_something_else_later() -> None:
    results = iter(["sample", 7])
    app = app_with(*USERS, hash_function=lambda text: next(results))
    app.on_error(lambda error, c: c.text(f"{type(error).__name__}: {error}", 500))
    assert (await answer(app, encoded("bob", "b0b")))[2] == (
        "TypeError: basic_auth(hash_function=...) returned int: expected str, bytes or None"
    )


# --- verify_user ----------------------------------------------------------------------------------


def test_verify_user_plain_and_async(run: Callable[..., Any]) -> None:
    seen: list[tuple[str, str, str]] = []

    def verify(username: str, password: str, c: Context) -> bool:
        seen.append((username, password, c.req.path))
        return (username, password) == ("ann", "a:b")

    async def verify_async(username: str, password: str, c: Context) -> bool:
        return verify(username, password, c)

    for function in (verify, verify_async):
        app = app_with(verify_user=function)
        assert run(answer, app, encoded("ann", "a:b")) == INSIDE
        assert run(answer, app, encoded("ann", "")) == REFUSED
    assert seen == [("ann", "a:b", "/x"), ("ann", "", "/x")] * 2


@pytest.mark.parametrize("result", [False, None, "", 0])
async def test_what_is_false_is_refused(result: Any) -> None:
    assert await answer(app_with(verify_user=lambda u, p, c: result), encoded("a", "b")) == REFUSED


async def yields(username: str, password: str, c: Context) -> Any:
    yield False


@pytest.mark.parametrize(
    ("verify", "kind"),
    [
        (lambda *arguments: yields(*arguments), "async_generator"),
        (lambda u, p, c: (each for each in ()), "generator"),
        (lambda u, p, c: HTTPException(401), "HTTPException"),
        (lambda u, p, c: Response("no", status=401), "Response"),
    ],
)
async def test_what_is_no_answer_lets_nobody_in(verify: Any, kind: str) -> None:
    app = app_with(verify_user=verify)
    app.on_error(lambda error, c: c.text(str(error), 500))
    assert await answer(app, encoded("a", "b")) == (
        500,
        None,
        f"basic_auth(verify_user=...) returned {kind}: expected True or False; "
        "await coroutines, raise exceptions, and write return, not yield",
    )


async def test_verify_user_may_take_an_empty_password() -> None:
    app = app_with(verify_user=lambda u, p, c: u == "only")
    assert await answer(app, encoded("only", "")) == INSIDE
    assert await answer(app, encoded("ada", "pw")) == REFUSED


@pytest.mark.parametrize(
    ("users", "options", "name"),
    [
        (USERS, {}, "users"),
        ((), {"username": "ada", "password": "pw"}, "users"),
        ((), {"hash_function": lambda text: text}, "hash_function=..."),
    ],
)
def test_what_has_no_effect_beside_verify_user(users: Any, options: Any, name: str) -> None:
    with pytest.raises(ValueError, match="has no effect") as caught:
        app_with(*users, **options, verify_user=lambda u, p, c: True)
    assert str(caught.value).startswith(f"basic_auth({name}) has no effect beside")


# --- on_auth_success ------------------------------------------------------------------------------


def test_on_auth_success_plain_and_async(run: Callable[..., Any]) -> None:
    def note(c: Context, username: str) -> None:
        c.set("user", username)

    async def note_async(c: Context, username: str) -> None:
        note(c, username)

    for function in (note, note_async):
        app: Kit[Any, Any] = Kit()
        app.use(basic_auth(*USERS, on_auth_success=function))
        app.get("/x", lambda c: c.text(c.get("user")))
        assert run(answer, app, encoded("eve", "e:v:e")) == (200, None, "eve")


async def test_on_auth_success_is_not_called_for_others() -> None:
    called: list[str] = []
    app = app_with(*USERS, on_auth_success=lambda c, username: called.append(username))
    await answer(app)
    await answer(app, encoded("bob", "wrong"))
    assert called == []
    await answer(app, encoded("bob", "b0b"))
    assert called == ["bob"]


async def test_what_on_auth_success_raises_ends_the_request() -> None:
    def refuse(c: Context, username: str) -> None:
        raise HTTPException(403, f"{username} is locked")

    app = app_with(*USERS, on_auth_success=refuse)
    assert await answer(app, encoded("bob", "b0b")) == (403, None, "bob is locked")


# --- the answer -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("realm", "quoted"),
    [
        ("", '"Secure Area"'),
        ("Staff", '"Staff"'),
        ('say "hi"', r'"say \"hi\""'),
        ("back\\slash", r'"back\\slash"'),
        ("é", '"é"'),
    ],
)
async def test_realm(realm: str, quoted: str) -> None:
    app = app_with(*USERS, realm=realm)
    assert (await answer(app))[1] == f'Basic realm={quoted}, charset="UTF-8"'


async def awaited(c: Context) -> dict[str, str]:
    return {"path": c.req.path}


@pytest.mark.parametrize(
    ("message", "body", "content_type"),
    [
        (None, "Unauthorized", "text/plain; charset=UTF-8"),
        ("", "Unauthorized", "text/plain; charset=UTF-8"),
        ("Go away", "Go away", "text/plain; charset=UTF-8"),
        ({"error": "who", "code": 7}, '{"error":"who","code":7}', "application/json"),
        ({}, "{}", "application/json"),
        ([], "[]", "application/json"),
        (lambda c: f"No {c.req.path}", "No /x", "text/plain; charset=UTF-8"),
        (lambda c: "", "", "text/plain; charset=UTF-8"),
        (awaited, '{"path":"/x"}', "application/json"),
    ],
)
def test_invalid_user_message(
    run: Callable[..., Any], message: Any, body: str, content_type: str
) -> None:
    app = app_with(*USERS, invalid_user_message=message)
    for authorization in (None, encoded("bob", "wrong")):
        assert run(answer, app, authorization) == (401, CHALLENGE, body)
    response = run(app.request, "/x")
    assert response.headers["content-type"] == content_type


async def test_on_error_sees_the_exception_and_its_response() -> None:
    seen: list[Exception] = []

    def on_error(error: Exception, c: Context) -> Any:
        seen.append(error)
        assert isinstance(error, HTTPException)
        return error.res

    app = app_with(*USERS)
    app.on_error(on_error)
    assert await answer(app) == REFUSED
    assert [str(error) for error in seen] == ["401 Unauthorized"]


async def test_headers_and_cookies_set_before_are_kept_once() -> None:
    async def before(c: Context, next: Any) -> None:
        c.header("Set-Cookie", "a=1", append=True)
        c.header("X-Before", "1")
        await next()

    app: Kit[Any, Any] = Kit()
    app.use(before)
    app.use(basic_auth(*USERS))
    for _ in range(2):
        response = await app.request("/x")
        assert response.headers.get_set_cookie() == ["a=1"]
        assert response.headers.get_all("x-before") == ["1"]
        assert response.headers.get_all("www-authenticate") == [CHALLENGE]


async def test_nothing_secret_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    app = app_with(username="ada", password="swordfish")
    await answer(app, encoded("ada", "swordfish"))
    await answer(app, encoded("ada", "wr0ng"))
    assert "swordfish" not in caplog.text
    assert "wr0ng" not in caplog.text
    assert "swordfish" not in repr(basic_auth(username="ada", password="swordfish"))


async def test_the_message_may_be_a_response() -> None:
    def message(c: Context) -> Response:
        return c.json({"error": "who?"})

    app = app_with(*USERS, invalid_user_message=message)
    response = await app.request("/x")
    assert (response.status, await response.json()) == (401, {"error": "who?"})
    assert response.headers["www-authenticate"].startswith("Basic realm=")
    with pytest.raises(TypeError, match="which may return a response, not"):
        app_with(*USERS, invalid_user_message=Response("no"))
