# SPDX-License-Identifier: MIT
"""Which requests are let through, and what the others are answered."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import re
import string
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, HTTPException, Kit, Response
from kit.authoring.vary import get_vary
from kit.bearer_auth import FailureOptions, bearer_auth

TOKEN = "a.b_c~d+e/f-9=="
B64TOKEN_CHARACTERS = string.ascii_letters + string.digits + "-._~+/"
b64tokens = st.builds(
    lambda text, pad: text + "=" * pad,
    st.text(B64TOKEN_CHARACTERS, min_size=1),
    st.integers(0, 3),
)


def app_with(**options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use("/*", bearer_auth(**options))
    app.all("/*", lambda c: c.text("inside"))
    return app


async def answer(
    app: Kit[Any, Any], headers: Any = (), method: str = "GET"
) -> tuple[int, str | None, str]:
    """Status, challenge and body."""
    response = await app.request("/x", {"headers": headers, "method": method})
    return response.status, response.headers.get("www-authenticate"), await response.text()


def authorization(value: str) -> dict[str, str]:
    return {"Authorization": value}


ABSENT = (401, 'Bearer realm=""', "Unauthorized")
MALFORMED = (400, 'Bearer error="invalid_request"', "Bad Request")
REFUSED = (401, 'Bearer error="invalid_token"', "Unauthorized")
INSIDE = (200, None, "inside")


# --- the header ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(f"Bearer {TOKEN}", INSIDE, id="right"),
        pytest.param(f"bearer {TOKEN}", INSIDE, id="scheme in lower case"),
        pytest.param(f"BEARER {TOKEN}", INSIDE, id="scheme in upper case"),
        pytest.param(f"Bearer   {TOKEN}", INSIDE, id="several blanks"),
        pytest.param(f"Bearer \t {TOKEN}", INSIDE, id="blank, then tab"),
        pytest.param(f"  Bearer {TOKEN} ", INSIDE, id="blanks around the value"),
        pytest.param("", ABSENT, id="empty"),
        pytest.param("  ", ABSENT, id="blank"),
        pytest.param("Bearer", MALFORMED, id="scheme alone"),
        pytest.param("Bearer ", MALFORMED, id="scheme and blank"),
        pytest.param(TOKEN, MALFORMED, id="token alone"),
        pytest.param(f"Bearer{TOKEN}", MALFORMED, id="no blank"),
        pytest.param(f"Bearer\t{TOKEN}", MALFORMED, id="tab instead of a blank"),
        pytest.param(f"Bearer\xa0{TOKEN}", MALFORMED, id="no-break space"),
        pytest.param(f"Basic {TOKEN}", MALFORMED, id="other scheme"),
        pytest.param(f"XBearer {TOKEN}", MALFORMED, id="something before the scheme"),
        pytest.param(f"Bearer {TOKEN} x", MALFORMED, id="something after the token"),
        pytest.param(f"Bearer {TOKEN},", MALFORMED, id="comma"),
        pytest.param(f"Bearer {TOKEN}, Bearer {TOKEN}", MALFORMED, id="two in one line"),
        pytest.param("Bearer tök", MALFORMED, id="latin-1"),
        pytest.param("Bearer =", MALFORMED, id="padding alone"),
        pytest.param("Bearer a=b", MALFORMED, id="padding within"),
        pytest.param('Bearer "a"', MALFORMED, id="quoted"),
        pytest.param("Bearer wrong", REFUSED, id="other token"),
        pytest.param(f"Bearer {TOKEN[:-1]}", REFUSED, id="one character short"),
        pytest.param(f"Bearer {TOKEN}=", REFUSED, id="one character more"),
        pytest.param(f"Bearer {TOKEN.upper()}", REFUSED, id="token in another case"),
    ],
)
async def test_header(value: str, expected: tuple[int, str | None, str]) -> None:
    assert await answer(app_with(token=TOKEN), authorization(value)) == expected


async def test_no_header() -> None:
    assert await answer(app_with(token=TOKEN)) == ABSENT


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PURGE"])
async def test_every_method(method: str) -> None:
    app = app_with(token=TOKEN)
    assert await answer(app, method=method) == ABSENT
    assert await answer(app, authorization(f"Bearer {TOKEN}"), method) == INSIDE


@pytest.mark.parametrize("prefix", ["Bearer", ""])
@pytest.mark.parametrize("other", ["right", "wrong", "empty"])
@pytest.mark.parametrize("right_first", [True, False])
async def test_header_that_comes_twice(prefix: str, other: str, right_first: bool) -> None:
    right = f"{prefix} {TOKEN}".strip()
    lines = [right, {"right": right, "wrong": "Bearer wrong", "empty": ""}[other]]
    headers = [("Authorization", line) for line in (lines if right_first else reversed(lines))]
    status, challenge, body = await answer(app_with(token=TOKEN, prefix=prefix), headers)
    assert (status, body) == (400, "Bad Request")
    assert challenge == 'Bearer error="invalid_request"'


async def test_failures_are_text() -> None:
    response = await app_with(token=TOKEN).request("/x")
    assert response.headers["content-type"] == "text/plain; charset=UTF-8"


async def test_other_paths_are_free() -> None:
    app = Kit()
    app.use("/admin/*", bearer_auth(token=TOKEN))
    app.get("/open", lambda c: c.text("open"))
    app.get("/admin/x", lambda c: c.text("admin"))
    assert (await app.request("/open")).status == 200
    assert (await app.request("/admin/x")).status == 401
    assert (await app.request("/admin/unknown")).status == 401


async def test_the_handler_does_not_run_on_failure() -> None:
    ran: list[str] = []

    def handler(c: Context) -> Response:
        ran.append(c.req.path)
        return c.text("")

    app = Kit()
    app.use(bearer_auth(token=TOKEN))
    app.get("/x", handler)
    for value in ("", "Basic x", "Bearer wrong"):
        await answer(app, authorization(value))
    assert ran == []
    await answer(app, authorization(f"Bearer {TOKEN}"))
    assert ran == ["/x"]


# --- token --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [list, tuple, set, iter], ids=lambda make: make.__name__)
async def test_any_of_several_tokens(make: Callable[[list[str]], Any]) -> None:
    app = app_with(token=make(["one", "two", "three"]))
    for token in ("one", "two", "three"):
        assert await answer(app, authorization(f"Bearer {token}")) == INSIDE
    assert await answer(app, authorization("Bearer four")) == REFUSED


async def test_empty_list_refuses_every_token() -> None:
    assert await answer(app_with(token=[]), authorization("Bearer x")) == REFUSED


async def test_changing_the_list_later_has_no_effect() -> None:
    tokens = ["one"]
    app = app_with(token=tokens)
    tokens.append("two")
    assert await answer(app, authorization("Bearer two")) == REFUSED


async def test_every_token_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what takes the same time for all of them."""
    compared: list[bool] = []
    compare = hmac.compare_digest

    def compare_digest(a: bytes, b: bytes) -> bool:
        compared.append(compare(a, b))
        assert len(a) == len(b) == 32
        return compared[-1]

    monkeypatch.setattr(hmac, "compare_digest", compare_digest)
    app = Kit().use("/*", bearer_auth(token=["one", "two", "three"]))
    app.all("/*", lambda c: c.text("inside"))
    await answer(app, authorization("Bearer one"))
    assert compared == [True, False, False]
    await answer(app, authorization("Bearer none"))
    assert compared[3:] == [False, False, False]


