# SPDX-License-Identifier: MIT
"""Which parts run, in which order, and what is answered."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

import kit.combine
from kit import Context, HTTPException, Kit, Next, Response
from kit.bearer_auth import bearer_auth
from kit.body_limit import body_limit
from kit.combine import UnmetConditionError, every, except_, some
from kit.interface import plugins
from kit.interface.metadata import attach, get_facts
from kit.secure_headers import secure_headers

BEARER = {"type": "http", "scheme": "bearer"}
BASIC = {"type": "http", "scheme": "basic"}
KEY = {"type": "apiKey", "in": "header", "name": "X-Key"}


class Steps:
    """Parts that note when they run, in the trace that handlers answer with."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def passes(self, name: str) -> Any:
        async def passes(c: Context, next: Next) -> None:
            self.taken.append(f"{name}>")
            await next()
            self.taken.append(f"<{name}")

        return passes

    def raises(self, name: str, error: Exception | None = None) -> Any:
        async def raises(c: Context, next: Next) -> None:
            self.taken.append(f"{name}!")
            raise error or HTTPException(401, name)

        return raises

    def raises_after(self, name: str) -> Any:
        async def raises_after(c: Context, next: Next) -> None:
            await next()
            self.taken.append(f"{name}!")
            raise HTTPException(401, name)

        return raises_after

    def answers(self, name: str) -> Any:
        async def answers(c: Context, next: Next) -> Response:
            self.taken.append(f"{name}.")
            return c.text(name, 202)

        return answers

    def answers_after(self, name: str) -> Any:
        async def answers_after(c: Context, next: Next) -> Response:
            await next()
            self.taken.append(f"{name}.")
            return c.text("too late", 202)

        return answers_after

    def answers_plainly(self, name: str) -> Any:
        def answers_plainly(c: Context, next: Next) -> Response:
            self.taken.append(f"{name}.")
            return c.text(name, 202)

        return answers_plainly

    def condition(self, name: str, result: Any) -> Any:
        def condition(c: Context) -> Any:
            self.taken.append(f"{name}?")
            return result

        return condition

    def condition_later(self, name: str, result: Any) -> Any:
        async def condition_later(c: Context) -> Any:
            self.taken.append(f"{name}?")
            return result

        return condition_later

    def twice(self, name: str) -> Any:
        async def twice(c: Context, next: Next) -> None:
            await next()
            self.taken.append(f"<{name}")
            await next()

        return twice

    def returns(self, name: str, result: bool) -> Any:
        async def returns(c: Context, next: Next) -> bool:
            self.taken.append(f"{name}:{result}")
            return result

        return returns


def ask(
    run: Callable[..., Any], middleware: Any, path: str = "/", **headers: str
) -> tuple[int, str]:
    async def main() -> tuple[int, str]:
        app = Kit()
        app.use(middleware)
        app.get("/*", lambda c: c.text("inside"))
        response = await app.request(path, headers=headers)
        return response.status, await response.text()

    found: tuple[int, str] = run(main)
    return found


INSIDE = (200, "inside")
FORBIDDEN = (403, "Forbidden")
FAULT = (500, "Internal Server Error")


# --- some ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "expected", "steps"),
    [
        (["passes a", "passes b"], INSIDE, "a> <a"),
        (["raises a", "passes b"], INSIDE, "a! b> <b"),
        (["raises a", "raises b"], (401, "b"), "a! b!"),
        (["answers a", "passes b"], (202, "a"), "a."),
        (["answers_plainly a", "passes b"], (202, "a"), "a."),
        (["raises a", "answers b"], (202, "b"), "a! b."),
        (["answers_after a", "passes b"], FAULT, "a."),
        (["condition a yes", "raises b"], INSIDE, "a?"),
        (["condition a no", "passes b"], INSIDE, "a? b> <b"),
        (["condition_later a yes", "raises b"], INSIDE, "a?"),
        (["condition_later a no", "raises b"], (401, "b"), "a? b!"),
        (["raises a", "condition b no"], FORBIDDEN, "a! b?"),
        (["condition a no"], FORBIDDEN, "a?"),
        (["raises_after a", "passes b"], (401, "a"), "a!"),
        (["returns a no", "passes b"], INSIDE, "a:False b> <b"),
        (["returns a yes", "raises b"], INSIDE, "a:True"),
        (["returns a no"], FORBIDDEN, "a:False"),
        (["twice a", "passes b"], FAULT, "<a"),
    ],
)
def test_some(
    run: Callable[..., Any], parts: list[str], expected: tuple[int, str], steps: str
) -> None:
    made = Steps()
    assert ask(run, some(*built(made, parts))) == expected
    assert " ".join(made.taken) == steps


