# SPDX-License-Identifier: MIT
"""Attacks on logins, by name (RFC 9700; OpenID Connect Core, section 16)."""

from __future__ import annotations

import time
import traceback
from typing import Any
from urllib.parse import parse_qs, quote, urljoin, urlsplit

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit import Context, Kit, Response
from kit.oidc import User, logins, oidc
from kit.oidc.testing import TestProvider
from kit.session import get_session, session
from kit.session.stores import MemoryStore
from kit.testing import test_client as new_client

UNKNOWN = "This login was not started in this browser, or is complete already: log in again"
OTHER_ISSUER = "The response comes from another provider: log in again"
OWN = {"origin": "http://localhost"}


async def fails(site: Any, path: str, status: int, message: str) -> None:
    response = await site.get(path)
    assert (response.status, await response.text()) == (status, message)
    assert await site.who() is None


async def test_forged_state(site: Any) -> None:
    """Login CSRF: the victim would be logged in as the attacker."""
    callback = site.provider.authorize(await site.start())
    site.client.cookies.clear()
    await fails(site, callback, 400, UNKNOWN)
    await site.start()
    await fails(site, callback, 400, UNKNOWN)


async def test_replayed_state(site: Any) -> None:
    callback = site.provider.authorize(await site.start())
    assert (await site.get(callback)).status == 303
    await site.client.post("/auth/logout", headers=OWN)
    await fails(site, callback, 400, UNKNOWN)


async def test_replayed_state_at_the_same_time(site: Any) -> None:
    callback = site.provider.authorize(await site.start())
    statuses: list[int] = []

    async def ask() -> None:
        statuses.append((await site.get(callback)).status)

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(ask)
    assert sorted(statuses) == [303, 400, 400, 400, 400]
    assert site.provider.requests.count(("POST", "/token")) == 1
    assert await site.who() == "ann"


async def test_replayed_state_after_a_failure(site: Any) -> None:
    callback = site.provider.authorize(await site.start())
    site.provider.faults.is_down = True
    assert (await site.get(callback)).status == 503
    site.provider.faults.is_down = False
    await fails(site, callback, 400, UNKNOWN)


async def test_replayed_code(site: Any) -> None:
    first = parse_qs(urlsplit(site.provider.authorize(await site.start())).query)
    state = parse_qs(urlsplit(await site.start()).query)["state"][0]
    assert (await site.get(f"/auth/callback?code={first['code'][0]}&state={state}")).status == 400


async def test_code_injection(site: Any) -> None:
    """The attacker has the code of a victim, and brings it into a login of their own (PKCE)."""
    victim = parse_qs(urlsplit(site.provider.authorize(await site.start())).query)
    site.client.cookies.clear()  # another browser
    state = parse_qs(urlsplit(await site.start()).query)["state"][0]
    code, issuer = victim["code"][0], victim["iss"][0]
    response = await site.get(f"/auth/callback?code={code}&state={state}&iss={issuer}")
    assert response.status == 400
    assert site.provider.requests[-1] == ("POST", "/token")  # which refuses the verifier
    assert await site.who() is None


async def test_nonce_reuse(site: Any) -> None:
    """An ID token of an earlier login is no proof for a later one."""
    tokens: list[dict[str, Any]] = []

    def keep(claims: dict[str, Any]) -> dict[str, Any]:
        tokens.append(claims)
        return {**claims, "nonce": tokens[0]["nonce"]}

    site.provider.faults.id_token = keep
    assert (await site.log_in()).status == 303
    await site.client.post("/auth/logout", headers=OWN)
    assert (await site.log_in()).status == 502
    assert await site.who() is None


async def test_mixed_up_issuers_by_iss(site: Any) -> None:
    site.provider.faults.authorization_response = {"iss": "https://evil.example"}
    await fails(site, site.provider.authorize(await site.start()), 400, OTHER_ISSUER)
    assert ("POST", "/token") not in site.provider.requests


async def test_mixed_up_issuers_without_iss(site: Any) -> None:
    site.provider.faults.authorization_response = {"iss": None}
    await fails(site, site.provider.authorize(await site.start()), 400, OTHER_ISSUER)
    site.provider.faults.metadata = {"authorization_response_iss_parameter_supported": None}


