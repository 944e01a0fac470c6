# SPDX-License-Identifier: MIT
"""Parents of spans, and where the span of a request is current."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from opentelemetry import baggage, propagate
from opentelemetry.propagators.textmap import TextMapPropagator
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased
from opentelemetry.trace import format_span_id, format_trace_id, get_current_span

from kit import Context, Kit, Response, in_thread
from kit.opentelemetry import TraceIdFilter, opentelemetry
from kit.streaming import stream
from kit.websocket import upgrade_websocket

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
SAMPLED = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=1", "baggage": "a=b"}
UNSAMPLED = {"traceparent": f"00-{TRACE}-{PARENT}-00"}


def current() -> str:
    """The current span's id."""
    return format_span_id(get_current_span().get_span_context().span_id)


def id_of(span: Any) -> str:
    return format_span_id(span.context.span_id)


def test_parent_of_the_caller(run: Any, served: Any, telemetry: Any) -> None:
    app = Kit().use(telemetry.middleware())
    app.get("/", lambda c: c.text(str(baggage.get_baggage("a"))))
    request = run(served(headers=SAMPLED).by, app)
    span = telemetry.span
    assert format_trace_id(span.context.trace_id) == TRACE
    assert format_span_id(span.parent.span_id) == PARENT
    assert span.parent.is_remote
    assert span.context.trace_state.get("vendor") == "1"
    assert request.body == b"b"


@pytest.mark.parametrize(
    "traceparent",
    [
        "",
        "garbage",
        f"00-{TRACE}-{PARENT}",
        f"ff-{TRACE}-{PARENT}-01",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-01-more",
    ],
)
def test_malformed_traceparent(run: Any, served: Any, telemetry: Any, traceparent: str) -> None:
    app = Kit().use(telemetry.middleware())
    run(served(headers={"traceparent": traceparent}).by, app)
    assert telemetry.span.parent is None


def test_headers_in_several_lines(run: Any, served: Any, telemetry: Any) -> None:
    app = Kit().use(telemetry.middleware())
    app.get("/", lambda c: c.text(str(sorted(baggage.get_all().items()))))
    request = served(headers=SAMPLED)
    request.scope["headers"] += [(b"baggage", b"c=d"), (b"tracestate", b"other=2")]
    assert run(request.by, app).body == b"[('a', 'b'), ('c', 'd')]"
    span = telemetry.span
    assert format_trace_id(span.context.trace_id) == TRACE
    assert [*span.context.trace_state.items()] == [("vendor", "1"), ("other", "2")]


def test_two_traceparents_are_invalid(run: Any, served: Any, telemetry: Any) -> None:
    app = Kit().use(telemetry.middleware())
    request = served(headers=SAMPLED)
    request.scope["headers"].append((b"traceparent", UNSAMPLED["traceparent"].encode()))
    run(request.by, app)
    assert telemetry.span.parent is None
    assert len(telemetry.span.context.trace_state) == 0


def by_header(c: Context) -> bool:
    return c.req.header("x-inside") == "1"


async def by_header_async(c: Context) -> bool:
    return by_header(c)


def failing(c: Context) -> bool:
    raise ValueError("x")


@pytest.mark.parametrize("trust", [False, by_header, by_header_async, failing])
def test_untrusted_caller(
    run: Any, served: Any, telemetry: Any, trust: Any, caplog: pytest.LogCaptureFixture
) -> None:
    app = Kit().use(telemetry.middleware(trust_incoming=trust))
    app.get("/", lambda c: c.text(str(baggage.get_baggage("a"))))
    assert run(served(headers=SAMPLED).by, app).body == b"None"
    span = telemetry.span
    assert span.parent is None
    assert format_trace_id(span.context.trace_id) != TRACE
    [link] = span.links
    assert format_trace_id(link.context.trace_id) == TRACE
    assert format_span_id(link.context.span_id) == PARENT
    assert [record.message for record in caplog.records] == (
        ["opentelemetry(trust_incoming=...) failed, so the request begins a new trace"]
        if trust is failing
        else []
    )


