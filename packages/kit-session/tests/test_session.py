# SPDX-License-Identifier: MIT
"""What handlers can do with a session, however it is kept."""

from __future__ import annotations

import gc
import weakref

import pytest

from kit import Context, HTTPException, Kit
from kit.session import Flash, SessionError, get_session, session
from kit.streaming import stream


async def test_data_come_back(client):
    assert await client.do(lambda s: [s.is_new, len(s), bool(s)]) == [True, 0, False]
    await client.do(lambda s: s.update({"name": "Ada", "cart": [{"id": 1}]}, theme="dark"))
    assert await client.data() == {"name": "Ada", "cart": [{"id": 1}], "theme": "dark"}
    assert await client.do(lambda s: [s.is_new, "cart" in s, s.pop("theme")]) == [
        False,
        True,
        "dark",
    ]
    await client.do(lambda s: s.__delitem__("name"))
    assert await client.do(list) == ["cart"]
    assert await client.do(lambda s: s == {"cart": [{"id": 1}]})


async def test_changes_within_lists_and_dicts_are_saved(client):
    await client.do(lambda s: s.setdefault("cart", {"items": []}))
    await client.do(lambda s: s["cart"]["items"].append({"id": 1, "tags": []}))
    await client.do(lambda s: s["cart"]["items"][0]["tags"].append("new"))
    assert await client.data() == {"cart": {"items": [{"id": 1, "tags": ["new"]}]}}


async def test_no_await_is_needed_where_nothing_has_to_wait(client):
    def write(c):
        get_session(c)["n"] = 1

    await client.request(write)
    assert await (await client.request(lambda c: get_session(c)["n"])).json() == 1


async def test_requests_that_do_not_use_the_session_have_no_trace_of_it(client):
    await client.do(lambda s: s.update(n=1))
    response = await client.request(lambda c: [repr(get_session(c))])
    assert await response.json() == ["<Session of dict>"]
    assert dict(response.headers.items()).keys() == {"content-type"}


async def test_the_headers_of_what_depends_on_the_session(client):
    async def headers(action):
        response = await client.request(action)
        names = ("vary", "cache-control")
        return [
            *(response.headers.get(name) for name in names),
            len(response.headers.get_set_cookie()),
        ]

    assert await headers(lambda c: len(get_session(c))) == ["Cookie", "private", 0]
    assert await headers(lambda c: get_session(c).update(n=1)) == ["Cookie", "no-store", 1]
    assert await headers(lambda c: get_session(c)["n"]) == ["Cookie", "private", 0]

    def public(c):
        c.header("cache-control", "public, max-age=60")
        c.header("vary", "Accept, cookie")
        return get_session(c)["n"]

    assert await headers(public) == ["Accept, cookie", "public, max-age=60", 0]

    def public_with_cookie(c):
        get_session(c).rotate()
        return public(c)

    assert await headers(public_with_cookie) == ["Accept, cookie", "no-store", 1]

    def private(c):
        get_session(c).rotate()
        c.header("cache-control", "private, max-age=60")
        return 1

    assert await headers(private) == ["Cookie", "private, max-age=60", 1]

    def public_but_for_a_field(c):
        get_session(c).rotate()
        c.header("cache-control", 'private="x-secret"')
        return 1

    assert await headers(public_but_for_a_field) == ["Cookie", "no-store", 1]


async def test_nothing_is_written_that_was_not_changed(client):
    await client.do(lambda s: s.update(a=1, b=[1]))

    def undone(session):
        session["a"] = 2
        session["a"] = 1
        session["b"] = list(session["b"])
        session["c"] = session.pop("c", None)
        del session["c"]
        session["a"] = session.pop("a")  # which is now the last key
        session.update(lambda data: None)
        session.flashes()

    async def handle(c):
        undone(await get_session(c))

    before = client.cookie
    response = await client.request(handle)
    assert response.headers.get_set_cookie() == []
    assert client.cookie == before


async def test_destroy(client):
    await client.do(lambda s: s.update(n=1))

    def destroy(c):
        session = get_session(c)
        session.destroy()
        return [dict(session), session.is_new, session.user]

    response = await client.request(destroy)
    assert await response.json() == [{}, True, None]
    [line] = response.headers.get_set_cookie()
    assert line == "__Host-session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax"
    assert client.cookies == {}
    assert await client.do(lambda s: s.is_new)


async def test_destroy_of_a_new_session_is_nothing(client):
    response = await client.request(lambda c: get_session(c).destroy())
    assert response.headers.get_set_cookie() == []