@given(token=b64tokens, other=b64tokens)
async def test_every_bearer_token_works(token: str, other: str) -> None:
    app = app_with(token=token)
    assert await answer(app, authorization(f"Bearer {token}")) == INSIDE
    expected = INSIDE if other == token else REFUSED
    assert await answer(app, authorization(f"Bearer {other}")) == expected


@given(raw=st.binary(min_size=1))
async def test_base64_and_base64url_are_tokens(raw: bytes) -> None:
    for token in (base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode()):
        assert await answer(app_with(token=token), authorization(f"Bearer {token}")) == INSIDE


@given(value=st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0")))
async def test_any_header_value_gets_an_answer(value: str) -> None:
    status, _, _ = await answer(app_with(token=TOKEN), authorization(value))
    assert status in (400, 401)
    # 401 is for a header that is blank, or holds a token in the right form.
    words = value.split()
    if status == 401 and words:
        assert words[0].lower() == "bearer"
        assert len(words) == 2


# --- verify_token -------------------------------------------------------------------------------


async def test_verify_token_plain_and_async() -> None:
    async def verify_async(token: str, c: Context) -> bool:
        return bool(token == c.env["token"])

    def verify(token: str, c: Context) -> bool:
        return bool(token == c.env["token"])

    for function in (verify, verify_async):
        app = app_with(verify_token=function)
        for token, status in (("one", 200), ("two", 401)):
            response = await app.request(
                "/x", {"headers": authorization(f"Bearer {token}")}, {"token": "one"}
            )
            assert response.status == status


@pytest.mark.parametrize("options", [{"token": "t"}, {"hash_function": lambda token: token}])
def test_what_has_no_effect_beside_verify_token(options: Any) -> None:
    with pytest.raises(ValueError, match="has no effect") as caught:
        app_with(**options, verify_token=lambda token, c: True)
    (name,) = options
    assert str(caught.value).startswith(f"bearer_auth({name}=...) has no effect beside")


@pytest.mark.parametrize(
    ("result", "expected"),
    [(True, INSIDE), (False, REFUSED), (None, REFUSED), ({"user": 1}, INSIDE), ("", REFUSED)],
)
async def test_what_verify_token_gives_is_taken_as_a_truth_value(
    result: Any, expected: tuple[int, str | None, str]
) -> None:
    async def verify_async(token: str, c: Context) -> Any:
        return result

    for verify in (verify_async, lambda token, c: result):
        app = app_with(verify_token=verify)
        assert await answer(app, authorization("Bearer x")) == expected


async def test_verify_token_is_asked_only_about_well_formed_tokens() -> None:
    asked: list[str] = []

    def verify(token: str, c: Context) -> bool:
        asked.append(token)
        return True

    app = app_with(verify_token=verify)
    for value in ("", "Bearer", "Basic x", "Bearer a b", "Bearer  a "):
        await answer(app, authorization(value))
    assert asked == ["a"]


async def test_verify_token_can_set_variables() -> None:
    def verify(token: str, c: Context) -> bool:
        c.set("user", token)
        return True

    app = Kit()
    app.use(bearer_auth(verify_token=verify))
    app.get("/x", lambda c: c.text(c.get("user")))
    assert (await answer(app, authorization("Bearer ann")))[2] == "ann"


async def test_an_error_in_verify_token_lets_nobody_in() -> None:
    def verify(token: str, c: Context) -> bool:
        raise RuntimeError("no database")

    app = app_with(verify_token=verify)
    app.on_error(lambda error, c: c.text(str(error), 500))
    assert await answer(app, authorization("Bearer x")) == (500, None, "no database")


async def yields(*arguments: Any) -> Any:
    yield None


def yields_plainly(*arguments: Any) -> Any:
    yield None


async def returns_an_exception(*arguments: Any) -> Any:
    return HTTPException(401)


async def returns_a_response(*arguments: Any) -> Any:
    return Response("no", status=401)


@pytest.mark.parametrize(
    ("verify", "kind"),
    [
        (lambda *arguments: yields(*arguments), "async_generator"),
        (lambda *arguments: yields_plainly(*arguments), "generator"),
        (returns_an_exception, "HTTPException"),
        (returns_a_response, "Response"),
    ],
)
async def test_what_is_no_user_lets_nobody_in(verify: Any, kind: str) -> None:
    app = app_with(verify_token=verify)
    app.on_error(lambda error, c: c.text(str(error), 500))
    assert await answer(app, authorization("Bearer x")) == (
        500,
        None,
        f"bearer_auth(verify_token=...) returned {kind}: expected a user, True or None; "
        "await coroutines, raise exceptions, and write return, not yield",
    )


async def test_the_user_that_verify_token_returns_is_kept() -> None:
    async def find(token: str, c: Context) -> dict[str, str] | None:
        return {"ann": {"name": "Ann"}}.get(token)

    app = Kit()
    app.use("/x", bearer_auth(verify_token=find))
    app.use("/y", bearer_auth(verify_token=lambda token, c: token, user_variable="account"))
    app.get("/x", lambda c: c.json(c.get("user")))
    app.get("/y", lambda c: c.json([c.get("user"), c.get("account")]))
    assert (await answer(app, authorization("Bearer ann")))[2] == '{"name":"Ann"}'
    assert await answer(app, authorization("Bearer bob")) == REFUSED
    response = await app.request("/y", {"headers": authorization("Bearer bob")})
    assert await response.json() == [None, "bob"]


async def test_true_is_no_user() -> None:
    def verify(token: str, c: Context) -> bool:
        c.set("user", "set by hand")
        return True

    app = Kit().use(bearer_auth(verify_token=verify)).get("/x", lambda c: c.text(c.get("user")))
    assert (await answer(app, authorization("Bearer x")))[2] == "set by hand"


# --- optional -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, (200, None, "null")),
        ("", (200, None, "null")),
        ("  ", (200, None, "null")),
        ("Bearer ann", (200, None, '"ann"')),
        ("Bearer eve", REFUSED),
        ("Bearer", MALFORMED),
        ("Bearer a b", MALFORMED),
        ("Basic x", MALFORMED),
        ("Bearer ann, Bearer ann", MALFORMED),
    ],
)
async def test_optional_lets_only_requests_without_credentials_through(
    value: str | None, expected: tuple[int, str | None, str]
) -> None:
    app = Kit()
    app.use(bearer_auth(verify_token=lambda token, c: token == "ann" and token, optional=True))
    app.get("/x", lambda c: c.json(c.get("user")))
    assert await answer(app, {} if value is None else authorization(value)) == expected


