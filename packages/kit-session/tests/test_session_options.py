# SPDX-License-Identifier: MIT
"""The options of `session` and `require_user`, and the errors of wrong ones."""

from __future__ import annotations

import builtins
import secrets

import pytest

from kit import Kit
from kit.interface.metadata import get_facts
from kit.session import Session, get_session, require_user, session
from kit.session.stores import MemoryStore

GOOD = secrets.token_urlsafe(32)
HINT = (
    "generate one with `python -c 'import secrets; print(secrets.token_urlsafe(32))'`, and keep "
    "it out of the code"
)
BY_ITSELF = "expected a name without prefix: __Host- or __Secure- is added automatically"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({}, ValueError, "needs a secret, to sign cookies that hold the session, or store=..."),
        ({"secret": 1}, TypeError, "session(secret=...) takes a str or a list of them, not int"),
        ({"secret": [GOOD, 1]}, TypeError, "takes a str or a list of them, not int"),
        ({"secret": []}, ValueError, "expected at least one secret"),
        ({"secret": "short"}, ValueError, "session(secret=...) has 5 bytes, at least 32 are"),
        ({"secret": [GOOD, ""]}, ValueError, "session(secret=...) has 0 bytes, at least 32"),
        ({"max_age": "1"}, TypeError, "session(max_age=...) takes a number, not '1'"),
        ({"max_age": 0}, ValueError, "expected at least 1 seconds"),
        ({"max_age": 401 * 86400}, ValueError, "expected at most 34560000 seconds"),
        ({"idle_timeout": 0}, ValueError, "expected at least 1 seconds"),
        ({"idle_timeout": 60, "max_age": 60}, ValueError, "expected less than max_age, which"),
        ({"persistent": 1}, TypeError, "session(persistent=...) takes a bool, not 1"),
        ({"encrypt": 1}, TypeError, "session(encrypt=...) takes a bool, not 1"),
        ({"encrypt": True, "store": MemoryStore()}, ValueError, "session(encrypt=True) is for"),
        ({"store": MemoryStore}, TypeError, "takes a SessionStore such as MemoryStore(), not"),
        ({"store": {}}, TypeError, "takes a SessionStore such as MemoryStore(), not {}"),
        (
            {"on_store_error": "ignore", "store": MemoryStore()},
            ValueError,
            "session(on_store_error='ignore') can't be used: expected 'unavailable' or 'anonymous'",
        ),
        ({"on_store_error": "anonymous"}, ValueError, "needs store=..."),
        ({"cookie": 1}, TypeError, "session(cookie=...) takes a str, not 1"),
        ({"cookie": "a b"}, ValueError, "expected a token of at most 100 characters such as"),
        ({"cookie": "__Host-session"}, ValueError, "session(cookie='__Host-session') can't"),
        ({"cookie": "__secure-session"}, ValueError, "session(cookie='__secure-session')"),
        ({"secure": None}, TypeError, "session(secure=...) takes a bool, not None"),
        ({"same_site": "lax"}, ValueError, "expected 'Strict', 'Lax' or 'None'"),
        ({"same_site": "None", "secure": False}, ValueError, "can't be used with"),
        ({"partitioned": True, "secure": False}, ValueError, "can't be used with"),
        ({"partitioned": 1}, TypeError, "session(partitioned=...) takes a bool, not 1"),
        ({"path": "shop"}, ValueError, "expected a path such as '/' in ASCII without ';'"),
        ({"domain": "exämple.com"}, ValueError, "expected a host name in ASCII such as"),
    ],
)
def test_options_that_are_refused(options, error, text):
    given = options if {"secret", "store"} & options.keys() else {"secret": GOOD, **options}
    with pytest.raises(error) as raised:
        session(**given if options else {})
    assert text in str(raised.value)


@pytest.mark.parametrize("secret", ["password", "x" * 31, b"ab" * 15])
def test_no_error_shows_a_secret(secret):
    with pytest.raises(ValueError, match="session") as raised:
        session(secret)
    assert (secret if isinstance(secret, str) else secret.decode()) not in str(raised.value)


@pytest.mark.parametrize(
    "secret",
    [secrets.token_hex(16), secrets.token_urlsafe(24), secrets.token_bytes(32), "test" * 8, [GOOD]],
    ids=["hex", "base64url", "bytes", "repeated", "list"],  # what differs by worker has no name
)
def test_secrets_that_are_good(secret):
    assert callable(session(secret))


