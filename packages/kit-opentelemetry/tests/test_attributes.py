# SPDX-License-Identifier: MIT
"""What a span tells about its request, attribute by attribute."""

from __future__ import annotations

import re
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.semconv._incubating.attributes import http_attributes as incubating
from opentelemetry.semconv.attributes import (
    client_attributes,
    error_attributes,
    http_attributes,
    network_attributes,
    server_attributes,
    url_attributes,
    user_agent_attributes,
)
from opentelemetry.semconv.metrics import http_metrics
from opentelemetry.trace import SpanKind, StatusCode

from kit import Context, Kit, Response


def app_of(middleware: Any) -> Kit:
    app = Kit()
    app.use(middleware)
    app.get("/users/:id", lambda c: c.text(c.req.param("id") or ""))
    return app


def test_all_attributes(run: Any, served: Any, telemetry: Any) -> None:
    request = served(path="/users/7?full=1", headers={"user-agent": "curl/8.0"})
    run(request.by, app_of(telemetry.middleware()))
    span = telemetry.span
    assert span.name == "GET /users/:id"
    assert span.kind is SpanKind.SERVER
    assert span.status.status_code is StatusCode.UNSET
    assert span.parent is None
    assert span.events == ()
    assert span.instrumentation_scope.name == "kit.opentelemetry"
    assert dict(span.attributes) == {
        http_attributes.HTTP_REQUEST_METHOD: "GET",
        http_attributes.HTTP_ROUTE: "/users/:id",
        http_attributes.HTTP_RESPONSE_STATUS_CODE: 200,
        url_attributes.URL_PATH: "/users/7",
        url_attributes.URL_QUERY: "full=1",
        url_attributes.URL_SCHEME: "http",
        server_attributes.SERVER_ADDRESS: "api.example",
        server_attributes.SERVER_PORT: 8000,
        client_attributes.CLIENT_ADDRESS: "192.0.2.7",
        network_attributes.NETWORK_PEER_ADDRESS: "192.0.2.7",
        network_attributes.NETWORK_PEER_PORT: 50123,
        network_attributes.NETWORK_PROTOCOL_VERSION: "1.1",
        user_agent_attributes.USER_AGENT_ORIGINAL: "curl/8.0",
    }


def test_names_of_what_is_not_in_every_span() -> None:
    assert http_attributes.HTTP_REQUEST_METHOD_ORIGINAL == "http.request.method_original"
    assert http_attributes.HTTP_REQUEST_HEADER_TEMPLATE == "http.request.header"
    assert http_attributes.HTTP_RESPONSE_HEADER_TEMPLATE == "http.response.header"
    assert error_attributes.ERROR_TYPE == "error.type"
    assert http_metrics.HTTP_SERVER_REQUEST_DURATION == "http.server.request.duration"
    assert incubating.HTTP_REQUEST_BODY_SIZE == "http.request.body.size"


def test_no_route(run: Any, served: Any, telemetry: Any) -> None:
    request = run(served(path="/nowhere").by, app_of(telemetry.middleware()))
    assert request.status == 404
    span = telemetry.span
    assert span.name == "GET"
    assert "http.route" not in span.attributes
    assert span.attributes["http.response.status_code"] == 404
    assert span.status.status_code is StatusCode.UNSET
    assert "error.type" not in span.attributes


def test_method_not_allowed(run: Any, served: Any, telemetry: Any) -> None:
    app = Kit(method_not_allowed=True).use(telemetry.middleware())
    app.get("/users/:id", lambda c: c.text("x"))
    request = run(served("POST", "/users/7").by, app)
    assert request.status == 405
    assert telemetry.span.name == "POST"
    assert telemetry.span.status.status_code is StatusCode.UNSET


def test_unknown_method(run: Any, served: Any, telemetry: Any) -> None:
    app = Kit().use(telemetry.middleware())
    app.all("/users/:id", lambda c: c.text("x"))
    run(served("PURGE", "/users/7").by, app)
    span = telemetry.span
    assert span.name == "HTTP /users/:id"
    assert span.attributes["http.request.method"] == "_OTHER"
    assert span.attributes["http.request.method_original"] == "PURGE"