async def test_optional_keeps_the_user_of_another_middleware() -> None:
    async def by_session(c: Context, next: Callable[[], Awaitable[None]]) -> None:
        c.set("user", "of the session")
        await next()

    app = Kit().use(by_session).use(bearer_auth(verify_token=lambda token, c: token, optional=True))
    app.get("/x", lambda c: c.text(c.get("user")))
    assert (await answer(app))[2] == "of the session"
    assert (await answer(app, authorization("Bearer ann")))[2] == "ann"


# --- hash_function ------------------------------------------------------------------------------


async def hash_async(token: str) -> str:
    return token[::-1]


@pytest.mark.parametrize(
    "hash_function",
    [
        pytest.param(lambda token: token[::-1], id="str"),
        pytest.param(lambda token: token.encode(), id="bytes"),
        pytest.param(hash_async, id="async"),
        pytest.param(lambda token: "é" + token, id="beyond ASCII"),
        pytest.param(lambda token: "", id="weak"),
    ],
)
async def test_hash_function(hash_function: Any) -> None:
    app = app_with(token=["one", "two"], hash_function=hash_function)
    for _ in range(2):
        assert await answer(app, authorization("Bearer one")) == INSIDE
        assert await answer(app, authorization("Bearer two")) == INSIDE
        assert await answer(app, authorization("Bearer owt")) == REFUSED
    assert await answer(app) == ABSENT