async def test_iss_is_not_needed_from_a_provider_that_does_not_support_it(site: Any) -> None:
    site.provider.faults.metadata = {"authorization_response_iss_parameter_supported": False}
    site.provider.faults.authorization_response = {"iss": None}
    assert (await site.log_in()).status == 303


async def test_mixed_up_issuers_in_an_error(site: Any) -> None:
    site.provider.faults.authorization_response = {
        "code": None,
        "error": "access_denied",
        "iss": "https://evil.example",
    }
    await fails(site, site.provider.authorize(await site.start()), 400, OTHER_ISSUER)


async def test_mixed_up_issuers_by_the_callback_of_another_login() -> None:
    """The state of one provider is worth nothing at the callback of another."""
    one = oidc(issuer="https://one.example", client_id="a", client_secret="a", name="one")
    two = oidc(issuer="https://two.example", client_id="b", client_secret="b", name="two")
    app = Kit()
    app.use(session(store=MemoryStore()))
    both = logins(one, two)
    both.register(app)
    app.get("/me", both.required, lambda c: c.text(c.get("user").sub))
    with TestProvider(one) as provider, TestProvider(two) as other:
        async with new_client(app) as client:
            started = await client.get("/auth/one/login")
            callback = provider.authorize(started.headers["location"])
            response = await client.get(callback.replace("/one/", "/two/"))
            assert (response.status, await response.text()) == (400, OTHER_ISSUER)
            assert ("POST", "/token") not in [*provider.requests, *other.requests]
            assert (await client.get("/me")).status == 401


@pytest.mark.parametrize("query", ["", "?state=", "?state=a&state=b", "?code=a", "?state=%00"])
async def test_callback_without_an_attempt(site: Any, query: str) -> None:
    response = await site.get(f"/auth/callback{query}")
    assert response.status == 400


async def test_a_parameter_that_is_there_twice(site: Any) -> None:
    callback = site.provider.authorize(await site.start())
    assert (await site.get(f"{callback}&code=another")).status == 400
    assert await site.who() is None


async def test_neither_code_nor_error(site: Any) -> None:
    site.provider.faults.authorization_response = {"code": None}
    assert (await site.log_in()).status == 400


async def test_expired_attempt(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    callback = site.provider.authorize(await site.start())
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 601)
    await fails(site, callback, 400, "The login took too long: log in again")


async def test_several_tabs_log_in_at_once(site: Any) -> None:
    locations = [await site.start(f"/auth/login?return_to=/tab/{number}") for number in range(5)]
    for number in (3, 0, 4):
        response = await site.get(site.provider.authorize(locations[number]))
        assert (response.status, response.headers["location"]) == (303, f"/tab/{number}")


async def test_attempts_are_bounded(site: Any) -> None:
    locations = [await site.start() for _ in range(12)]
    assert (await site.get(site.provider.authorize(locations[0]))).status == 400
    assert (await site.get(site.provider.authorize(locations[2]))).status == 303
    # The session, the record of its old id, and those of the states that came back.
    assert len(site.store) == 3


async def test_session_fixation(site: Any) -> None:
    await site.start()
    before = dict(site.client.cookies)
    await site.log_in()
    after = dict(site.client.cookies)
    assert before.keys() == after.keys()
    assert before != after
    site.client.cookies.clear()
    site.client.cookies.update(before)
    assert await site.who() is None


async def test_data_of_another_user_is_gone_after_a_login() -> None:
    login = oidc(issuer="https://id.example", client_id="a", client_secret="a")
    app = Kit()
    app.use(session(store=MemoryStore()))
    login.register(app)

    @app.get("/cart/:book")
    async def cart(c: Context) -> Response:
        found = await get_session(c)
        found.setdefault("cart", []).append(c.req.param("book"))
        return c.json(found["cart"])

    with TestProvider(login) as provider:
        async with new_client(app) as client:
            await client.get("/cart/a")
            await provider.log_in(client, {"sub": "ann"})
            assert await (await client.get("/cart/b")).json() == ["a", "b"]
            await provider.log_in(client, {"sub": "eve"})
            assert await (await client.get("/cart/c")).json() == ["c"]