def test_known_methods_of_the_environment(
    run: Any, served: Any, telemetry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS", "GET, PURGE")
    app = Kit().use(telemetry.middleware())
    app.all("/", lambda c: c.text("x"))
    run(served("PURGE").by, app)
    run(served("POST").by, app)
    assert [span.name for span in telemetry.spans] == ["PURGE /", "HTTP /"]


def test_head(run: Any, served: Any, telemetry: Any) -> None:
    request = run(served("HEAD", "/users/7").by, app_of(telemetry.middleware()))
    assert request.status == 200
    assert telemetry.span.name == "HEAD /users/:id"


@pytest.mark.parametrize(
    ("host", "address", "port"),
    [
        ("api.example", "api.example", 80),
        ("api.example:9000", "api.example", 9000),
        ("[2001:db8::1]:9000", "2001:db8::1", 9000),
        ("[2001:db8::1]", "2001:db8::1", 80),
        ("2001:db8::1", "2001:db8::1", 80),
        ("api.example:99999", "api.example", 80),
        ("api.example:", "api.example:", 80),
        ("", "10.0.0.1", 8000),
    ],
)
def test_host(run: Any, served: Any, telemetry: Any, host: str, address: str, port: int) -> None:
    run(served(headers={"host": host}).by, app_of(telemetry.middleware()))
    assert telemetry.span.attributes["server.address"] == address
    assert telemetry.span.attributes["server.port"] == port


def test_empty_user_agent(run: Any, served: Any, telemetry: Any) -> None:
    run(served(headers={"user-agent": ""}).by, app_of(telemetry.middleware()))
    assert "user_agent.original" not in telemetry.span.attributes


def test_default_port_of_https(run: Any, served: Any, telemetry: Any) -> None:
    run(served(headers={"host": "a.example"}, scheme="https").by, app_of(telemetry.middleware()))
    assert telemetry.span.attributes["server.port"] == 443
    assert telemetry.span.attributes["url.scheme"] == "https"


def test_unix_socket(run: Any, served: Any, telemetry: Any) -> None:
    request = served(client=None, server=("/run/kit.sock", None), http_version="")
    request.scope["headers"] = []
    run(request.by, app_of(telemetry.middleware()))
    attributes = telemetry.span.attributes
    assert attributes["server.address"] == "/run/kit.sock"
    assert not {"client.address", "network.peer.address", "network.protocol.version"} & {
        *attributes
    }


def test_addresses_without_ports(run: Any, served: Any, telemetry: Any) -> None:
    request = served(client=("192.0.2.7", 0), scheme="other", headers={"host": "a.example"})
    run(request.by, app_of(telemetry.middleware()))
    attributes = telemetry.span.attributes
    assert attributes["client.address"] == "192.0.2.7"
    assert not {"network.peer.port", "server.port"} & {*attributes}


def test_client_behind_a_proxy(run: Any, served: Any, telemetry: Any) -> None:
    app = app_of(telemetry.middleware(trusted_hops=1))
    run(served(headers={"x-forwarded-for": "6.6.6.6, 198.51.100.9"}).by, app)
    run(served(headers={"x-forwarded-for": "unknown"}).by, app)
    known, unknown = telemetry.spans
    assert known.attributes["client.address"] == "198.51.100.9"
    assert known.attributes["network.peer.address"] == "192.0.2.7"
    assert "client.address" not in unknown.attributes


def test_paths_are_as_they_were_sent(run: Any, served: Any, telemetry: Any) -> None:
    run(served(path="/users/%C3%A4%2Fb").by, app_of(telemetry.middleware()))
    assert telemetry.span.attributes["url.path"] == "/users/%C3%A4%2Fb"


def test_in_process(run: Any, telemetry: Any) -> None:
    app = app_of(telemetry.middleware())
    run(app.request, "https://api.example/users/7?sig=abc&a=1", {"headers": {"user-agent": "me"}})
    span = telemetry.span
    assert span.attributes["url.path"] == "/users/7"
    assert span.attributes["url.query"] == "sig=REDACTED&a=1"
    assert span.attributes["url.scheme"] == "https"
    assert span.attributes["user_agent.original"] == "me"
    assert span.attributes["http.response.status_code"] == 200


@pytest.mark.parametrize(
    ("sent", "recorded"),
    [
        ("AWSAccessKeyId=AKIA&Signature=x&sig=y&X-Goog-Signature=z", ["REDACTED"] * 4),
        ("%73ig=y&SIG=z&token[]=a&token%5Ba%5D=b", ["REDACTED"] * 4),
        ("q=sig&signal=1&sig&sig=", ["sig", "1", "", ""]),
    ],
)
def test_cve_2026_128080_secrets_in_queries(
    run: Any, served: Any, telemetry: Any, sent: str, recorded: list[str]
) -> None:
    run(served(path=f"/?{sent}").by, app_of(telemetry.middleware()))
    query = telemetry.span.attributes["url.query"]
    assert [pair.partition("=")[2] for pair in query.split("&")] == recorded
    assert [pair.partition("=")[0] for pair in query.split("&")] == [
        pair.partition("=")[0] for pair in sent.split("&")
    ]


def test_redaction_is_chosen(run: Any, served: Any, telemetry: Any) -> None:
    for options in ({"redacted_query": ()}, {"redacted_query": ["Key"]}, {"query": False}):
        run(served(path="/?sig=a&key=b").by, app_of(telemetry.middleware(**options)))
    assert [span.attributes.get("url.query") for span in telemetry.spans] == [
        "sig=a&key=b",
        "sig=a&key=REDACTED",
        None,
    ]


def test_headers_that_are_asked_for(run: Any, served: Any, telemetry: Any) -> None:
    app = Kit().use(
        telemetry.middleware(
            request_headers=["X-Tenant", "Authorization", "Cookie"],
            response_headers=["X-Shard", "Set-Cookie", "X-Absent"],
        )
    )

    @app.get("/")
    def handler(c: Context) -> Response:
        c.header("X-Shard", "a")
        c.header("X-Shard", "b", append=True)
        c.header("Set-Cookie", "session=secret")
        return c.text("x")

    request = served(headers={"x-tenant": "acme", "authorization": "Bearer secret", "x-other": "1"})
    run(request.by, app)
    headers = {
        name: value for name, value in telemetry.span.attributes.items() if ".header." in name
    }
    assert headers == {
        "http.request.header.x-tenant": ("acme",),
        "http.request.header.authorization": ("REDACTED",),
        "http.response.header.x-shard": ("a", "b"),
        "http.response.header.set-cookie": ("REDACTED",),
    }


def test_long_texts_are_cut(run: Any, served: Any, telemetry: Any) -> None:
    headers = {"user-agent": "a" * 9000, "host": "h" * 9000, "x-a": "b" * 9000}
    request = served("M" * 9000, "/" + "p" * 9000 + "?" + "q" * 9000, headers)
    app = Kit().use(telemetry.middleware(request_headers="x-a"))
    app.all("*", lambda c: c.text("x"))
    run(request.by, app)
    lengths = {
        name: len(value)
        for name, value in telemetry.span.attributes.items()
        if isinstance(value, str)
    }
    assert max(lengths.values()) == 4096
    assert lengths["user_agent.original"] == lengths["server.address"] == 256
    assert lengths["http.request.method_original"] == 256
    assert len(telemetry.span.attributes["http.request.header.x-a"][0]) == 4096


_LATIN_1 = st.text(st.characters(max_codepoint=0xFF, exclude_characters="\r\n\0"), max_size=30)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    path=_LATIN_1,
    query=_LATIN_1,
    headers=st.dictionaries(
        st.sampled_from(
            ["host", "user-agent", "content-length", "traceparent", "tracestate", "baggage"]
        ),
        _LATIN_1,
    ),
)
def test_hostile_requests_are_answered(
    served: Any, telemetry_of: Any, path: str, query: str, headers: dict[str, str]
) -> None:
    telemetry = telemetry_of()
    app = Kit().use(telemetry.middleware(meter_provider=telemetry.meters))
    app.all("*", lambda c: c.text("x"))
    request = served(path="/" + re.sub("[?#]", "", path) + "?" + query, headers=headers)
    anyio.run(request.by, app)
    assert request.status == 200
    assert telemetry.span.attributes["http.response.status_code"] == 200
    assert len(telemetry.points("http.server.request.duration")) == 1