async def test_what_follows_destroy_belongs_to_a_new_session(client):
    await client.do(lambda s: s.update(n=1, user="x"))
    await client.do(lambda s: s.rotate(user="42"))
    first = await client.do(lambda s: s.id)

    def leave(session):
        data = session.data
        session["left"] = 1
        session.destroy()
        assert session.data is not data
        session.flash("Good bye")
        session["seen"] = True

    await client.do(leave)
    assert await client.do(lambda s: [dict(s), s.user, s.is_new, s.id == first]) == [
        {"seen": True},
        None,
        False,
        False,
    ]
    assert await client.do(lambda s: s.flashes()) == [["Good bye", "message"]]


async def test_flashes_are_shown_once(client):
    def add(session):
        session.flash("Saved")
        session.flash("Too late", "error")
        session.flash("Saved")

    await client.do(add)
    assert await client.do(lambda s: s.flashes("error")) == [["Too late", "error"]]
    found = []
    await client.do(lambda s: found.extend(s.flashes()))
    assert found == [Flash("Saved", "message"), Flash("Saved", "message")]
    assert (found[0].text, found[0].category) == ("Saved", "message")
    assert await client.do(lambda s: s.flashes()) == []


async def test_a_flash_may_be_shown_in_the_same_request(client):
    def add_and_take(session):
        session.flash("Now")
        return [session.flashes(), session.flashes()]

    assert await client.do(add_and_take) == [[["Now", "message"]], []]
    assert client.cookies == {}


async def test_clear_leaves_nothing_but_the_id(client):
    await client.do(lambda s: s.update(a=1))
    before = await client.do(lambda s: [s.flash("x"), s.id][1])

    def clear(session):
        session["b"] = 2
        session.flash("y")
        session.clear()
        return [dict(session), session.flashes(), session.user]

    assert await client.do(clear) == [{}, [], None]
    assert await client.do(lambda s: [dict(s), s.flashes(), s.is_new]) == [{}, [], False]
    assert await client.do(lambda s: s.id) == before


async def test_clear_logs_out(client):
    await client.do(lambda s: s.rotate(user="42"))
    before = await client.do(lambda s: s.id)
    await client.do(lambda s: s.clear())
    assert await client.do(lambda s: [s.user, s.id == before]) == [None, False]


async def test_the_user_of_a_session(client):
    before = await client.do(lambda s: [s.update(cart=[1]), s.id][1])

    def login(session):
        session.user = "42"
        return [session.user, session.id == before]

    assert await client.do(login) == ["42", False]
    assert await client.do(lambda s: [s.user, dict(s)]) == ["42", {"cart": [1]}]
    await client.do(lambda s: s.rotate())
    assert await client.do(lambda s: s.user) == "42"
    await client.do(lambda s: s.rotate(user=None))
    assert await client.do(lambda s: s.user) is None


async def test_nobody_has_no_name(client):
    def login(session):
        with pytest.raises(
            ValueError, match=r"rotate\(user=''\) isn't a valid user: write user=None for"
        ):
            session.user = ""
        return session.user

    assert await client.do(login) is None


@pytest.mark.parametrize("user", ["43", None])
async def test_nobody_gets_the_data_of_another_user(client, user):
    await client.do(lambda s: [s.update(a=1), s.flash("x"), s.rotate(user="42")][2])
    await client.do(lambda s: [s.rotate(user="42"), s.update(b=2)][0])
    assert await client.do(lambda s: [s.user, dict(s)]) == ["42", {"a": 1, "b": 2}]

    def change_hands(session):
        session["c"] = 3
        session.rotate(user=user)
        session["d"] = 4
        return [dict(session), session.user]

    assert await client.do(change_hands) == [{"d": 4}, user]
    seen = await client.do(lambda s: [dict(s), s.flashes(), s.user])
    assert seen == [{"d": 4}, [], user]


async def test_a_login_needs_no_data(client):
    await client.do(lambda s: s.rotate(user="42"))
    assert await client.do(lambda s: [s.user, s.is_new]) == ["42", False]


async def test_rotating_a_new_session_without_data_is_nothing(client):
    response = await client.request(lambda c: get_session(c).rotate())
    assert response.headers.get_set_cookie() == []


