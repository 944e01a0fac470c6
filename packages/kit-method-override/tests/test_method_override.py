# SPDX-License-Identifier: MIT
"""Which requests get another method, and what is handed on."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, File, FormData, HTTPException, Kit, Limits, Next, Response
from kit.conninfo import get_conn_info
from kit.interface import plugins
from kit.interface.metadata import get_facts
from kit.method_override import method_override
from kit.request_id import request_id
from kit.secure_headers import NONCE, secure_headers

URLENCODED = {"content-type": "application/x-www-form-urlencoded"}


async def entries(c: Context) -> Response:
    """What a handler finds: method, query and the entries of a form."""
    found: list[Any] = []
    if (c.req.header("content-type") or "").startswith(("multipart", "application/x-www")):
        for name, value in await c.req.form_data():
            found.append([name, value if isinstance(value, str) else await shown(value)])
    return c.json({"method": c.req.method, "query": c.req.queries(), "form": found})


async def shown(file: Any) -> list[Any]:
    return [file.name, file.type, (await file.bytes()).decode()]


def app_with(*outer: Any, **options: Any) -> Kit:
    app = Kit()
    for each in outer:
        app.use(each)
    app.use(method_override(app=app, **options))
    app.on(["POST", "PUT", "PATCH", "DELETE", "PURGE", "GET"], "/x", entries)
    app.post("/raw", lambda c: c.text("posted"))
    app.put("/raw", raw)
    return app


async def raw(c: Context) -> Response:
    length = c.req.header("content-length")
    return c.json(
        {"text": await c.req.text(), "type": c.req.header("content-type"), "length": length}
    )


async def answer(app: Kit, path: str = "/x", **request: Any) -> Any:
    response = await app.request(path, **{"method": "POST", **request})
    return await response.json() if response.ok else (response.status, await response.text())


def form(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {"body": urlencode(pairs), "headers": URLENCODED}


# --- forms --------------------------------------------------------------------------------------


def test_a_form_names_its_method(run: Callable[..., Any]) -> None:
    async def main() -> None:
        app = app_with()
        for method in ("PUT", "PATCH", "DELETE"):
            found = await answer(app, **form(("a", "1"), ("_method", method), ("a", "2")))
            assert found == {"method": method, "query": {}, "form": [["a", "1"], ["a", "2"]]}

    run(main)


@pytest.mark.parametrize("method", ["delete", "Delete", "patch"])
def test_the_letter_case_does_not_matter(run: Callable[..., Any], method: str) -> None:
    found = run(lambda: answer(app_with(), **form(("_method", method))))
    assert found == {"method": method.upper(), "query": {}, "form": []}


@pytest.mark.parametrize("method", [None, "", "POST", "post"])
def test_a_form_that_names_no_other_method(run: Callable[..., Any], method: str | None) -> None:
    pairs = [("a", "1")] if method is None else [("a", "1"), ("_method", method)]
    found = run(lambda: answer(app_with(), **form(*pairs)))
    assert found == {"method": "POST", "query": {}, "form": [[*pair] for pair in pairs]}


def test_the_field_is_an_option(run: Callable[..., Any]) -> None:
    request = form(("verb", "PUT"), ("_method", "DELETE"))
    found = run(lambda: answer(app_with(form="verb"), **request))
    assert found == {"method": "PUT", "query": {}, "form": [["_method", "DELETE"]]}


def test_of_several_urlencoded_fields_the_last_counts(run: Callable[..., Any]) -> None:
    request = form(("_method", "DELETE"), ("_method", "PUT"), ("a", "1"))
    found = run(lambda: answer(app_with(), **request))
    assert found == {"method": "PUT", "query": {}, "form": [["a", "1"]]}


def test_of_several_multipart_fields_the_first_counts(run: Callable[..., Any]) -> None:
    body = FormData([("_method", "DELETE"), ("_method", "PUT"), ("a", "1")])
    found = run(lambda: answer(app_with(), body=body))
    assert found == {"method": "DELETE", "query": {}, "form": [["a", "1"]]}


def test_files_and_repeated_fields_are_handed_on(run: Callable[..., Any]) -> None:
    file = File([b"one"], 'a "b".txt', type="text/plain")
    body = FormData([("f", file), ("a", "1"), ("_method", "PATCH"), ("a", "2\r\n"), ("f", file)])
    found = run(lambda: answer(app_with(), body=body))
    sent = ["f", ['a "b".txt', "text/plain", "one"]]
    assert found["method"] == "PATCH"
    assert found["form"] == [sent, ["a", "1"], ["a", "2\r\n"], sent]


def test_files_beyond_the_memory_are_handed_on(run: Callable[..., Any]) -> None:
    app = Kit(limits=Limits(spool_size_bytes=10))
    app.use(method_override(app=app))
    app.put("/x", entries)
    body = FormData([("_method", "PUT"), ("f", File([b"x" * 100_000], "x"))])
    found = run(lambda: answer(app, body=body))
    assert found["form"] == [["f", ["x", "application/octet-stream", "x" * 100_000]]]


def test_what_is_left_of_an_urlencoded_form_stays_as_it_was_sent(run: Callable[..., Any]) -> None:
    body = "b=x%20y&&a=%7e&_m%65thod=PUT&a=*&=&a"
    request = {"body": body, "headers": {**URLENCODED, "content-length": str(len(body))}}
    assert run(lambda: answer(app_with(), "/raw", **request)) == {
        "text": "b=x%20y&&a=%7e&a=*&=&a",
        "type": URLENCODED["content-type"],
        "length": None,
    }


@given(
    st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=6),
    st.text(min_size=1, max_size=5),
    st.data(),
)
def test_the_field_is_removed_and_nothing_else(
    pairs: list[tuple[str, str]], field: str, data: st.DataObject
) -> None:
    import anyio

    place = data.draw(st.integers(0, len(pairs)))
    pairs = [pair for pair in pairs if pair[0] != field]
    sent = [*pairs[:place], (field, "PUT"), *pairs[place:]]
    body = urlencode(sent, errors="replace")
    expected = [[n, v] for n, v in parse_qsl(urlencode(pairs, errors="replace"), True)]
    name = urlencode({field: ""}, errors="replace")[:-1]
    if [pair for pair in expected if pair[0] == parse_qsl(f"{name}=x", True)[0][0]]:
        return  # two lone surrogates are one name

    async def main() -> Any:
        app = app_with(form=parse_qsl(f"{name}=x", True)[0][0])
        return await answer(app, body=body, headers=URLENCODED)

    found = anyio.run(main)
    assert found == {"method": "PUT", "query": {}, "form": expected}


def test_a_file_names_no_method(run: Callable[..., Any]) -> None:
    body = FormData([("_method", File([b"PUT"], "PUT"))])
    assert run(lambda: answer(app_with(), body=body)) == REFUSED


@pytest.mark.parametrize(
    "request_",
    [
        {"json": {"_method": "DELETE"}},
        {"body": "_method=DELETE", "headers": {"content-type": "text/plain"}},
        {"body": "_method=DELETE", "headers": {"content-type": "application/x-www-form"}},
        {"body": "_method=DELETE"},
        {},
    ],
)
def test_what_is_no_form(run: Callable[..., Any], request_: dict[str, Any]) -> None:
    response = run(lambda: app_with().request("/raw", **{"method": "POST", **request_}))
    assert run(response.text) == "posted"


def test_a_malformed_form_is_a_bad_request(run: Callable[..., Any]) -> None:
    request = {"body": "--x", "headers": {"content-type": "multipart/form-data; boundary=x"}}
    status, text = run(lambda: answer(app_with(), **request))
    assert (status, text[:24]) == (400, "Malformed multipart body")


def test_a_form_beyond_the_limits(run: Callable[..., Any]) -> None:
    app = Kit(limits=Limits(max_fields=2))
    app.use(method_override(app=app))
    status, _ = run(lambda: answer(app, **form(("a", ""), ("b", ""), ("_method", "PUT"))))
    assert status == 413


# --- headers and queries ------------------------------------------------------------------------


def test_a_header_names_the_method(run: Callable[..., Any]) -> None:
    seen: list[Any] = []
    app = app_with(header="X-HTTP-Method-Override")
    app.delete("/seen", lambda c: seen.append(c.req.header()) or c.text("ok"))
    headers = {"x-http-method-override": "DELETE", "x-kept": "1", "cookie": "a=1"}
    run(lambda: app.request("/seen", method="POST", headers=headers))
    assert seen == [{"x-kept": "1", "cookie": "a=1"}]
    found = run(lambda: answer(app, **form(("_method", "PUT"))))
    assert found["method"] == "POST"


def test_a_header_that_comes_twice_is_refused(run: Callable[..., Any]) -> None:
    headers = [("x-verb", "DELETE"), ("x-verb", "PUT")]
    assert run(lambda: answer(app_with(header="x-verb"), headers=headers)) == REFUSED


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("_method=PUT", {}),
        ("a=1&_method=PUT&a=2", {"a": ["1", "2"]}),
        ("_m%65thod=PUT&b=x%20y&_method=DELETE", {"b": ["x y"]}),
    ],
)
def test_a_query_names_the_method(
    run: Callable[..., Any], query: str, left: dict[str, list[str]]
) -> None:
    found = run(lambda: answer(app_with(query="_method"), f"/x?{query}"))
    assert found == {"method": "PUT", "query": left, "form": []}


def test_the_url_keeps_all_else(run: Callable[..., Any]) -> None:
    app = app_with(query="m")
    app.put("/url/*", lambda c: c.text(c.req.url))

    async def url(path: str) -> str:
        return await (await app.request(path, method="POST")).text()

    assert run(url, "/url/a%2Fb?x=%7e&m=PUT&y=a+b") == "http://localhost/url/a%2Fb?x=%7e&y=a+b"
    assert run(url, "/url/a?m=PUT") == "http://localhost/url/a"
    assert run(url, "/url/a?m=PUT&x=1#part") == "http://localhost/url/a?x=1#part"


def test_a_name_with_a_blank_is_removed_in_each_spelling(run: Callable[..., Any]) -> None:
    app = app_with(query="the method")
    left = run(lambda: answer(app, "/x?the+method=PUT&the%20method=PUT&the%2bmethod=GET"))
    assert left == {"method": "PUT", "query": {"the+method": ["GET"]}, "form": []}


@pytest.mark.parametrize("options", [{"header": "x-verb"}, {"query": "verb"}])
def test_a_stream_is_handed_on_as_one(run: Callable[..., Any], options: dict[str, str]) -> None:
    trace: list[str] = []

    async def body() -> AsyncIterator[bytes]:
        for chunk in (b"one", b"two"):
            trace.append(chunk.decode())
            yield chunk

    app = app_with(**options)

    @app.put("/stream")
    async def stream(c: Context) -> Response:
        chunks: Any = c.req.raw.body
        async for chunk in chunks:
            trace.append(f"read {chunk.decode()}")  # noqa: PERF401 - as they come
        return c.text("ok")

    async def main() -> int:
        headers = {"x-verb": "PUT"}
        request = {"method": "POST", "headers": headers, "body": body()}
        return (await app.request("/stream?verb=PUT", **request)).status

    assert run(main) == 200
    assert trace == ["one", "read one", "two", "read two"]


@pytest.mark.parametrize("options", [{"header": "x-verb"}, {"query": "verb"}, {}])
def test_a_body_that_was_read_before(run: Callable[..., Any], options: dict[str, str]) -> None:
    async def reads(c: Context, next: Next) -> None:
        await c.req.text()
        await next()

    app = app_with(reads, **options)
    request = {**form(("a", "1"), ("_method", "PUT"))}
    request["headers"] = {**URLENCODED, "x-verb": "PUT"}
    found = run(lambda: answer(app, "/x?verb=PUT", **request))
    assert found["method"] == "PUT"
    assert ["a", "1"] in found["form"]


# --- which requests, and which methods ----------------------------------------------------------

REFUSED = (400, "A POST can't be turned into that method: expected DELETE, PATCH or PUT")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "PURGE"])
@pytest.mark.parametrize("options", [{"header": "x-verb"}, {"query": "verb"}, {}])
def test_a_post_alone_is_overridden(
    run: Callable[..., Any], method: str, options: dict[str, str]
) -> None:
    request: dict[str, Any] = {"method": method, "headers": {"x-verb": "DELETE"}}
    if method not in ("GET", "HEAD"):
        request = {**form(("_method", "DELETE")), "method": method}
        request["headers"] = {**URLENCODED, "x-verb": "DELETE"}
    app = app_with(**options)
    response = run(lambda: app.request("/x?verb=DELETE", **request))
    assert response.status == 200
    if method != "HEAD":
        assert run(response.json)["method"] == method


@pytest.mark.parametrize(
    "method", ["GET", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PURGE", "bad token", "PUT\0", "PUT "]
)
def test_a_method_that_is_not_allowed_is_refused(run: Callable[..., Any], method: str) -> None:
    assert run(lambda: answer(app_with(), **form(("_method", method)))) == REFUSED


def test_the_methods_are_an_option(run: Callable[..., Any]) -> None:
    app = app_with(methods=["purge"])
    assert run(lambda: answer(app, **form(("_method", "PURGE"))))["method"] == "PURGE"
    status, text = run(lambda: answer(app, **form(("_method", "PUT"))))
    assert (status, text) == (400, "A POST can't be turned into that method: expected PURGE")


def test_on_error_sees_a_refusal(run: Callable[..., Any]) -> None:
    app = app_with()
    seen: list[Any] = []
    app.on_error(HTTPException, lambda error, c: seen.append(error.status) or c.text("no", 400))
    assert run(lambda: answer(app, **form(("_method", "TRACE")))) == (400, "no")
    assert seen == [400]


# --- what is handed on with the request ---------------------------------------------------------


def test_env_and_execution_context_are_handed_on(run: Callable[..., Any]) -> None:
    done: list[Any] = []

    class Execution:
        def wait_until(self, awaitable: Any, /) -> None:
            done.append(awaitable)

    app = app_with()

    @app.put("/env")
    def env(c: Context) -> Response:
        c.execution_ctx.wait_until("work")  # type: ignore[arg-type]
        return c.text(c.env["name"])

    async def main() -> str:
        request: Any = {"method": "POST", **form(("_method", "PUT"))}
        response = await app.request("/env", request, {"name": "ann"}, Execution())
        return await response.text()

    assert run(main) == "ann"
    assert done == ["work"]


async def served(app: Kit, path: str, body: bytes, **scope: Any) -> tuple[int, bytes]:
    """Sends a form to an app as a server does."""
    messages = [{"type": "http.request", "body": body}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    http = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode()}
    headers = [(b"host", b"a.example"), *((k.encode(), v.encode()) for k, v in URLENCODED.items())]
    rest = {"headers": headers, "query_string": b"", "root_path": "", "client": ("10.0.0.7", 1)}
    await app({**http, **rest, **scope}, receive, send)
    return sent[0]["status"], b"".join(message["body"] for message in sent[1:])


def test_the_client_is_still_known(run: Callable[..., Any]) -> None:
    app = app_with()
    app.put("/who", lambda c: c.text(str(get_conn_info(c).remote.address)))
    assert run(served, app, "/who", b"_method=PUT") == (200, b"10.0.0.7")


@pytest.mark.parametrize("options", [{"header": "x-verb"}, {"query": "verb"}, {}])
def test_below_a_root_path(run: Callable[..., Any], options: dict[str, str]) -> None:
    app = app_with(**options)
    app.put("/books/:id", lambda c: c.text(f"{c.req.param('id')} {c.req.url} {c.req.query()}"))
    headers = [(k.encode(), v.encode()) for k, v in {**URLENCODED, "x-verb": "PUT"}.items()]
    scope = {
        "root_path": "/api",
        "raw_path": b"/api/books/a%2Fb",
        "query_string": b"verb=PUT",
        "headers": headers,
    }
    status, body = run(lambda: served(app, "/api/books/a/b", b"_method=PUT", **scope))
    left, query = ("", {}) if options.get("query") else ("?verb=PUT", {"verb": "PUT"})
    assert (status, body) == (200, f"a/b http://localhost/api/books/a%2Fb{left} {query}".encode())


def test_middleware_before_it_runs_twice_and_guards_both(run: Callable[..., Any]) -> None:
    trace: list[str] = []

    async def guard(c: Context, next: Next) -> None:
        trace.append(c.req.method)
        if c.req.method == "DELETE":
            raise HTTPException(403, "not you")
        await next()

    found = run(lambda: answer(app_with(guard), **form(("_method", "DELETE"))))
    assert found == (403, "not you")
    assert trace == ["POST", "DELETE"]


def test_the_answer_gets_what_outer_middleware_sets(run: Callable[..., Any]) -> None:
    async def mark(c: Context, next: Next) -> None:
        await next()
        c.header("x-marked", c.req.method, append=True)

    request = {"method": "POST", **form(("_method", "PUT"))}
    response = run(lambda: app_with(mark).request("/x", **request))
    assert response.headers.get("x-marked") == "PUT, POST"


def test_nothing_of_it_is_logged(run: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    run(lambda: answer(app_with(), **form(("password", "s3cret"), ("_method", "TRACE"))))
    assert "s3cret" not in caplog.text
    assert "TRACE" not in caplog.text


# --- options ------------------------------------------------------------------------------------

APP = Kit()
ONE_PLACE = "a request names its method in one place; add the middleware once for each"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"app": None}, TypeError, "takes the app that handles the requests, not None"),
        ({"app": Kit}, TypeError, "takes the app that handles the requests, not <class"),
        ({"form": "a", "query": "b"}, ValueError, "method_override() was given form= and"),
        ({"form": "a", "header": "b", "query": "c"}, ValueError, "method_override() was"),
        ({"form": 1}, TypeError, "method_override(form=...) takes a str, not 1"),
        ({"form": ""}, ValueError, "expected a name such as '_method'"),
        ({"header": "X Verb"}, ValueError, "expected a header name such as"),
        ({"query": ""}, ValueError, "expected a name such as '_method'"),
        ({"methods": 1}, TypeError, "takes a str or a list of them, not 1"),
        ({"methods": []}, ValueError, "expected at least one method"),
        ({"methods": ["PUT", "get"]}, ValueError, "expected methods that change something"),
        ({"methods": ["options"]}, ValueError, "expected methods that change something, such"),
        ({"methods": ["a b"]}, ValueError, "expected methods that change something, such as"),
    ],
)
def test_wrong_options(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        method_override(**{"app": APP, **options})
    assert text in str(caught.value)


def test_the_order_of_middleware_that_makes_something_new(run: Callable[..., Any]) -> None:
    async def main() -> tuple[bool, list[str], str | None]:
        ids: list[str] = []
        app = Kit()
        app.use(request_id())
        app.use(method_override(app=app))
        app.use(secure_headers(content_security_policy={"script_src": [NONCE]}))

        def handler(c: Context) -> Response:
            ids.append(c.get("request_id"))
            return c.text(c.get("secure_headers_nonce"))

        app.put("/x", handler)
        response = await app.request("/x", method="POST", **form(("_method", "PUT")))
        policy = response.headers["content-security-policy"]
        id_of_response = response.headers.get("x-request-id")
        return await response.text() in policy, ids, id_of_response

    has_nonce, ids, id_of_response = run(main)
    assert has_nonce
    assert ids == [id_of_response]


def test_the_app_is_needed() -> None:
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'app'"):
        method_override()  # type: ignore[call-arg]


def test_what_tools_see() -> None:
    middleware = method_override(app=APP)
    assert getattr(middleware, "__name__", None) == "method_override"
    assert get_facts(middleware).responses.keys() == {400}
    assert plugins.load("kit.middleware", "method-override") is method_override