@pytest.mark.parametrize("trust", [True, by_header, by_header_async])
def test_trusted_caller(run: Any, served: Any, telemetry: Any, trust: Any) -> None:
    app = Kit().use(telemetry.middleware(trust_incoming=trust))
    app.get("/", lambda c: c.text(str(baggage.get_baggage("a"))))
    assert run(served(headers={**SAMPLED, "x-inside": "1"}).by, app).body == b"b"
    assert format_trace_id(telemetry.span.context.trace_id) == TRACE
    assert telemetry.span.links == ()


@pytest.mark.parametrize("headers", [{}, {"baggage": "a=b"}, {"traceparent": "garbage"}])
def test_untrusted_caller_without_a_span(
    run: Any, served: Any, telemetry: Any, headers: dict[str, str]
) -> None:
    app = Kit().use(telemetry.middleware(trust_incoming=False))
    app.get("/", lambda c: c.text(str(baggage.get_baggage("a"))))
    assert run(served(headers=headers).by, app).body == b"None"
    assert telemetry.span.links == ()


def test_untrusted_request_of_a_handler_has_no_link_to_its_parent(
    run: Any, served: Any, telemetry: Any
) -> None:
    app = Kit().use(telemetry.middleware(trust_incoming=False))

    @app.get("/")
    async def handler(c: Context) -> Response:
        return await app.request("/inner", {"headers": {"baggage": "a=b"}})

    app.get("/inner", lambda c: c.text("ok"))
    run(served().by, app)
    inner, outer = telemetry.spans
    assert inner.parent.span_id == outer.context.span_id
    assert inner.links == ()


def test_untrusted_caller_does_not_decide_what_is_sampled(
    run: Any, served: Any, telemetry_of: Any
) -> None:
    for root, headers, count in ((ALWAYS_OFF, SAMPLED, 0), (ALWAYS_ON, UNSAMPLED, 1)):
        telemetry = telemetry_of(ParentBased(root))
        run(served(headers=headers).by, Kit().use(telemetry.middleware(trust_incoming=False)))
        assert len(telemetry.spans) == count


@pytest.mark.parametrize("trust", [False, by_header, by_header_async, failing])
def test_untrusted_trace_goes_no_further_without_an_sdk(run: Any, served: Any, trust: Any) -> None:
    app = Kit().use(opentelemetry(trust_incoming=trust))
    seen: dict[str, str] = {}

    @app.get("/")
    def handler(c: Context) -> Response:
        propagate.inject(seen)
        return c.text("ok")

    assert run(served(headers=SAMPLED).by, app).status == 200
    assert seen == {}
    if callable(trust) and trust is not failing:
        run(served(headers={**SAMPLED, "x-inside": "1"}).by, app)
        assert seen == SAMPLED


def test_unsampled_parent(run: Any, served: Any, telemetry_of: Any) -> None:
    telemetry = telemetry_of(ParentBased(ALWAYS_ON))
    seen: dict[str, str] = {}
    app = Kit().use(telemetry.middleware())

    @app.get("/")
    async def handler(c: Context) -> Response:
        propagate.inject(seen)
        return c.body(chunks())

    async def chunks() -> AsyncIterator[bytes]:
        yield current().encode()

    request = run(served(headers=UNSAMPLED).by, app)
    assert telemetry.spans == ()
    # What it calls isn't sampled either.
    assert seen["traceparent"].startswith(f"00-{TRACE}-")
    assert seen["traceparent"].endswith("-00")
    assert request.body.decode() == seen["traceparent"].split("-")[2]