@pytest.mark.parametrize(
    "path",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "/%09/evil.example",
        "/\t/evil.example",
        "\\evil.example",
        "javascript:alert(1)",
        "evil",
        "",
        "/a\r\nSet-Cookie: a=b",
        "/" + "a" * 3000,
        "/\u00e9",
    ],
)
async def test_open_redirect(site: Any, path: str) -> None:
    response = await site.get(f"/auth/login?return_to={quote(path, safe='')}")
    if path == "/%09/evil.example":  # a path of this site, since the escape is none for a browser
        assert response.status == 302
    else:
        assert response.status == 400
        assert "location" not in response.headers


async def test_open_redirect_by_two_values(site: Any) -> None:
    assert (await site.get("/auth/login?return_to=/a&return_to=//evil.example")).status == 400


async def test_open_redirect_by_the_path_of_a_guarded_page(site: Any) -> None:
    page = {"accept": "text/html"}
    app = Kit()
    app.use(session(store=MemoryStore()))
    login = oidc(issuer="https://id.example", client_id="a", client_secret="a")
    login.register(app)
    app.get("/*", login.required, lambda c: c.text("in"))
    with TestProvider(login) as provider:
        async with new_client(app) as client:
            sent = await client.request("GET", "http://localhost//evil.example/a", headers=page)
            assert sent.status == 302
            back = await client.get(provider.authorize(sent.headers["location"]))
            assert back.headers["location"] == "/"


async def test_start_refuses_another_site(site: Any) -> None:
    async def leave(c: Context) -> Response:
        with pytest.raises(ValueError, match="another site"):
            await site.login.start(c, return_to="//evil.example")
        with pytest.raises(ValueError, match="option of their own"):
            await site.login.start(c, redirect_uri="https://evil.example")
        return await site.login.start(c, return_to="/a", login_hint="ann")

    app = Kit()
    app.use(session(store=MemoryStore()))
    app.get("/leave", leave)
    with pytest.raises(RuntimeError, match="already"):
        site.login.register(app)


@given(st.text(max_size=30) | st.from_regex(r"[/\\\t\n.:%a]{1,8}", fullmatch=True))
@settings(max_examples=100, deadline=None)
def test_a_return_path_stays_on_this_site(path: str) -> None:
    """As browsers resolve it: without tabs and newlines, and with `\\` as `/`."""

    async def main() -> None:
        login = oidc(issuer="https://id.example", client_id="a", client_secret="a")
        app = Kit()
        app.use(session(store=MemoryStore()))
        login.register(app)
        with TestProvider(login) as provider:
            async with new_client(app) as client:
                started = await client.get("/auth/login", query={"return_to": path})
                if started.status == 400:
                    return
                back = await client.get(provider.authorize(started.headers["location"]))
                seen = back.headers["location"].strip()
                seen = seen.translate({9: None, 10: None, 13: None}).replace("\\", "/")
                target = urljoin("https://app.example/auth/callback", seen)
                assert urlsplit(target).netloc == "app.example"

    anyio.run(main)