async def test_none_never_matches() -> None:
    async def half(token: str) -> str | None:
        return token if token == "one" else None

    app = app_with(token=["one", "two"], hash_function=half)
    assert await answer(app, authorization("Bearer one")) == INSIDE
    assert await answer(app, authorization("Bearer two")) == REFUSED
    app = app_with(token="one", hash_function=lambda token: None)
    assert await answer(app, authorization("Bearer one")) == REFUSED


async def test_configured_tokens_are_hashed_once() -> None:
    hashed: list[str] = []

    def remember(token: str) -> str:
        hashed.append(token)
        return token

    app = app_with(token=["one", "two"], hash_function=remember)
    await answer(app, authorization("Bearer two"))
    await answer(app, authorization("Bearer three"))
    assert hashed == ["sample", "one", "two", "two", "three"]


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda token: 7, "returned int: expected str, bytes or None"),
        (
            hashlib.sha256,
            "can't hash a str: _hashlib.openssl_sha256 raised TypeError('Strings must be encoded "
            "before hashing'); expected a function such as lambda text: "
            "hashlib.sha256(text.encode()).digest()",
        ),
        (
            lambda token: hashlib.sha256(token.encode()),
            "returned HASH: expected str, bytes or None",
        ),
    ],
)
def test_hash_function_that_gives_something_else(function: Any, problem: str) -> None:
    with pytest.raises(TypeError) as caught:
        app_with(token="one", hash_function=function)
    assert str(caught.value) == f"bearer_auth(hash_function=...) {problem}"