@pytest.mark.parametrize("is_streamed", [False, True])
def test_unsampled_in_process(run: Any, telemetry_of: Any, is_streamed: bool) -> None:
    telemetry = telemetry_of(ParentBased(ALWAYS_ON))
    app = Kit().use(telemetry.middleware())
    seen = []

    async def chunks() -> AsyncIterator[str]:
        yield current()

    @app.get("/")
    def handler(c: Context) -> Response:
        seen.append(current())
        return c.body(chunks()) if is_streamed else c.text(current())

    async def ask() -> str:
        response = await app.request("/", {"headers": UNSAMPLED})
        return await response.text()

    assert [run(ask)] == seen
    assert telemetry.spans == ()


def test_cancelled_without_an_sdk(run: Any, served: Any) -> None:
    app = Kit().use(opentelemetry())

    @app.get("/")
    async def handler(c: Context) -> Response:
        scope.cancel()
        await checkpoint()
        raise AssertionError

    async def ask() -> None:
        nonlocal scope
        with anyio.CancelScope() as scope:
            await served(headers=SAMPLED).by(app)
        assert current() == "0" * 16

    scope: Any = None
    run(ask)


def test_sampler_sees_the_attributes(run: Any, served: Any, telemetry_of: Any) -> None:
    seen = []

    class Noting(type(ALWAYS_OFF)):  # type: ignore[misc]
        def should_sample(self, *args: Any, **kwargs: Any) -> Any:
            seen.append(dict(kwargs.get("attributes") or args[4]))
            return super().should_sample(*args, **kwargs)

    telemetry = telemetry_of(Noting(ALWAYS_OFF._decision))
    run(served(path="/livez").by, Kit().use(telemetry.middleware()))
    assert seen[0]["url.path"] == "/livez"
    assert telemetry.spans == ()


@pytest.mark.parametrize("has_parent", [True, False])
def test_without_an_sdk_the_trace_goes_on(run: Any, served: Any, has_parent: bool) -> None:
    seen: dict[str, str] = {}
    app = Kit().use(opentelemetry())
    bodies = []

    @app.get("/")
    async def handler(c: Context) -> Response:
        propagate.inject(seen)
        return c.body(chunks())

    async def chunks() -> AsyncIterator[bytes]:
        yield current().encode()

    headers = SAMPLED if has_parent else {}
    bodies.append(run(served(headers=headers).by, app).body)

    async def in_process() -> None:
        response = await app.request("/", {"headers": headers})
        bodies.append(await response.bytes())

    run(in_process)
    assert seen == (SAMPLED if has_parent else {})
    assert bodies == [(PARENT if has_parent else "0" * 16).encode()] * 2


def test_other_propagators(run: Any, served: Any, telemetry: Any) -> None:
    class Ours(TextMapPropagator):
        fields = {"x-ours"}  # noqa: RUF012

        def extract(self, carrier: Any, context: Any = None, getter: Any = None) -> Any:
            assert "x-read" in getter.keys(carrier)
            [value] = getter.get(carrier, "x-read")
            assert getter.get(carrier, "x-absent") is None
            return baggage.set_baggage("a", value, context)

        def inject(self, *args: Any, **kwargs: Any) -> None:
            raise AssertionError

    app = Kit().use(telemetry.middleware())
    app.get("/", lambda c: c.text(str(baggage.get_baggage("a"))))
    before = propagate.get_global_textmap()
    propagate.set_global_textmap(Ours())
    try:
        assert run(served(headers={"x-read": "c"}).by, app).body == b"c"
    finally:
        propagate.set_global_textmap(before)