def built(steps: Steps, parts: list[str]) -> list[Any]:
    """Makes parts of their words: a method of `Steps`, a name, and a result."""
    found = []
    for part in parts:
        method, name, *rest = part.split()
        found.append(getattr(steps, method)(name, *(each == "yes" for each in rest)))
    return found


# --- every ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "expected", "steps"),
    [
        (["passes a", "passes b"], INSIDE, "a> b> <b <a"),
        (["passes a", "raises b", "passes d"], (401, "b"), "a> b!"),
        (["passes a", "answers b", "passes d"], (202, "b"), "a> b. <a"),
        (["passes a", "answers_plainly b"], (202, "b"), "a> b. <a"),
        (["answers_after a", "passes b"], FAULT, "b> <b a."),
        (["condition a yes", "passes b"], INSIDE, "a? b> <b"),
        (["condition a yes"], INSIDE, "a?"),
        (["condition a no", "passes b"], FORBIDDEN, "a?"),
        (["condition_later a yes", "condition_later b no"], FORBIDDEN, "a? b?"),
        (["passes a", "condition b yes", "passes d"], INSIDE, "a> b? d> <d <a"),
        (["passes a", "condition b no", "passes d"], FORBIDDEN, "a> b?"),
        (["raises_after a", "passes b"], (401, "a"), "b> <b a!"),
        (["returns a no", "passes b"], FORBIDDEN, "a:False"),
        (["returns a yes", "passes b"], INSIDE, "a:True b> <b"),
        (["twice a", "passes b"], FAULT, "b> <b <a"),
        (["passes a", "twice b"], FAULT, "a> <b"),
    ],
)
def test_every(
    run: Callable[..., Any], parts: list[str], expected: tuple[int, str], steps: str
) -> None:
    made = Steps()
    assert ask(run, every(*built(made, parts))) == expected
    assert " ".join(made.taken) == steps


@pytest.mark.parametrize("combine", [some, every])
def test_a_condition_may_answer(run: Callable[..., Any], combine: Any) -> None:
    assert ask(run, combine(lambda c: c.text("moved", 202))) == (202, "moved")


@pytest.mark.parametrize("combine", [some, every])
def test_results_of_conditions_are_truth_values(run: Callable[..., Any], combine: Any) -> None:
    assert ask(run, combine(lambda c: c.req.header("x-role")), **{"x-role": "admin"}) == INSIDE
    assert ask(run, combine(lambda c: c.req.header("x-role"))) == FORBIDDEN
    assert ask(run, combine(lambda c: None)) == FORBIDDEN