async def test_the_id_is_no_secret(client):
    assert len({await client.do(lambda s: s.id) for _ in range(2)}) == 2
    made = await client.do(lambda s: [s.update(n=1), s.id, s.id])
    assert made[1] == made[2] == await client.do(lambda s: s.id)
    assert made[1] != client.cookie
    client.cookies = {client.cookie_name: made[1]}
    assert await client.do(lambda s: s.is_new)


@pytest.mark.parametrize("user", [42, b"42", ["42"]])
async def test_a_user_is_a_str(client, user):
    def login(session):
        with pytest.raises(TypeError) as error:
            session.rotate(user=user)
        return str(error.value)

    assert await client.do(login) == (
        f"Session.rotate(user=...) takes a str, not {user!r}: write str(...) around a number"
    )


async def test_what_a_session_refuses(client):
    async def check(session):
        with pytest.raises(TypeError) as error:
            session[1] = 2
        assert str(error.value) == "A key of a session is a str, not 1"
        with pytest.raises(TypeError) as error:
            session.flash("text", 3)
        assert str(error.value) == "Session.flash takes texts, not 'text' and 3"

        async def increment(data):
            raise AssertionError("unreachable: it is never awaited")

        with pytest.raises(TypeError) as error:
            session.update(increment)
        assert str(error.value).startswith("Session.update takes a plain function: test_")
        assert str(error.value).endswith(" is async, and nothing awaits its result, coroutine")
        with pytest.raises(KeyError):
            session["absent"]
        with pytest.raises(KeyError):
            del session["absent"]
        with pytest.raises(TypeError, match="unhashable"):
            hash(session)

    await client.do(check)


async def test_update_refuses_other_awaitables(client):
    class Awaitable:
        def __await__(self):
            raise AssertionError("unreachable: it is never awaited")

    def check(session):
        with pytest.raises(TypeError, match="is async"):
            session.update(lambda data: Awaitable())

    await client.do(check)


async def test_without_the_middleware():
    app = Kit()

    @app.get("/")
    def index(c: Context):
        with pytest.raises(RuntimeError) as error:
            get_session(c)
        return c.text(str(error.value))

    assert await (await app.request("/")).text() == (
        "There is no session here: register app.use(session(...)) before the route"
    )


def _two_sessions(outer, inner):
    app, inner_app = Kit(), Kit()
    app.use(outer)

    @app.use
    async def counts(c, next):
        (await get_session(c)).setdefault("outer", 1)
        await next()

    inner_app.use(inner)
    inner_app.get("/login", lambda c: c.json(get_session(c).rotate(user="42")))
    inner_app.get("/look", lambda c: c.json([get_session(c).user, dict(get_session(c))]))
    app.route("/inner", inner_app)
    return app


async def _visit_twice(app):
    response = await app.request("/inner/login")
    lines = response.headers.get_set_cookie()
    cookie = "; ".join(line.partition(";")[0] for line in lines)
    response = await app.request("/inner/look", headers={"cookie": cookie})
    return len(lines), await response.json()


async def test_one_middleware_may_cover_a_route_twice(kept):
    middleware = session(**kept)
    seen = await _visit_twice(_two_sessions(middleware, middleware))
    assert seen == (1, ["42", {"outer": 1}])


async def test_of_two_middleware_with_different_cookies_the_inner_one_counts(kept):
    seen = await _visit_twice(_two_sessions(session(**kept), session(**kept, cookie="inner")))
    assert seen == (2, ["42", {}])


async def test_two_middleware_with_the_same_cookie_are_refused(kept, caplog):
    app = _two_sessions(session(**kept), session(**kept))
    assert (await app.request("/inner/login")).status == 500
    assert (
        "RuntimeError: Two session() with the cookie __Host-session cover this route: register the "
        "same one for both, or give one of them another name, session(cookie=...)"
    ) in caplog.text


async def test_a_variable_of_the_name_that_is_no_session(kept):
    app = Kit()

    @app.use
    async def sets(c, next):
        c.set("session", {"my": "own"})
        await next()

    app.use(session(**kept))
    app.get("/", lambda c: c.json(dict(get_session(c))))
    assert await (await app.request("/")).json() == {}