async def set_cookie(client):
    response = await client.request(lambda c: get_session(c).update(n=1))
    [line] = response.headers.get_set_cookie()
    name, _, rest = line.partition("=")
    return name, rest.partition("; ")[2]


@pytest.mark.parametrize(
    ("options", "name", "attributes"),
    [
        ({}, "__Host-session", "Max-Age=1209600; Path=/; HttpOnly; Secure; SameSite=Lax"),
        (
            {"max_age": 60, "same_site": "Strict", "cookie": "id"},
            "__Host-id",
            "Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Strict",
        ),
        (
            {"persistent": False, "partitioned": True, "same_site": "None"},
            "__Host-session",
            "Path=/; HttpOnly; Secure; SameSite=None; Partitioned",
        ),
        (
            {"persistent": False, "path": "/shop"},
            "__Secure-session",
            "Path=/shop; HttpOnly; Secure; SameSite=Lax",
        ),
        (
            {"persistent": False, "domain": "example.com"},
            "__Secure-session",
            "Domain=example.com; Path=/; HttpOnly; Secure; SameSite=Lax",
        ),
        (
            {"persistent": False, "secure": False},
            "session",
            "Path=/; HttpOnly; SameSite=Lax",
        ),
    ],
)
async def test_the_attributes_of_the_cookie(new_client, options, name, attributes):
    client = new_client(store=MemoryStore(), cookie_name=name, **options)
    assert await set_cookie(client) == (name, attributes)
    assert await client.data() == {"n": 1}
    response = await client.request(lambda c: get_session(c).destroy())
    [line] = response.headers.get_set_cookie()
    unaged = attributes.replace("Max-Age=1209600; ", "").replace("Max-Age=60; ", "")
    if unaged.startswith("Domain"):  # which stands before the path
        assert line.startswith(f"{name}=; Max-Age=0; Domain=example.com; ")
    else:
        assert line == f"{name}=; Max-Age=0; {unaged}"


def test_encryption_needs_cryptography(monkeypatch):
    real = builtins.__import__

    def absent(name, *args, **kwargs):
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError) as error:
        session(GOOD, encrypt=True)
    assert str(error.value) == (
        "session(encrypt=True) needs cryptography: install kit-session[encryption]"
    )


def test_facts_of_the_middleware():
    facts = get_facts(session(GOOD))
    assert facts.provides == {"session": Session}
    assert facts.security == ()


def test_facts_of_the_guard():
    facts = get_facts(require_user())
    assert facts.security == ({"type": "apiKey", "in": "cookie", "name": "__Host-session"},)
    assert facts.responses == {401: "No user is logged in"}
    facts = get_facts(require_user(cookie="session", on_missing=lambda c: c.redirect("/")))
    assert facts.security == ({"type": "apiKey", "in": "cookie", "name": "session"},)
    assert facts.responses == {}


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"on_missing": "/login"}, TypeError, "takes a function (c), not '/login'"),
        ({"cookie": 'a"b'}, ValueError, "expected a token of at most 100 characters such as"),
    ],
)
def test_options_of_the_guard(options, error, text):
    with pytest.raises(error) as raised:
        require_user(**options)
    assert text in str(raised.value)


async def test_the_guard(client):
    client.app.use("/account/*", require_user())
    client.app.get("/account/x", lambda c: c.text(get_session(c).user))

    async def ask():
        return await client.app.request(
            "/account/x", headers={"cookie": f"__Host-session={client.cookie}"}
        )

    await client.do(lambda s: s.update(n=1))
    response = await ask()
    assert response.status == 401
    assert response.headers.get("www-authenticate") == 'Cookie cookie-name="__Host-session"'
    assert response.headers.get("vary") == "Cookie"
    await client.do(lambda s: s.rotate(user="42"))
    response = await ask()
    assert (response.status, await response.text()) == (200, "42")


@pytest.mark.parametrize("is_async", [True, False])
async def test_the_guard_may_redirect(is_async):
    def plain(c):
        return c.redirect("/login", 303)

    async def awaited(c):
        return plain(c)

    app = Kit()
    app.use(session(GOOD))
    app.use("/account/*", require_user(on_missing=awaited if is_async else plain))
    app.get("/account/x", lambda c: c.text("in"))
    response = await app.request("/account/x")
    assert (response.status, response.headers.get("location")) == (303, "/login")