def test_current_wherever_the_request_runs(run: Any, served: Any, telemetry: Any) -> None:
    seen: dict[str, str] = {}
    app = Kit().use(telemetry.middleware())

    async def later() -> None:
        await checkpoint()
        seen["wait_until"] = current()

    async def chunks() -> AsyncIterator[bytes]:
        seen["stream"] = current()
        yield b"a"
        await checkpoint()
        seen["stream, later"] = current()

    def in_a_thread(c: Context) -> Response:
        seen["thread"] = current()
        raise ValueError

    @app.get("/")
    async def handler(c: Context) -> Response:
        seen["handler"] = current()
        c.execution_ctx.wait_until(later())
        return c.body(chunks())

    app.get("/thread", in_thread(in_a_thread))

    @app.on_error
    def on_error(error: Exception, c: Context) -> Response:
        seen["on_error"] = current()
        return c.text("x", 500)

    @app.get("/push")
    def push(c: Context) -> Response:
        async def write(api: Any) -> None:
            seen["push"] = current()
            await api.write(b"a")

        return stream(c, write)

    run(served().by, app)
    places = {"handler", "stream", "stream, later", "wait_until"}
    assert {place: id_of(telemetry.span) for place in places} == seen
    for path, place in (("/thread", {"thread", "on_error"}), ("/push", {"push"})):
        telemetry.exporter.clear()
        seen.clear()
        run(served(path=path).by, app)
        assert dict.fromkeys(place, id_of(telemetry.span)) == seen


def test_issue_python_3477_the_error_handler_of_a_missing_response_has_the_id(
    run: Any, served: Any, telemetry: Any
) -> None:
    seen = []
    app = Kit().use(telemetry.middleware())
    app.get("/", lambda c: None)

    @app.on_error
    def on_error(error: Exception, c: Context) -> Response:
        seen.append(current())
        return c.text("x", 500)

    run(served().by, app)
    assert seen == [id_of(telemetry.span)]


def test_streams_read_in_process(run: Any, telemetry: Any) -> None:
    app = Kit().use(telemetry.middleware())

    async def chunks() -> AsyncIterator[str]:
        try:
            yield current()
            yield current()
        finally:
            closed.append(current())

    closed: list[str] = []
    app.get("/", lambda c: c.body(chunks(), headers={"content-length": "32"}))

    async def ask() -> None:
        response = await app.request("/")
        assert response.headers.get("content-length") == "32"
        assert telemetry.spans == ()
        assert await response.text() == id_of(telemetry.span) * 2
        telemetry.exporter.clear()
        read = (await app.request("/")).body.__aiter__()
        await read.__anext__()
        await read.aclose()
        assert closed[-1] == id_of(telemetry.span)

    run(ask)
    assert len(closed) == 2


def test_concurrent_requests_do_not_mix(run: Any, served: Any, telemetry: Any) -> None:
    app = Kit().use(telemetry.middleware())

    @app.get("/:n")
    async def handler(c: Context) -> Response:
        before = current()
        for _ in range(3):
            await checkpoint()
        assert current() == before
        return c.text(before)

    requests = [served(path=f"/{n}") for n in range(20)]

    async def ask() -> None:
        async with anyio.create_task_group() as group:
            for request in requests:
                group.start_soon(request.by, app)

    run(ask)
    ids = {span.attributes["url.path"]: id_of(span) for span in telemetry.spans}
    assert {each.scope["path"]: each.body.decode() for each in requests} == ids
    assert len({span.context.trace_id for span in telemetry.spans}) == 20


def test_one_span_for_apps_within_apps(run: Any, served: Any, telemetry: Any) -> None:
    inner = Kit().use(telemetry.middleware())
    inner.get("/users/:id", lambda c: c.text("x"))
    app = Kit().use(telemetry.middleware())
    app.route("/api", inner)
    app.mount("/mounted", inner.fetch)
    run(served(path="/api/users/7").by, app)
    run(served(path="/mounted/users/7", root_path="").by, app)
    run(app.request, "/api/users/7")
    assert [span.name for span in telemetry.spans] == [
        "GET /api/users/:id",
        "GET /mounted/*",
        "GET /api/users/:id",
    ]


def test_root_path_is_part_of_the_route(run: Any, served: Any, telemetry: Any) -> None:
    app = Kit().use(telemetry.middleware())
    app.get("/users/:id", lambda c: c.text("x"))
    run(served(path="/v1/users/7", root_path="/v1").by, app)
    assert telemetry.span.attributes["http.route"] == "/v1/users/:id"
    assert telemetry.span.attributes["url.path"] == "/v1/users/7"