async def test_a_hash_function_that_needs_an_event_loop() -> None:
    async def later(token: str) -> str:
        return token[::-1]

    def hash_function(token: str) -> Any:
        return asyncio.get_running_loop().create_task(later(token))

    made = await asyncio.to_thread(app_with, token="one", hash_function=hash_function)
    assert (await answer(made, authorization("Bearer one")))[0] == 200
    assert (await answer(made, authorization("Bearer eno")))[0] == 401


# --- realm, prefix, header_name -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("realm", "header"),
    [
        ("area", 'Bearer realm="area"'),
        ("two words", 'Bearer realm="two words"'),
        ('say "hi"', r'Bearer realm="say \"hi\""'),
        ("back\\slash", r'Bearer realm="back\\slash"'),
        ('\\"', r'Bearer realm="\\\""'),
        ("café", 'Bearer realm="café"'),
    ],
)
async def test_realm_is_a_quoted_string(realm: str, header: str) -> None:
    assert await answer(app_with(token=TOKEN, realm=realm)) == (401, header, "Unauthorized")


async def test_realm_is_in_the_first_challenge_alone() -> None:
    app = app_with(token=TOKEN, realm="area")
    assert await answer(app, authorization("Basic x")) == MALFORMED
    assert await answer(app, authorization("Bearer x")) == REFUSED


@pytest.mark.parametrize("prefix", ["Token", "bearer", "My Scheme", "X+1.2"])
async def test_prefix(prefix: str) -> None:
    app = app_with(token=TOKEN, prefix=prefix)
    assert await answer(app, authorization(f"{prefix} {TOKEN}")) == INSIDE
    assert await answer(app, authorization(f"{prefix.swapcase()} {TOKEN}")) == INSIDE
    scheme = prefix.partition(" ")[0]
    assert await answer(app) == (401, f'{scheme} realm=""', "Unauthorized")
    malformed = (400, f'{scheme} error="invalid_request"', "Bad Request")
    assert await answer(app, authorization(f"Other {TOKEN}")) == malformed
    refused = (401, f'{scheme} error="invalid_token"', "Unauthorized")
    assert await answer(app, authorization(f"{prefix} wrong")) == refused


async def test_prefix_is_no_regular_expression() -> None:
    app = app_with(token=TOKEN, prefix="B.*")
    assert (await answer(app, authorization(f"Bearer {TOKEN}")))[0] == 400
    assert await answer(app, authorization(f"B.* {TOKEN}")) == INSIDE


async def test_empty_prefix() -> None:
    app = app_with(token=TOKEN, prefix="", realm="area")
    assert await answer(app, authorization(TOKEN)) == INSIDE
    assert await answer(app) == (401, 'Bearer realm="area"', "Unauthorized")
    malformed = (400, 'Bearer error="invalid_request"', "Bad Request")
    assert await answer(app, authorization(f"Bearer {TOKEN}")) == malformed
    refused = (401, 'Bearer error="invalid_token"', "Unauthorized")
    assert await answer(app, authorization("wrong")) == refused


TOKEN_CHARACTERS = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
# SPEC: RFC 9110 sections 5.6.4, 11.2 and 11.6.1, without token68.
QUOTED = r'"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"'
PARAMETER = rf"{TOKEN_CHARACTERS}[ \t]*=[ \t]*(?:{TOKEN_CHARACTERS}|{QUOTED})"
CHALLENGE = re.compile(rf"{TOKEN_CHARACTERS} +{PARAMETER}(?:[ \t]*,[ \t]*{PARAMETER})*")