async def test_logout_needs_a_post_of_this_site(site: Any) -> None:
    await site.log_in()
    assert (await site.get("/auth/logout")).status in (404, 405)
    for headers in ({}, {"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert (await site.client.post("/auth/logout", headers=headers)).status == 403
    assert await site.who() == "ann"
    assert (await site.client.post("/auth/logout", headers=OWN)).status == 303
    assert await site.who() is None


async def test_user_of_another_login(site: Any) -> None:
    """An app that logs another user in by itself isn't mistaken for the provider."""
    login = oidc(issuer="https://id.example", client_id="a", client_secret="a")
    app = Kit()
    app.use(session(store=MemoryStore()))
    login.register(app)
    app.get("/me", login.required, lambda c: c.text("in"))

    @app.get("/switch")
    async def switch(c: Context) -> Response:
        found = await get_session(c)
        kept = found["kit.oidc"]
        found.rotate(user="42")
        found["kit.oidc"] = kept
        return c.text("done")

    with TestProvider(login) as provider:
        async with new_client(app) as client:
            await provider.log_in(client)
            assert (await client.get("/me")).status == 200
            await client.get("/switch")
            assert (await client.get("/me")).status == 401


async def test_login_of_another_client(site: Any) -> None:
    """Two logins at one issuer are two logins."""
    one = oidc(issuer="https://id.example", client_id="a", client_secret="a", name="one")
    two = oidc(issuer="https://id.example", client_id="b", client_secret="b", name="two")
    app = Kit()
    app.use(session(store=MemoryStore()))
    one.register(app, "/auth/one")
    two.register(app, "/auth/two")
    app.get("/one", one.required, lambda c: c.text("in"))
    app.get("/two", two.required, lambda c: c.text("in"))
    with TestProvider(one) as provider:
        async with new_client(app) as client:
            await provider.log_in(client, path="/auth/one/login")
            assert (await client.get("/one")).status == 200
            assert (await client.get("/two")).status == 401


async def test_sessions_in_cookies_are_refused() -> None:
    login = oidc(issuer="https://id.example", client_id="a", client_secret="a")
    app = Kit()
    app.use(session("a-secret-of-at-least-32-bytes-0123456789"))
    login.register(app)
    seen: list[str] = []
    app.on_error(lambda error, c: seen.append(str(error)) or c.text("error", 500))
    async with new_client(app) as client:
        assert (await client.get("/auth/login")).status == 500
        assert (await client.get("/auth/callback?state=a")).status == 500
    assert all("in a store" in each for each in seen)


@pytest.mark.parametrize(
    ("origin", "expected"),
    [("https://books.example", "https://books.example"), (None, "http://evil.example")],
)
async def test_host_header(origin: str | None, expected: str) -> None:
    """With `origin`, a forged Host has no influence on where the provider sends the code."""
    login = oidc(issuer="https://id.example", client_id="a", client_secret="a", origin=origin)
    app = Kit()
    app.use(session(store=MemoryStore()))
    login.register(app)
    with TestProvider(login):
        async with new_client(app, base_url="http://evil.example") as client:
            location = (await client.get("/auth/login")).headers["location"]
    asked = parse_qs(urlsplit(location).query)
    assert asked["redirect_uri"] == [f"{expected}/auth/callback"]


TEXTS = st.text(max_size=40) | st.sampled_from(
    ["state", "code", "iss", "error", "https://id.example"]
)


@given(
    query=st.dictionaries(TEXTS, TEXTS, max_size=5), token=TEXTS | st.from_regex(r"e\w*\.e\w*\.\w*")
)
@settings(max_examples=60, deadline=None)
def test_whatever_a_client_sends_logs_nobody_in(query: dict[str, str], token: str) -> None:
    async def main() -> None:
        login = oidc(issuer="https://id.example", client_id="a", client_secret="a")
        app = Kit()
        app.use(session(store=MemoryStore()))
        login.register(app)
        app.get("/me", login.required, lambda c: c.text("in"))
        with TestProvider(login):
            async with new_client(app) as client:
                await client.get("/auth/login")
                assert (await client.get("/auth/callback", query=query)).status == 400
                form = {"logout_token": token}
                assert (await client.post("/auth/backchannel-logout", form=form)).status == 400
                assert (await client.get("/me")).status == 401

    anyio.run(main)


@pytest.mark.parametrize(
    "stricter",
    [
        {"name": "staff", "required_claims": {"hd": "example.com"}},
        {"name": "staff"},
        {"required_claims": {"hd": "example.com"}},
    ],
)
async def test_a_login_for_everybody_at_the_guard_of_a_stricter_one(stricter: Any) -> None:
    """Both are the same client of the same provider, and each has its own conditions."""
    client_options: Any = {"issuer": "https://id.example", "client_id": "a", "client_secret": "a"}
    public = oidc(**client_options)
    staff = oidc(**client_options, **stricter)
    app = Kit()
    app.use(session(store=MemoryStore()))
    public.register(app, "/auth/public")
    staff.register(app, "/auth/staff")
    app.get("/public", public.required, lambda c: c.text(c.get("user").claims["sid"]))
    app.get("/staff", staff.required, lambda c: c.text("in"))
    with TestProvider(public) as provider, TestProvider(staff):
        async with new_client(app) as client:
            await provider.log_in(client, {"sub": "eve"}, path="/auth/public/login")
            sid = await (await client.get("/public")).text()
            assert (await client.get("/staff")).status == 401
            # The provider knows one address for logouts, for all logins of the client.
            form = {"logout_token": provider.logout_token(sid=sid)}
            assert (await client.post("/auth/staff/backchannel-logout", form=form)).status == 200
            assert (await client.get("/public")).status == 401
            again = await client.post("/auth/public/backchannel-logout", form=form)
            assert again.status == 400


async def test_endless_redirects_by_prompt_none(open_site: Any) -> None:
    """A guard asks the user, since the provider would only send the browser back."""
    async with open_site(prompt="none") as site:
        page = {"accept": "text/html"}
        silent = parse_qs(urlsplit(await site.start("/auth/login?return_to=/me")).query)
        assert silent["prompt"] == ["none"]
        query = {
            "error": "login_required",
            "state": silent["state"][0],
            "iss": "https://id.example",
        }
        back = await site.client.get("/auth/callback", query=query)
        assert (back.status, back.headers["location"]) == (303, "/me")
        asked = parse_qs(urlsplit((await site.get("/me", **page)).headers["location"]).query)
        assert "prompt" not in asked


async def test_a_cache_keeps_no_redirect_of_a_logout(site: Any) -> None:
    await site.log_in()
    left = await site.client.post("/auth/logout", headers=OWN)
    state = parse_qs(urlsplit(left.headers["location"]).query)["state"][0]
    back = await site.get(f"/auth/logged-out?state={state}")
    nobody = await site.client.post("/auth/logout", headers=OWN)
    for response in (left, back, nobody):
        assert (response.status, response.headers["cache-control"]) == (303, "no-store")


@pytest.mark.parametrize("aud", [[["books"], "books"], [{}, "books"], ["books", None]])
async def test_audiences_that_are_no_text(site: Any, aud: Any) -> None:
    site.provider.faults.id_token = lambda claims: {**claims, "aud": aud, "azp": "books"}
    assert (await site.log_in()).status == 502
    form = {"logout_token": site.provider.logout_token(sub="ann", aud=aud)}
    assert (await site.client.post("/auth/backchannel-logout", form=form)).status == 400


async def test_auth_time_that_is_no_number(site: Any) -> None:
    """A session with it could be read no more."""
    site.provider.faults.id_token = lambda claims: {**claims, "auth_time": True}
    assert (await site.log_in()).status == 303
    assert await site.who() == "ann"


async def test_auth_time_in_the_future(open_site: Any) -> None:
    async with open_site(max_age=60) as site:
        site.provider.faults.id_token = lambda claims: {**claims, "auth_time": 4_000_000_000}
        assert (await site.log_in()).status == 502


async def test_secrets_in_the_variables_of_a_traceback() -> None:
    """Error pages and reports of errors show their reprs."""

    def fail(user: User, c: Context) -> None:
        raise ZeroDivisionError

    login = oidc(
        issuer="https://id.example",
        client_id="a",
        client_secret="secret-of-client",
        userinfo=False,
        on_login=fail,
    )
    app = Kit()
    app.use(session(store=MemoryStore()))
    login.register(app)
    shown: list[str] = []

    @app.on_error
    def show(error: Exception, c: Context) -> Response:
        trace = traceback.TracebackException.from_exception(error, capture_locals=True)
        shown.extend(trace.format())
        return c.text("error", 500)

    with TestProvider(login) as provider:
        secrets = {name: f"secret-of-{name}" for name in ("access_token", "refresh_token")}
        provider.client_secret = "secret-of-client"
        provider.faults.token_response = secrets
        provider.faults.id_token = lambda claims: {
            name: value for name, value in claims.items() if name != "at_hash"
        }
        async with new_client(app) as client:
            await provider.log_in(client)
    text = "".join(shown)
    assert "ZeroDivisionError" in text
    assert "Tokens(" in text
    assert "Client(" in text
    assert "secret-of" not in text


async def test_a_cache_keeps_no_page_of_the_callback(open_site: Any) -> None:
    """Its address has a code, also if the app makes the page."""

    def show(error: Any, c: Context) -> Response:
        return c.text("failed", 404)

    def refuse(user: User, c: Context) -> Response:
        return c.text("refused", 404, {"Cache-Control": "private, no-store"})

    async with open_site(on_error=show, on_login=refuse) as site:
        failed = await site.get("/auth/callback?code=a&state=b")
        assert failed.headers["cache-control"] == "no-store"
        assert failed.headers["referrer-policy"] == "no-referrer"
        refused = await site.log_in()
        assert refused.headers["cache-control"] == "private, no-store"
        assert refused.headers["referrer-policy"] == "no-referrer"