def test_route_below_a_mount_has_its_parameters_by_name(
    run: Any, served: Any, telemetry: Any
) -> None:
    inner = Kit().use(telemetry.middleware())
    inner.get("/users/:id", lambda c: c.text("x"))
    app = Kit().mount("/t/:tenant", inner.fetch)
    run(served(path="/v1/t/acme/users/7", root_path="/v1").by, app)
    assert telemetry.span.attributes["http.route"] == "/v1/t/:tenant/users/:id"


def test_a_request_of_a_handler_is_a_child(run: Any, served: Any, telemetry: Any) -> None:
    app = Kit().use(telemetry.middleware())
    app.get("/inner", lambda c: c.text("x"))

    @app.get("/outer")
    async def outer(c: Context) -> Response:
        before = current()
        response = await app.request("/inner")
        assert current() == before
        return response

    run(served(path="/outer").by, app)
    inner, outer_span = telemetry.spans
    assert inner.parent.span_id == outer_span.context.span_id


def test_websocket_without_an_sdk(run: Any) -> None:
    app = Kit().use(opentelemetry())
    seen = []

    @app.get("/ws")
    @upgrade_websocket
    async def talk(c: Context, ws: Any) -> None:
        seen.append(current())

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        pass

    headers = [(b"traceparent", SAMPLED["traceparent"].encode())]
    run(app, {"type": "websocket", "path": "/ws", "headers": headers}, receive, send)
    assert seen == [PARENT]


def test_websocket(run: Any, telemetry: Any) -> None:
    app = Kit().use(telemetry.middleware(meter_provider=telemetry.meters))
    seen = []

    @app.get("/ws/:room")
    @upgrade_websocket
    async def talk(c: Context, ws: Any) -> None:
        seen.append((current(), len(telemetry.spans)))

    messages: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {
        "type": "websocket",
        "path": "/ws/a",
        "raw_path": b"/ws/a",
        "headers": [(b"host", b"a.example")],
        "scheme": "ws",
        "http_version": "1.1",
    }
    run(app, scope, receive, send)
    span = telemetry.span
    assert messages[0]["type"] == "websocket.accept"
    assert span.name == "GET /ws/:room"
    assert span.attributes["http.response.status_code"] == 101
    # The span is that of the handshake; it is the parent of what the connection does.
    assert seen == [(id_of(span), 1)]
    assert [point.value for point in telemetry.points("http.server.active_requests")] == [0]
    assert len(telemetry.points("http.server.request.duration")) == 1


def test_trace_ids_in_log_records(run: Any, served: Any, telemetry: Any) -> None:
    records = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(self.format(record))

    logger = logging.Logger("app")
    handler = Keeping()
    handler.setFormatter(logging.Formatter("%(trace_id)s %(span_id)s %(message)s"))
    handler.addFilter(TraceIdFilter())
    logger.addHandler(handler)
    app = Kit().use(telemetry.middleware())

    @app.get("/")
    def hello(c: Context) -> Response:
        logger.info("hello")
        logger.info("own", extra={"trace_id": "t", "span_id": "s"})
        logger.info("one", extra={"trace_id": "t"})
        return c.text("x")

    run(served().by, app)
    logger.info("outside")
    span = telemetry.span
    trace_id = format_trace_id(span.context.trace_id)
    assert records == [
        f"{trace_id} {id_of(span)} hello",
        "t s own",
        f"t {id_of(span)} one",
        "- - outside",
    ]


def test_filter_checks_its_default() -> None:
    with pytest.raises(TypeError) as caught:
        TraceIdFilter(default=None)  # type: ignore[arg-type]
    assert str(caught.value) == "TraceIdFilter(default=...) takes a str, not None"