@pytest.mark.parametrize("value", [None, "!", f"Bearer {TOKEN}", "Token wrong", "wrong"])
@pytest.mark.parametrize("pairs", [None, {"error": 'a "b"', "scope": "c\\"}])
@pytest.mark.parametrize("realm", ["", "area", 'a "b" \\c', "é"])
@pytest.mark.parametrize("header_name", ["Authorization", "X-Api-Key"])
@pytest.mark.parametrize("prefix", ["", "Bearer", "Token", "Token v2"])
async def test_every_challenge_is_valid(
    prefix: str, header_name: str, realm: str, pairs: Any, value: str | None
) -> None:
    options: Any = None if pairs is None else {"www_authenticate_header": pairs}
    app = app_with(
        token="other",
        prefix=prefix,
        header_name=header_name,
        realm=realm,
        no_authentication_header=options,
        invalid_authentication_header=options,
        invalid_token=options,
    )
    _, challenge, _ = await answer(app, {} if value is None else {header_name: value})
    assert CHALLENGE.fullmatch(challenge), challenge
    assert challenge.partition(" ")[0] == (prefix.partition(" ")[0] or "Bearer")


@pytest.mark.parametrize("header", ['realm="x"', 'error="x",realm="y"', '"x"', "=", "Bearer="])
def test_a_challenge_of_ones_own_needs_a_scheme(header: str) -> None:
    with pytest.raises(ValueError, match="is no challenge") as raised:
        bearer_auth(token=TOKEN, invalid_token={"www_authenticate_header": header})
    assert str(raised.value).startswith("bearer_auth: invalid_token['www_authenticate_header']")


@pytest.mark.parametrize(
    ("header_name", "names"),
    [("Authorization", None), ("authorization", None), ("X-Api-Key", "X-Api-Key")],
)
async def test_header_that_caches_are_told_of(header_name: str, names: str | None) -> None:
    app: Kit[Any, Any] = Kit()
    app.use(bearer_auth(token=TOKEN, header_name=header_name))
    app.get("/x", lambda c: c.json(get_vary(c)))
    response = await app.request("/x", {"headers": {header_name: f"Bearer {TOKEN}"}})
    assert await response.json() == names


async def test_header_name() -> None:
    app = app_with(token=TOKEN, header_name="X-Api-Key", prefix="")
    assert await answer(app, {"x-api-key": TOKEN}) == INSIDE
    assert (await answer(app, {"X-API-KEY": "wrong"}))[0] == 401
    assert (await answer(app, authorization(TOKEN)))[1] == 'Bearer realm=""'


# --- messages and challenges of one's own -------------------------------------------------------

FAILURES = {
    "no_authentication_header": ("", ABSENT),
    "invalid_authentication_header": ("Basic x", MALFORMED),
    "invalid_token": ("Bearer wrong", REFUSED),
}


def plain(value: Any) -> Any:
    return lambda c: value


def awaited(value: Any) -> Any:
    async def function(c: Context) -> Any:
        return value

    return function


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("wrap", [lambda value: value, plain, awaited], ids=["", "plain", "async"])
@pytest.mark.parametrize(
    ("message", "body", "content_type"),
    [
        ("own text", "own text", "text/plain; charset=UTF-8"),
        ("", "", "text/plain; charset=UTF-8"),
        ({"error": "own", "code": 7}, '{"error":"own","code":7}', "application/json"),
        (["a", 1], '["a",1]', "application/json"),
        ({}, "{}", "application/json"),
        (0, "0", "application/json"),
    ],
)
async def test_message(
    name: str, wrap: Callable[[Any], Any], message: Any, body: str, content_type: str
) -> None:
    value, (status, challenge, _) = FAILURES[name]
    app = app_with(token=TOKEN, **{name: {"message": wrap(message)}})
    response = await app.request("/x", {"headers": authorization(value)})
    assert response.status == status
    assert await response.text() == body
    assert response.headers["content-type"] == content_type
    assert response.headers["www-authenticate"] == challenge
    for other, (header, expected) in FAILURES.items():
        if other != name:
            assert await answer(app, authorization(header)) == expected


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("wrap", [lambda value: value, plain, awaited], ids=["", "plain", "async"])
@pytest.mark.parametrize(
    ("header", "sent"),
    [
        ('Bearer realm="own"', 'Bearer realm="own"'),
        ('Basic realm="é"', 'Basic realm="é"'),
        ({"error": "own_error"}, 'Bearer error="own_error"'),
        ({"a": 1, "b": "two words"}, 'Bearer a="1",b="two words"'),
        ({"a": 'say "hi"'}, r'Bearer a="say \"hi\""'),
    ],
)
async def test_www_authenticate_header(
    name: str, wrap: Callable[[Any], Any], header: Any, sent: str
) -> None:
    value, (status, _, body) = FAILURES[name]
    app = app_with(token=TOKEN, **{name: {"www_authenticate_header": wrap(header)}})
    assert await answer(app, authorization(value)) == (status, sent, body)