def test_middleware_that_does_nothing_is_an_error(
    run: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def nothing(c: Context, next: Next) -> None:
        pass

    for combine in (some, every):
        assert ask(run, combine(nothing)) == FAULT
        assert ": return a Response or await next()" in caplog.text


def test_what_is_behind_runs_once(run: Callable[..., Any]) -> None:
    """Whatever the parts are: the handler runs once at most."""
    kinds = ["passes a", "raises a", "raises_after a", "answers a", "twice a", "returns a yes"]
    kinds += ["returns a no", "condition a yes", "condition a no"]

    @given(
        words=st.lists(st.sampled_from(kinds), min_size=1, max_size=4),
        combine=st.sampled_from([some, every, lambda *parts: except_("/none", *parts)]),
        outer=st.sampled_from([None, some, every]),
    )
    def check(words: list[str], combine: Any, outer: Any) -> None:
        ran: list[str] = []

        async def main() -> int:
            middleware = combine(*built(Steps(), words))
            app = Kit()
            app.use(middleware if outer is None else outer(middleware))
            app.get("/", lambda c: ran.append("handler") or c.text("inside"))
            return (await app.request("/")).status

        status = run(main)
        assert len(ran) <= 1
        assert status in (200, 202, 401, 403, 500)

    check()


# --- errors --------------------------------------------------------------------------------------


def test_the_refusal_of_a_condition(run: Callable[..., Any]) -> None:
    seen: list[UnmetConditionError] = []

    def is_admin(c: Context) -> bool:
        return False

    async def main(middleware: Any) -> str:
        app = Kit()
        app.use(middleware)
        app.on_error(UnmetConditionError, lambda error, c: seen.append(error) or c.text("no", 404))
        return await (await app.request("/")).text()

    for combine, name in ((some, "some()"), (every, "every()")):
        assert run(main, combine(is_admin)) == "no"
        error = seen.pop()
        assert error.combinator == name
        assert error.condition.startswith("test_the_refusal_of_a_condition.<locals>.is_admin (")
        assert str(error) == f"{name} rejected the request: {error.condition} is not met"
        assert (error.status, error.message) == (403, "Forbidden")


def test_a_refusal_is_not_logged(run: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    guard = bearer_auth(token="t0ken")
    assert ask(run, some(guard, lambda c: False)) == FORBIDDEN
    assert ask(run, every(guard))[0] == 401
    assert ask(run, every(lambda c: False)) == FORBIDDEN
    assert caplog.records == []


def test_a_fault_that_the_next_part_hides_is_logged(
    run: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    def broken(c: Context) -> bool:
        raise LookupError("no database")

    assert ask(run, some(broken, lambda c: True)) == INSIDE
    [record] = caplog.records
    assert (record.name, record.levelno) == ("kit", logging.WARNING)
    text = record.getMessage()
    assert text.startswith("test_a_fault_that_the_next_part_hides_is_logged.<locals>.broken (")
    assert text.endswith(") failed, so the next part decides")
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "no database"


def test_the_last_fault_is_raised(run: Callable[..., Any]) -> None:
    steps = Steps()
    assert ask(run, some(steps.raises("a"), steps.raises("b", ValueError("boom")))) == FAULT


def test_a_second_call_of_next_names_the_part(
    run: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    for combine in (some, every):
        caplog.clear()
        assert ask(run, combine(Steps().twice("a"))) == FAULT
        assert "Steps.twice.<locals>.twice (" in caplog.text
        assert ") called next() multiple times; call it once" in caplog.text


# --- except --------------------------------------------------------------------------------------


def guard(c: Context, next: Next) -> Response:
    return c.text("guarded", 401)


GUARDED = (401, "guarded")


@pytest.mark.parametrize(
    ("condition", "exempt", "guarded"),
    [
        ("/public/*", ["/public", "/public/", "/public/a/b"], ["/", "/publicx", "/a/public"]),
        ("/public", ["/public"], ["/public/", "/Public", "/public/a"]),
        ("/:kind/open", ["/a/open", "/%2F/open"], ["/open", "//open", "/a/b/open"]),
        ("/:id{[0-9]+}", ["/12"], ["/1a", "/\u0661"]),
        ("/a/:x?", ["/a", "/a/b"], ["/a/b/c"]),
        ("/assets*", ["/assets", "/assets-1/x"], ["/asset"]),
        ("/café", ["/café", "/caf%C3%A9"], ["/cafe"]),
        ("public", ["/public"], ["/x/public"]),
        (["/a", "/b/*"], ["/a", "/b/c"], ["/c"]),
        (("/a", lambda c: c.req.path == "/b"), ["/a", "/b"], ["/c"]),
        ({"/a": 1}.keys(), ["/a"], ["/b"]),
        (lambda c: c.req.path.startswith("/a"), ["/a", "/ab"], ["/b"]),
    ],
)
def test_except(
    run: Callable[..., Any], condition: Any, exempt: list[str], guarded: list[str]
) -> None:
    middleware = except_(condition, guard)
    for path in exempt:
        assert ask(run, middleware, path) == INSIDE, path
    for path in guarded:
        assert ask(run, middleware, path) == GUARDED, path


def test_a_pattern_of_one_segment_leaves_paths_to_the_middleware(run: Callable[..., Any]) -> None:
    middleware = except_("/:page", guard)
    assert ask(run, middleware, "/open") == INSIDE
    assert ask(run, middleware, "/open/more") == GUARDED
    assert ask(run, middleware, "/") == GUARDED


def test_conditions_of_a_generator(run: Callable[..., Any]) -> None:
    middleware = except_((path for path in ("/a", "/b")), guard)
    assert [ask(run, middleware, path) for path in ("/a", "/b", "/c")] == [INSIDE, INSIDE, GUARDED]


def test_an_async_condition_guards(run: Callable[..., Any]) -> None:
    """Hono takes the promise for a yes, so that its guard never runs."""

    async def is_admin(c: Context) -> bool:
        return c.req.header("x-role") == "admin"

    for condition in (is_admin, [is_admin], ["/open", is_admin], lambda c: is_admin(c)):
        middleware = except_(condition, guard)
        assert ask(run, middleware) == GUARDED
        assert ask(run, middleware, **{"x-role": "user"}) == GUARDED
        assert ask(run, middleware, **{"x-role": "admin"}) == INSIDE


@pytest.mark.parametrize(
    "error", [LookupError("no database"), HTTPException(418), UnmetConditionError("a", "b")]
)
def test_a_condition_that_fails_guards(
    run: Callable[..., Any], caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def broken(c: Context) -> bool:
        raise error

    assert ask(run, except_(broken, guard)) == GUARDED
    assert ask(run, except_([broken, "/open"], guard), "/open") == INSIDE
    [record] = caplog.records
    assert record.getMessage().endswith(") failed, so nothing is exempt")


def test_a_condition_that_answers_guards(
    run: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    def answers(c: Context) -> Any:
        return c.text("no")

    assert ask(run, except_(answers, guard)) == GUARDED
    assert "a condition of except_() returned a response: return a bool" in caplog.text


async def yields(c: Context) -> Any:
    yield False


def yields_plainly(c: Context) -> Any:
    yield False


def returns_an_exception(c: Context) -> Any:
    return HTTPException(403)


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        (yields, "async_generator"),
        (yields_plainly, "generator"),
        (returns_an_exception, "HTTPException"),
    ],
)
def test_what_is_no_answer_meets_no_condition(
    run: Callable[..., Any], caplog: pytest.LogCaptureFixture, condition: Any, kind: str
) -> None:
    assert ask(run, except_(condition, guard)) == GUARDED
    assert ask(run, some(condition, guard)) == GUARDED
    assert ask(run, some(condition))[0] == 500
    assert ask(run, every(condition))[0] == 500
    expected = f"returned {kind}: expected True or False; await coroutines, raise"
    assert caplog.text.count(expected) >= 4


def test_except_with_several_parts(run: Callable[..., Any]) -> None:
    steps = Steps()
    middleware = except_("/open", steps.passes("a"), lambda c: True, steps.passes("b"))
    assert ask(run, middleware) == INSIDE
    assert steps.taken == ["a>", "b>", "<b", "<a"]
    steps.taken.clear()
    assert ask(run, middleware, "/open") == INSIDE
    assert steps.taken == []
    assert ask(run, except_("/open", lambda c: False)) == FORBIDDEN


def test_patterns_are_of_whole_paths(run: Callable[..., Any]) -> None:
    async def main(path: str) -> int:
        inner = Kit()
        inner.use(except_("/api/open", guard))
        inner.get("/*", lambda c: c.text("inside"))
        app = Kit()
        app.route("/api", inner)
        return (await app.request(path)).status

    assert run(main, "/api/open") == 200
    assert run(main, "/api/closed") == 401


@pytest.mark.parametrize(
    "path",
    [
        "/public/../admin",
        "/public/%2e%2e/admin",
        "/public/..%2fadmin",
        "/public/..%2Fadmin",
        "/public%2f..%2fadmin",
        "//public/admin",
        "/admin?/public/",
        "/admin;/public/",
        "/PUBLIC/admin",
        "/admin/public/x",
        "/public\\..\\admin",
    ],
)
def test_the_exemption_and_the_routes_see_one_path(run: Callable[..., Any], path: str) -> None:
    """What is exempt by its path is never answered by a route of another path."""
    raw = path.partition("?")[0]

    async def main() -> str:
        app = Kit()
        app.use(except_("/public/*", guard))
        app.get("/public/*", lambda c: c.text("public"))
        app.get("/*", lambda c: c.text("private"))
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        from urllib.parse import unquote

        scope = {
            "type": "http", "method": "GET", "path": unquote(raw), "raw_path": raw.encode(),
            "query_string": b"", "headers": [], "root_path": "",
        }  # fmt: skip
        await app(scope, receive, send)
        return str(sent[1]["body"].decode())

    assert run(main) in ("guarded", "public")


# --- together ------------------------------------------------------------------------------------


def test_what_a_failed_part_has_set_is_kept(run: Callable[..., Any]) -> None:
    async def fails(c: Context, next: Next) -> None:
        c.set("user", "Ada")
        c.header("X-Part", "failed")
        c.status(202)
        raise HTTPException(401)

    async def main() -> tuple[int, str | None, str]:
        app = Kit()
        app.use(some(fails, lambda c: True))
        app.get("/", lambda c: c.text(c.get("user")))
        response = await app.request("/")
        return response.status, response.headers.get("x-part"), await response.text()

    assert run(main) == (202, "failed", "Ada")


@pytest.mark.parametrize("combine", [some, every])
@pytest.mark.parametrize("is_middleware", [True, False])
def test_a_refusal_counts_though_there_is_a_response(
    run: Callable[..., Any], combine: Any, is_middleware: bool
) -> None:
    async def answer_early(c: Context, next: Next) -> None:
        c.res = c.text("for those who may")
        await next()

    def condition(c: Context) -> bool:
        return False

    async def middleware(c: Context, next: Next) -> bool:
        return False

    async def test() -> None:
        app = Kit()
        app.use(answer_early, combine(middleware if is_middleware else condition))
        app.get("/", lambda c: c.text("inside"))
        response = await app.request("/")
        assert (response.status, await response.text()) == (403, "Forbidden")

    run(test)


@pytest.mark.parametrize("combine", [some, every])
def test_a_condition_that_is_met_lets_through_though_there_is_a_response(
    run: Callable[..., Any], combine: Any
) -> None:
    ran: list[str] = []

    async def answer_early(c: Context, next: Next) -> None:
        c.res = c.text("early")
        await next()

    def handler(c: Context) -> Response:
        ran.append("handler")
        return c.text("inside")

    app = Kit()
    app.use(answer_early, combine(lambda c: True))
    app.get("/", handler)
    run(app.request, "/")
    assert ran == ["handler"]


def test_nested(run: Callable[..., Any]) -> None:
    middleware = some(
        lambda c: c.req.header("x-ip") == "10.0.0.1",
        every(
            bearer_auth(token="t0ken"),
            except_("/open", lambda c: c.req.header("x-role") == "admin"),
        ),
    )
    auth = {"authorization": "Bearer t0ken"}
    assert ask(run, middleware, **{"x-ip": "10.0.0.1"}) == INSIDE
    assert ask(run, middleware, **auth) == FORBIDDEN
    assert ask(run, middleware, **auth, **{"x-role": "admin"}) == INSIDE
    assert ask(run, middleware, "/open", **auth) == INSIDE
    assert ask(run, middleware, "/open") == (401, "Unauthorized")


def test_parts_that_are_not_async(run: Callable[..., Any]) -> None:
    """Middleware may return the awaitable of `next()`, as body_limit does."""
    for combine in (some, every, lambda *parts: except_("/open", *parts)):
        assert ask(run, combine(body_limit(10))) == INSIDE
        assert ask(run, combine(body_limit(10)), **{"content-length": "11"})[0] == 413


def test_on_a_route(run: Callable[..., Any]) -> None:
    async def main(role: str) -> int:
        app = Kit()
        admin = every(lambda c: c.req.header("x-role") == "admin")
        app.get("/books/:id", admin, lambda c: c.text(c.req.param("id") or ""))
        return (await app.request("/books/1", headers={"x-role": role})).status

    assert run(main, "admin") == 200
    assert run(main, "user") == 403


# --- facts ---------------------------------------------------------------------------------------


def with_facts(**facts: Any) -> Any:
    async def middleware(c: Context, next: Next) -> None:
        await next()

    return attach(middleware, **facts)


def condition(c: Context) -> bool:
    return True


BEARER_AUTH = with_facts(security=BEARER, responses={401: "token"}, provides={"user": str})
BASIC_AUTH = with_facts(security=BASIC, responses={401: "password"}, provides={"user": int})
KEYS = with_facts(security=[KEY, BASIC], responses={400: None}, provides={"key": str})
PLAIN = with_facts(responses={429: "slow down"})


@pytest.mark.parametrize(
    ("middleware", "security", "responses", "provides"),
    [
        (some(BEARER_AUTH), (BEARER,), {401: "token"}, {"user": str}),
        (
            some(BEARER_AUTH, BASIC_AUTH),
            (BEARER, BASIC),
            {401: "password"},
            {"user": str | int},
        ),
        (
            some(BEARER_AUTH, PLAIN),
            (BEARER, ()),
            {401: "token", 429: "slow down"},
            {"user": str | None},
        ),
        (some(condition, BEARER_AUTH), ((), BEARER), {401: "token"}, {"user": str | None}),
        (
            some(BEARER_AUTH, condition),
            (BEARER, ()),
            {401: "token", 403: "A condition isn't met"},
            {"user": str | None},
        ),
        (some(BASIC_AUTH, KEYS, BASIC_AUTH), (BASIC, KEY), {401: "password", 400: None}, None),
        (some(PLAIN), (), {429: "slow down"}, {}),
        (every(BEARER_AUTH), (BEARER,), {401: "token"}, {"user": str}),
        (
            every(BEARER_AUTH, PLAIN, condition),
            (BEARER,),
            {401: "token", 429: "slow down", 403: "A condition isn't met"},
            {"user": str},
        ),
        (every(BEARER_AUTH, BASIC_AUTH), ((BEARER, BASIC),), {401: "password"}, {"user": int}),
        (
            every(BEARER_AUTH, KEYS),
            ((BEARER, KEY), (BEARER, BASIC)),
            {401: "token", 400: None},
            {"user": str, "key": str},
        ),
        (every(BASIC_AUTH, KEYS), ((BASIC, KEY), BASIC), {401: "password", 400: None}, None),
        (every(some(BEARER_AUTH, PLAIN), KEYS), None, None, None),
        (except_("/a", BEARER_AUTH), (BEARER,), {401: "token"}, {"user": str}),
        (except_(condition, BEARER_AUTH), (BEARER, ()), {401: "token"}, {"user": str}),
        (except_(condition, some(BEARER_AUTH, PLAIN)), (BEARER, ()), None, None),
    ],
)
def test_facts(middleware: Any, security: Any, responses: Any, provides: Any) -> None:
    facts = get_facts(middleware)
    if security is None:
        assert facts.security == ((BEARER, KEY), (BEARER, BASIC), KEY, BASIC)
        return
    assert facts.security == security
    assert responses is None or facts.responses == responses
    assert provides is None or facts.provides == provides


def test_facts_of_exemptions() -> None:
    facts = get_facts(except_(["/a", condition, "/b/*"], BEARER_AUTH))
    assert facts.others == {"combine_except": ("/a", "/b/*")}


def test_a_fact_that_is_no_type() -> None:
    odd = with_facts(provides={"user": ("no", "type")})
    assert get_facts(some(odd, BEARER_AUTH)).provides == {"user": Any}
    validates = with_facts(validates={"json": dict}, describes={"summary": "Adds"})
    assert get_facts(every(validates)).validates == {"json": dict}
    assert get_facts(every(validates)).describes == {"summary": "Adds"}


# --- creation ------------------------------------------------------------------------------------


def takes_three(c: Context, next: Next, more: int) -> None: ...


class Token(Struct):
    text: Any


User = Annotated[Token, "a marker"]

WRONG_PARTS: list[tuple[tuple[Any, ...], str]] = [
    ((), "takes at least one middleware, but got none"),
    ((Token,), f"takes middleware (c, next) and conditions (c), not the type {Token!r}: write Dep"),
    ((guard, User), "takes middleware (c, next) and conditions (c), not the type typing.Annotated"),
    (("/x",), "takes middleware (c, next) and conditions (c), not '/x'"),
    ((guard, None), "takes middleware (c, next) and conditions (c), not None"),
    (([guard],), f"takes middleware (c, next) and conditions (c), not {[guard]!r}"[:100]),
    (
        (takes_three,),
        "takes middleware (c, next) and conditions (c), "
        "not takes_three(c: 'Context', next: 'Next', more: 'int') -> 'None': "
        "is this a factory that has to be called?",
    ),
    (
        (secure_headers,),
        "takes middleware (c, next) and conditions (c), "
        "not secure_headers(*, content_security_policy: 'ContentSecurityPolicy | None' = None, "
        "content_security_p: is this a factory that has to be called?",
    ),
]


@pytest.mark.parametrize(("parts", "text"), WRONG_PARTS)
@pytest.mark.parametrize("name", ["some", "every", "except_"])
def test_wrong_parts(name: str, parts: tuple[Any, ...], text: str) -> None:
    combine: Any = {"some": some, "every": every, "except_": except_}[name]
    before = ("/x",) if name == "except_" else ()
    with pytest.raises(TypeError) as raised:
        combine(*before, *parts)
    assert str(raised.value).startswith(f"{name}() {text}")
    assert len(str(raised.value)) < 250


@pytest.mark.parametrize(
    ("conditions", "error", "text"),
    [
        (5, TypeError, "takes a path pattern, a condition (c), or a list of them, not 5"),
        (["/x", 5], TypeError, "takes a path pattern, a condition (c), or a list of them, not"),
        (b"/x", TypeError, "takes a path pattern, a condition (c), or a list of them, not"),
        (Token, TypeError, "takes a path pattern, a condition (c), or a list of them, not"),
        ([User], TypeError, "takes a path pattern, a condition (c), or a list of them, not"),
        ({"/x": 1}, TypeError, "takes a path pattern, a condition (c), or a list of them, not"),
        (iter(()), ValueError, "expected at least one; without any, use the middleware itself"),
        ([], ValueError, "expected at least one; without any, use the middleware itself"),
        ("", ValueError, "except_(condition='') can't be used: it is empty; the root is '/'"),
        ("/users/{id}", ValueError, "'{id}' is no parameter of Kit, which has one colon, at"),
        (
            "/a?b",
            ValueError,
            "except_(condition='/a?b') can't be used: a path can't contain '?' or '#'",
        ),
        (["/a", "/caf%C3%A9"], ValueError, "paths are decoded before they are matched: write"),
        ("/:x{[}", ValueError, "invalid regular expression '[': unterminated character set"),
        ("*", ValueError, "expected a pattern that leaves paths to the middleware"),
        (["/a", "/*"], ValueError, "expected a pattern that leaves paths to the middleware"),
    ],
)
def test_wrong_conditions(conditions: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        except_(conditions, guard)
    assert text in str(raised.value)


def test_a_condition_that_takes_next() -> None:
    with pytest.raises(TypeError) as raised:
        except_(guard, guard)  # type: ignore[arg-type]
    assert str(raised.value).startswith(
        "except_(condition=...) takes a path pattern, a condition (c), or a list of them, "
        "not <function guard at 0x"
    )


def test_public_names() -> None:
    assert kit.combine.__all__ == ("Condition", "UnmetConditionError", "every", "except_", "some")
    for name, function in (("some", some), ("every", every), ("except", except_)):
        assert plugins.load("kit.middleware", name) is function
    assert repr(UnmetConditionError) == "<class 'kit.combine.UnmetConditionError'>"


def test_names() -> None:
    middleware: list[Any] = [some(guard), every(guard), except_("/x", guard)]
    assert [each.__name__ for each in middleware] == ["some", "every", "except_"]