async def test_a_stream_is_answered_after_the_session_was_saved(client):
    seen = []

    def handle(c):
        session = get_session(c)
        session["n"] = 1

        async def send(out):
            await out.write(str(session["n"]))
            for change in (
                lambda: session.update(n=2),
                lambda: session.update(lambda data: data.update(n=2)),
                lambda: session.pop("n"),
                lambda: session.flash("late"),
                session.flashes,
                session.rotate,
                session.destroy,
                session.clear,
                lambda: session.remember(60),
                lambda: setattr(session, "data", {}),
            ):
                with pytest.raises(SessionError) as error:
                    change()
                seen.append(str(error.value))

        return stream(c, send)

    response = await client.request(handle)
    assert client.cookies
    assert await response.text() == "1"
    text = (
        "The session was saved before the headers of the response were sent, and can't be changed "
        "any more: change it before the handler returns"
    )
    assert seen == [text] * 10
    assert await client.data() == {"n": 1}


async def test_a_stream_can_not_be_the_first_to_read_the_session(client):
    await client.do(lambda s: s.update(n=1))
    seen = []

    def handle(c):
        async def send(out):
            for use in (lambda: get_session(c)["n"], lambda: get_session(c).is_new):
                with pytest.raises(SessionError):
                    use()
            with pytest.raises(SessionError) as error:
                await get_session(c)
            seen.append(str(error.value))

        return stream(c, send)

    assert await (await client.request(handle)).text() == ""
    assert seen == [
        "The headers of the response were sent without Vary: Cookie, so the session can't be read "
        "any more: read it before the handler returns"
    ]


@pytest.mark.parametrize("status", [400, 404, 499])
async def test_errors_of_the_client_save_the_session(client, status):
    async def fail(c):
        session = await get_session(c)
        session["attempts"] = session.get("attempts", 0) + 1
        raise HTTPException(status)

    for _ in range(2):
        assert (await client.request(fail)).status == status
    assert await client.data() == {"attempts": 2}


@pytest.mark.parametrize("error", [HTTPException(503), HTTPException(500), ValueError("bug")])
async def test_errors_of_the_server_save_nothing(client, error):
    await client.do(lambda s: [s.update(n=1), s.flash("x")][0])

    async def fail(c):
        session = await get_session(c)
        session["n"] = 2
        session.flashes()
        session.rotate(user="42")
        raise error

    response = await client.request(fail)
    assert response.status >= 500
    assert response.headers.get_set_cookie() == []
    assert response.headers.get("vary") == "Cookie"
    assert await client.do(lambda s: [dict(s), s.flashes(), s.user]) == [
        {"n": 1},
        [["x", "message"]],
        None,
    ]


async def test_an_error_page_that_was_returned_saves_the_session(client):
    def handle(c):
        get_session(c)["n"] = 1
        return c.text("closed", 503)

    assert (await client.request(handle)).status == 503
    assert await client.data() == {"n": 1}


async def test_an_error_that_was_answered_saves_the_session(client):
    client.app.on_error(lambda error, c: c.text("mended", 200))

    def handle(c):
        get_session(c)["n"] = 1
        raise ValueError("bug")

    assert await (await client.request(handle)).text() == "mended"
    assert await client.data() == {"n": 1}


async def test_an_error_page_that_fails_saves_nothing(client):
    @client.app.on_error
    def on_error(error, c):
        raise ValueError("bug")

    def handle(c):
        get_session(c)["n"] = 1
        raise HTTPException(404)

    assert (await client.request(handle)).status == 500
    assert await client.data() == {}


async def test_other_middleware_may_use_the_session(client):
    async def count(c, next):
        session = await get_session(c)
        session["before"] = 1
        await next()
        session["after"] = 1

    client.app.use("/late/*", count)
    client.app.get("/late/x", lambda c: c.text("x"))
    response = await client.app.request("/late/x")
    cookie = response.headers.get_set_cookie()[0].partition(";")[0].partition("=")
    client.cookies = {cookie[0]: cookie[2]}
    assert await client.data() == {"before": 1, "after": 1}


async def test_not_found_pages_have_a_session(client):
    async def not_found(c):
        (await get_session(c))["lost"] = True
        return c.text("lost", 404)

    client.app.not_found(not_found)
    response = await client.app.request("/a/b")
    assert response.status == 404
    assert len(response.headers.get_set_cookie()) == 1


@pytest.mark.parametrize(
    "use", [get_session, lambda c: dict(get_session(c)), lambda c: get_session(c).update(n=1)]
)
async def test_a_request_leaves_nothing_to_the_garbage_collector(client, use):
    class Resource:
        pass

    kept = []

    def handle(c):
        use(c)
        resource = Resource()
        c.set("resource", resource)
        kept.append(weakref.ref(resource))

    gc.disable()
    try:
        await client.request(handle)
        [resource] = kept
        assert resource() is None
    finally:
        gc.enable()