async def test_pairs_without_prefix_and_with_another() -> None:
    options: FailureOptions = {"www_authenticate_header": {"error": "x", "scope": "y"}}
    app = app_with(token=TOKEN, prefix="", invalid_token=options)
    assert (await answer(app, authorization("wrong")))[1] == 'Bearer error="x",scope="y"'
    app = app_with(token=TOKEN, prefix="Token", invalid_token=options)
    assert (await answer(app, authorization("Token wrong")))[1] == 'Token error="x",scope="y"'


async def test_functions_are_given_the_context() -> None:
    app = app_with(
        token=TOKEN,
        no_authentication_header={
            "message": lambda c: {"path": c.req.path},
            "www_authenticate_header": lambda c: f'Bearer realm="{c.req.path}"',
        },
    )
    assert await answer(app) == (401, 'Bearer realm="/x"', '{"path":"/x"}')


async def test_a_challenge_with_what_the_client_sent_may_end_in_a_space() -> None:
    header: FailureOptions = {"www_authenticate_header": lambda c: f"Bearer of {c.req.path}"}
    app = app_with(token=TOKEN, no_authentication_header=header)
    response = await app.request("/x%20")
    assert (response.status, response.headers.get("www-authenticate")) == (401, "Bearer of /x")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"message": None, "www_authenticate_header": None},
        {"www_authenticate_header": ""},
    ],
)
async def test_what_is_not_set_is_the_default(options: Any) -> None:
    assert await answer(app_with(token=TOKEN, no_authentication_header=options)) == ABSENT


@pytest.mark.parametrize(
    ("header", "text"),
    [
        (
            lambda c: "a\r\nb: c",
            "ValueError: bearer_auth: invalid_token['www_authenticate_header'] 'a\\r\\nb: c' "
            "can't be sent in a header: expected latin-1 text without control characters or "
            "surrounding spaces",
        ),
        (
            lambda c: None,
            "TypeError: bearer_auth: invalid_token['www_authenticate_header'] is NoneType, "
            "expected a str, a mapping, or a function that returns one of them",
        ),
    ],
)
async def test_function_that_gives_no_header(header: Any, text: str) -> None:
    app = app_with(token=TOKEN, invalid_token={"www_authenticate_header": header})
    app.on_error(lambda error, c: c.text(f"{type(error).__name__}: {error}", 500))
    assert await answer(app, authorization("Bearer x")) == (500, None, text)


@pytest.mark.parametrize("name", FAILURES)
async def test_status(name: str) -> None:
    value, (_, challenge, _) = FAILURES[name]
    phrases = {400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 499: "Unauthorized"}
    for status, phrase in phrases.items():
        app = app_with(token=TOKEN, **{name: {"status": status}})
        assert await answer(app, authorization(value)) == (status, challenge, phrase)
        for other, (header, expected) in FAILURES.items():
            if other != name:
                assert await answer(app, authorization(header)) == expected


async def test_rfc_6750_section_3_1_insufficient_scope() -> None:
    app = app_with(token=TOKEN, invalid_token={"status": 403})
    refused = (403, 'Bearer error="insufficient_scope"', "Forbidden")
    assert await answer(app, authorization("Bearer x")) == refused
    options: FailureOptions = {
        "status": 403,
        "message": "Ask for more",
        "www_authenticate_header": {"error": "insufficient_scope", "scope": "write"},
    }
    app = app_with(token=TOKEN, invalid_token=options)
    challenge = 'Bearer error="insufficient_scope",scope="write"'
    assert await answer(app, authorization("Bearer x")) == (403, challenge, "Ask for more")


# --- the exception ------------------------------------------------------------------------------


