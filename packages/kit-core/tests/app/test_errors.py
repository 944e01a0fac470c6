# SPDX-License-Identifier: MIT
"""What answers when nothing does and when something fails: not_found, on_error, HTTPException."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
from typing import Any

import pytest

from kit import Context, HTTPException, Kit, Response
from kit.interface import KitError

TEXT = "text/plain; charset=UTF-8"


def place(function: Any) -> str:
    code = function.__code__
    return f"{function.__qualname__} ({code.co_filename}:{code.co_firstlineno})"


def failing(error: BaseException) -> Kit:
    def handler(c: Context) -> Response:
        raise error

    return Kit().get("/", handler)


async def summary(response: Response) -> tuple[int, str | None, str]:
    return response.status, response.headers.get("content-type"), await response.text()


def faults(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [str(record.exc_info[1]) for record in caplog.records if record.exc_info]


IN_CHAIN = pytest.mark.parametrize("around", [False, True], ids=["alone", "in a chain"])


async def passing(c: Context, next: Any) -> None:
    await next()


def chain(app: Kit, around: bool) -> Kit:
    """The same app, with a middleware around all of it."""
    wrapped = Kit()
    if around:
        wrapped.use(passing)
    for route in app.routes:
        wrapped.on(route.method, route.path, route.handler)
    return wrapped


# --- defaults ----------------------------------------------------------------------------------


async def test_default_404() -> None:
    assert await summary(await Kit().request("/x")) == (404, TEXT, "404 Not Found")


@IN_CHAIN
async def test_default_500_is_logged_with_its_traceback(
    around: bool, caplog: pytest.LogCaptureFixture
) -> None:
    app = chain(failing(ValueError("secret")), around)
    assert await summary(await app.request("/?token=1")) == (500, TEXT, "Internal Server Error")
    [record] = caplog.records
    assert (record.name, record.levelno) == ("kit", logging.ERROR)
    assert record.getMessage() == "Exception in GET /"
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "secret"
    assert record.exc_info[1].__traceback__ is not None  # type: ignore[union-attr]


async def test_path_in_the_log_can_not_forge_a_line(caplog: pytest.LogCaptureFixture) -> None:
    app = Kit().get("/*", lambda c: c.nothing)
    await app.request("/a%0AERROR%20forged")
    assert "\n" not in caplog.records[0].getMessage()


# --- not_found ---------------------------------------------------------------------------------


def missing(c: Context) -> Response:
    return c.json({"missing": c.req.path}, 404)


async def missing_async(c: Context) -> Response:
    await asyncio.sleep(0)
    return missing(c)


class Missing:
    def method(self, c: Context) -> Response:
        return missing(c)


@pytest.mark.parametrize(
    "handler",
    [
        pytest.param(missing, id="plain"),
        pytest.param(missing_async, id="async"),
        pytest.param(lambda c: missing_async(c), id="lambda giving a coroutine"),
        pytest.param(Missing().method, id="bound method"),
    ],
)
@IN_CHAIN
async def test_not_found(handler: Any, around: bool) -> None:
    app = Kit()
    if around:
        app.use(passing)
    assert app.not_found(handler) is app
    app.get("/asks", lambda c: c.not_found())
    for path in ("/x", "/asks"):
        expected = (404, "application/json", f'{{"missing":"{path}"}}')
        assert await summary(await app.request(path)) == expected


async def test_not_found_may_answer_200_and_is_a_decorator() -> None:
    app = Kit()

    @app.not_found()
    def fallback(c: Context) -> Response:
        return c.text("index")

    assert fallback.__name__ == "fallback"
    assert await summary(await app.request("/any")) == (200, TEXT, "index")


@IN_CHAIN
@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(None, "returned nothing: return a Response", id="None"),
        pytest.param(
            "x", "returned str, expected a Response: use c.text(...) or c.html(...)", id="str"
        ),
    ],
)
async def test_not_found_returning_no_response(
    value: Any, text: str, around: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def handler(c: Context) -> Any:
        return value

    app = Kit().not_found(handler)
    if around:
        app.use(passing)
    assert (await app.request("/x")).status == 500
    assert faults(caplog) == [f"{place(handler)} {text}"]


@IN_CHAIN
async def test_not_found_raising_reaches_on_error(around: bool) -> None:
    app = Kit().on_error(lambda error, c: c.text(f"handled {error}", 503))
    if around:
        app.use(passing)

    @app.not_found()
    async def handler(c: Context) -> Response:
        raise HTTPException(410, "gone")

    assert await summary(await app.request("/x")) == (503, TEXT, "handled 410 gone")


# --- on_error ----------------------------------------------------------------------------------


async def on_error_async(error: Exception, c: Context) -> Response:
    await asyncio.sleep(0)
    return c.text(f"{error} at {c.req.path}", 400)


@IN_CHAIN
@pytest.mark.parametrize(
    "handler",
    [
        pytest.param(lambda e, c: c.text(f"{e} at {c.req.path}", 400), id="plain"),
        pytest.param(on_error_async, id="async"),
        pytest.param(lambda e, c: on_error_async(e, c), id="lambda giving a coroutine"),
    ],
)
async def test_on_error(handler: Any, around: bool, caplog: pytest.LogCaptureFixture) -> None:
    app = chain(failing(ValueError("bad")), around)
    assert app.on_error(handler) is app
    assert await summary(await app.request("/")) == (400, TEXT, "bad at /")
    assert caplog.records == []


@IN_CHAIN
@pytest.mark.parametrize("kind", ["raises", "raises HTTPException", "nothing", "str"])
async def test_on_error_that_fails_is_called_once_and_logged(
    kind: str, around: bool, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[str] = []

    def on_error(error: Exception, c: Context) -> Any:
        calls.append(str(error))
        if kind == "raises":
            raise KeyError("second") from error
        if kind == "raises HTTPException":
            raise HTTPException(418, "teapot")
        return None if kind == "nothing" else "text"

    app = chain(failing(ValueError("first")), around).on_error(on_error)
    assert await summary(await app.request("/")) == (500, TEXT, "Internal Server Error")
    assert calls == ["first"]
    assert faults(caplog) == [
        {
            "raises": "'second'",
            "raises HTTPException": "418 teapot",
            "nothing": f"{place(on_error)} returned nothing: return a Response",
            "str": f"{place(on_error)} returned str, expected a Response: "
            "use c.text(...) or c.html(...)",
        }[kind]
    ]


@IN_CHAIN
async def test_on_error_that_raises_an_http_exception_again_leaves_it_alone(
    around: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def on_error(error: Exception, c: Context) -> Any:
        if isinstance(error, LookupError):
            return c.text("not there", 404)
        raise error

    app = chain(failing(HTTPException(403, "no", headers={"x-a": "1"})), around).on_error(on_error)
    response = await app.request("/")
    assert response.headers.get("x-a") == "1"
    assert await summary(response) == (403, TEXT, "no")
    assert faults(caplog) == []
    app = chain(failing(ValueError("first")), around).on_error(on_error)
    assert await summary(await app.request("/")) == (500, TEXT, "Internal Server Error")
    assert faults(caplog) == ["first"]


async def test_on_error_gets_http_exceptions_too_and_may_leave_them_alone() -> None:
    app = failing(HTTPException(403, "no"))
    app.on_error(lambda error, c: c.text(type(error).__name__, error.status))  # type: ignore[attr-defined]
    assert await summary(await app.request("/")) == (403, TEXT, "HTTPException")


async def test_on_error_does_not_get_what_is_no_exception() -> None:
    class Stop(BaseException):
        pass

    calls: list[Any] = []
    for around in (False, True):
        app = chain(failing(Stop("x")), around).on_error(lambda e, c: calls.append(e))  # type: ignore[arg-type,func-returns-value,return-value]
        with pytest.raises(Stop):
            await app.request("/")
    assert calls == []


@IN_CHAIN
async def test_cancellation_passes_through(around: bool) -> None:
    calls: list[Any] = []
    started = asyncio.Event()

    async def handler(c: Context) -> Response:
        started.set()
        await asyncio.sleep(3600)
        return c.text("never")

    app = chain(Kit().get("/", handler), around)
    app.on_error(lambda e, c: calls.append(e) or c.text("x"))
    task = asyncio.ensure_future(app.request("/"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls == []


# --- HTTPException -----------------------------------------------------------------------------


@IN_CHAIN
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(HTTPException(401), (401, TEXT, ""), id="no message"),
        pytest.param(HTTPException(401, "who?"), (401, TEXT, "who?"), id="message"),
        pytest.param(HTTPException(200, "fine"), (200, TEXT, "fine"), id="200"),
        pytest.param(
            HTTPException(402, res=Response.json({"a": 1})),
            (402, "application/json", '{"a":1}'),
            id="res, whose status gives way",
        ),
        pytest.param(
            HTTPException(402, "message", res=Response(b"res", status=500)),
            (402, None, "res"),
            id="res beats message",
        ),
        pytest.param(HTTPException(304), (304, None, ""), id="304"),
        pytest.param(HTTPException(204), (204, None, ""), id="204"),
    ],
)
async def test_http_exception(
    error: HTTPException, expected: Any, around: bool, caplog: pytest.LogCaptureFixture
) -> None:
    app = chain(failing(error), around)
    for _ in range(2):  # a module may keep one and raise it again and again
        assert await summary(await app.request("/")) == expected
    assert caplog.records == []


@IN_CHAIN
@pytest.mark.parametrize(
    "error",
    [
        pytest.param(HTTPException(204, "text"), id="body with 204"),
        pytest.param(HTTPException(400, "x", headers={"x": "a\nb"}), id="header with newline"),
        pytest.param(HTTPException(400, "\udc80"), id="message that is no Unicode"),
    ],
)
async def test_http_exception_that_can_not_be_sent_is_a_500(
    error: HTTPException, around: bool, caplog: pytest.LogCaptureFixture
) -> None:
    response = await chain(failing(error), around).request("/")
    assert await summary(response) == (500, TEXT, "Internal Server Error")
    assert len(faults(caplog)) == 1


async def test_http_exception_headers() -> None:
    def handler(c: Context) -> Response:
        c.header("x-before", "1")
        c.header("x-both", "before")
        c.status(418)
        res = Response("res", headers=[("x-both", "res"), ("x-last", "res")])
        res.headers.append("set-cookie", "a=1")
        res.headers.append("set-cookie", "b=2")
        raise HTTPException(429, res=res, headers={"Retry-After": "30", "x-last": "exception"})

    response = await Kit().get("/", handler).request("/")
    assert response.status == 429
    assert response.headers["x-before"] == "1"
    assert response.headers["x-both"] == "res"
    assert response.headers.get_all("x-last") == ["exception"]
    assert response.headers["retry-after"] == "30"
    assert response.headers.get_set_cookie() == ["a=1", "b=2"]


@pytest.mark.parametrize("reads_res", [False, True])
@pytest.mark.parametrize("error", [ValueError("boom"), HTTPException(403, "no")])
async def test_headers_set_before_there_is_a_response_are_on_the_error_page(
    error: Exception, reads_res: bool
) -> None:
    """Reading `c.res` makes no response of it yet."""

    async def early(c: Context, next: Any) -> None:
        c.header("cache-control", "no-store")
        c.header("set-cookie", "a=1", append=True)
        if reads_res:
            c.res.headers.set("x-early", "b")
        await next()

    response = await Kit().use(early).route("/", failing(error)).request("/")
    assert response.status == (403 if isinstance(error, HTTPException) else 500)
    assert response.headers.get("cache-control") == "no-store"
    assert response.headers.get_set_cookie() == ["a=1"]
    assert response.headers.get("x-early") == ("b" if reads_res else None)


async def test_http_exception_keeps_all_lines_of_a_header_of_res() -> None:
    challenges = [("www-authenticate", "Basic"), ("www-authenticate", "Bearer")]
    error = HTTPException(401, res=Response("who?", headers=challenges))
    response = await failing(error).request("/")
    assert response.headers["www-authenticate"] == "Basic, Bearer"


async def test_http_exception_does_not_change_its_own_response() -> None:
    res = Response("res", headers={"x-own": "1"})
    app = failing(HTTPException(401, res=res, headers={"x-exception": "1"}))
    response = await app.request("/")
    response.headers.set("x-later", "1")
    assert set(res.headers.keys()) == {"content-type", "x-own"}
    assert res.status == 200


async def test_streamed_res_of_a_kept_exception_fails_the_second_time_as_a_500(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = failing(HTTPException(401, res=Response(iter(["a", "b"]))))
    assert await (await app.request("/")).text() == "ab"
    assert (await app.request("/")).status == 500
    assert faults(caplog) == ["The body was already read; it can be read once"]


@pytest.mark.parametrize("status", [0, 100, 199, 600, "404", None, 404.0])
def test_http_exception_status(status: Any) -> None:
    with pytest.raises(ValueError, match=r"^HTTPException status must be") as caught:
        HTTPException(status)
    assert str(caught.value) == (
        f"HTTPException status must be an int from 200 to 599, not {status!r}"
    )


def test_http_exception_is_no_kit_error_and_has_a_text() -> None:
    assert not issubclass(HTTPException, KitError)
    assert (str(HTTPException(404)), str(HTTPException(404, "gone"))) == ("404", "404 gone")


# --- exception groups --------------------------------------------------------------------------


@IN_CHAIN
@pytest.mark.parametrize("depth", [1, 2, 3])
async def test_group_around_one_http_exception_is_unwrapped(depth: int, around: bool) -> None:
    error: Exception = HTTPException(402, "pay")
    for _ in range(depth):
        error = ExceptionGroup("group", [error])
    seen: list[Any] = []
    app = chain(failing(error), around)
    assert await summary(await app.request("/")) == (402, TEXT, "pay")
    app.on_error(lambda e, c: seen.append((type(e), type(c.error))) or c.text("x"))
    await app.request("/")
    assert seen == [(HTTPException, HTTPException)]


@pytest.mark.parametrize(
    "group",
    [
        pytest.param(ExceptionGroup("g", [ValueError("v")]), id="one other"),
        pytest.param(
            ExceptionGroup("g", [HTTPException(402), HTTPException(403)]), id="two HTTPExceptions"
        ),
        pytest.param(ExceptionGroup("g", [HTTPException(402), ValueError()]), id="mixed"),
        pytest.param(ExceptionGroup("g", [ExceptionGroup("h", [ValueError()])]), id="nested"),
    ],
)
async def test_any_other_group_is_a_fault_of_its_own(group: ExceptionGroup[Exception]) -> None:
    seen: list[Any] = []
    app = failing(group).on_error(lambda e, c: seen.append(e) or c.text("x", 500))
    await app.request("/")
    assert seen == [group]


async def test_task_group_in_a_handler() -> None:
    async def fail() -> None:
        raise HTTPException(409, "conflict")

    async def handler(c: Context) -> Response:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
        return c.text("never")

    assert (await Kit().get("/", handler).request("/")).status == 409


# --- the error classes -------------------------------------------------------------------------


def raised_by(handler: Any) -> Exception:
    """The error that a handler ends with."""
    errors: list[Exception] = []

    def note(error: Exception, c: Context) -> Response:
        errors.append(error)
        return c.text("")

    asyncio.run(Kit().get("/", handler).on_error(note).request("/"))
    return errors[0]


@pytest.mark.parametrize(
    "error",
    [
        raised_by(lambda c: None),
        HTTPException(418, "teapot", headers={"x": "1"}),
        HTTPException(418, res=Response("x")),
    ],
    ids=["a handler without an answer", "HTTPException", "HTTPException with res"],
)
def test_errors_survive_pickle_and_copy(error: Any) -> None:
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert set(vars(twin)) == set(vars(error))
        assert vars(twin).get("headers") == vars(error).get("headers")
    assert isinstance(error, (RuntimeError, HTTPException))