async def test_on_error_sees_the_exception_and_its_response() -> None:
    seen: list[Exception] = []

    def on_error(error: Exception, c: Context) -> Any:
        seen.append(error)
        assert isinstance(error, HTTPException)
        return error.res

    app = app_with(token=TOKEN, invalid_token={"message": {"a": 1}})
    app.on_error(on_error)
    assert await answer(app) == ABSENT
    assert await answer(app, authorization("Basic x")) == MALFORMED
    assert await answer(app, authorization("Bearer x")) == (*REFUSED[:2], '{"a":1}')
    assert [str(error) for error in seen] == ["401 Unauthorized", "400 Bad Request", "401"]


async def test_headers_and_cookies_set_before_are_kept_once_and_the_status_is_not() -> None:
    def before(c: Context, next: Callable[[], Awaitable[None]]) -> Awaitable[None]:
        c.header("X-Before", "1")
        c.header("Set-Cookie", "a=1", append=True)
        c.header("Set-Cookie", "b=2", append=True)
        c.status(418)
        return next()

    app = Kit()
    app.use(before)
    app.use(bearer_auth(token=TOKEN))
    app.get("/x", lambda c: c.text("inside"))
    response = await app.request("/x")
    assert response.status == 401
    assert response.headers["x-before"] == "1"
    assert response.headers.get_set_cookie() == ["a=1", "b=2"]
    assert response.headers.get_all("www-authenticate") == ['Bearer realm=""']


async def test_each_failure_has_a_response_of_its_own() -> None:
    app = app_with(token=TOKEN)

    async def mark(c: Context, next: Callable[[], Awaitable[None]]) -> None:
        await next()
        c.res.headers.append("X-Mark", "1")

    outer = Kit()
    outer.use(mark)
    outer.use(bearer_auth(token=TOKEN))
    outer.get("/x", lambda c: c.text(""))
    for _ in range(2):
        response = await outer.request("/x")
        assert response.headers.get_all("x-mark") == ["1"]
    assert await answer(app) == ABSENT


async def test_two_in_one_app() -> None:
    app = Kit()
    app.use(bearer_auth(token="outer", header_name="X-Outer", prefix=""))
    app.use(bearer_auth(token="inner"))
    app.get("/x", lambda c: c.text("inside"))
    assert await answer(app, {"X-Outer": "outer", "Authorization": "Bearer inner"}) == INSIDE
    assert await answer(app, {"X-Outer": "outer"}) == ABSENT
    assert (await answer(app, authorization("Bearer inner")))[1] == 'Bearer realm=""'


# --- a message that is a response ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "status", "challenge", "text"),
    [
        (lambda c: c.json({"a": 1}), 401, 'Bearer error="invalid_token"', '{"a":1}'),
        (lambda c: c.text("gone", 410), 410, 'Bearer error="invalid_token"', "gone"),
        (lambda c: c.text("x", 401, {"WWW-Authenticate": "Own"}), 401, "Own", "x"),
        (lambda c: c.redirect("/login"), 302, 'Bearer error="invalid_token"', ""),
    ],
)
async def test_a_message_may_be_a_response(
    message: Any, status: int, challenge: str, text: str
) -> None:
    async def later(c: Context) -> Response:
        return message(c)  # type: ignore[no-any-return]

    for function in (message, later):
        app = app_with(token="one", invalid_token={"message": function})
        assert await answer(app, authorization("Bearer two")) == (status, challenge, text)
        assert (await answer(app, authorization("Bearer one")))[0] == 200


def test_a_message_that_can_be_sent_once_is_refused() -> None:
    async def message(c: Context) -> str:
        return "no"

    for value in (Response("no"), message(Context), b"no"):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"^bearer_auth\(invalid_token\['message'\]=\.\.\.\) "):
            app_with(token="one", invalid_token={"message": value})


async def test_a_message_that_is_an_exception_is_an_error() -> None:
    app = app_with(token="one", invalid_token={"message": lambda c: ValueError("no")})
    app.on_error(lambda error, c: c.text(str(error), 500))
    status, _, text = await answer(app, authorization("Bearer two"))
    assert status == 500
    assert "returned ValueError: expected a str, a value for JSON, or a response" in text
