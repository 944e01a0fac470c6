# SPDX-License-Identifier: MIT
"""Key sets that are fetched: from a server on the loopback interface, or by a function."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import anyio
import pytest
from jwt_keys import private_key, public_jwk

from kit import Kit
from kit.jwk import JwksUnavailableError, KeySource, jwk, verify_with_jwks
from kit.jwt import JwtAlgorithmNotAllowedError, JwtTokenAudienceError, sign

URI = "https://issuer.example/jwks?secret=1"


class Issuer:
    """A server that publishes keys.

    Attributes:
        uri: Where they are.
        body: What it answers.
        status: The status of the answers.
        location: Where it redirects to.
        asked: How often it was asked.
        user_agent: What the client called itself.
        held: The answers wait while this is not set.
        drips: What comes byte by byte, and never ends: a header or the body.
        left: Set when the client has left such an answer.
    """

    def __init__(self) -> None:
        self.body = b""
        self.status = 200
        self.location: str | None = None
        self.asked = 0
        self.user_agent: str | None = None
        self.held = Event()
        self.held.set()
        self.drips: str | None = None
        self.left = Event()
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked += 1
                issuer.user_agent = self.headers["User-Agent"]
                issuer.held.wait(20)
                self.send_response(issuer.status)
                if issuer.location is not None:
                    self.send_header("Location", issuer.location)
                if issuer.drips is not None:
                    self.drip(issuer.drips)
                else:
                    self.send_header("Content-Length", str(len(issuer.body)))
                    self.end_headers()
                    self.wfile.write(issuer.body)

            def drip(self, part: str) -> None:
                try:
                    if part == "header":
                        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Drip: ")
                    else:
                        self.end_headers()
                    while True:
                        self.wfile.write(b" ")
                        issuer.left.wait(0.001)
                except OSError:
                    issuer.left.set()

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.uri = f"http://127.0.0.1:{self.server.server_port}/jwks"

    def publish(self, *names: str) -> None:
        self.body = json.dumps({"keys": keys(*names)}).encode()


def keys(*names: str) -> list[dict[str, Any]]:
    return [public_jwk("ES256", name, kid=name) for name in names]


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    issuer = Issuer()
    issuer.publish("one")
    thread = Thread(target=issuer.server.serve_forever, args=(0.01,))
    thread.start()
    yield issuer
    issuer.held.set()
    issuer.server.shutdown()
    thread.join()
    issuer.server.server_close()


class Source:
    """A function for `fetch`.

    Attributes:
        result: What it returns or raises.
        calls: The URIs that it was called with.
        gate: What it waits for.
    """

    def __init__(self, *names: str) -> None:
        self.result: Any = keys(*names)
        self.calls: list[str] = []
        self.gate: anyio.Event | None = None

    async def __call__(self, uri: str) -> Any:
        self.calls.append(uri)
        if self.gate is not None:
            await self.gate.wait()
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def app_with(jwks_uri: Any = URI, **options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use(jwk(jwks_uri=jwks_uri, alg="ES256", **options))
    app.get("/x", lambda c: c.text("inside"))
    return app


def token(name: str, kid: str | None = None) -> str:
    return sign({}, private_key("ES256", name), "ES256", header={"kid": kid or name})


async def status(app: Kit[Any, Any], name: str, kid: str | None = None) -> int:
    headers = {"Authorization": f"Bearer {token(name, kid)}"}
    return (await app.request("/x", {"headers": headers})).status


Run = Callable[..., Any]


# --- over HTTP -----------------------------------------------------------------------------------


def test_keys_are_fetched_once(run: Run, issuer: Issuer) -> None:
    app = app_with(issuer.uri)

    async def main() -> None:
        for _ in range(3):
            assert await status(app, "one") == 200
        assert await status(app, "one", "two") == 401
        assert await status(app, "two", "one") == 401

    run(main)
    assert issuer.asked == 1


def test_the_client_has_a_name_that_firewalls_let_through(run: Run, issuer: Issuer) -> None:
    assert run(status, app_with(issuer.uri), "one") == 200
    assert issuer.user_agent == "kit-jwt"


def test_rotated_keys_are_found(run: Run, issuer: Issuer) -> None:
    app = app_with(issuer.uri, cooldown=0)

    async def main() -> None:
        assert await status(app, "one") == 200
        issuer.publish("one", "two")
        assert await status(app, "two") == 200
        assert await status(app, "one") == 200
        assert issuer.asked == 2
        issuer.publish("two")
        assert await status(app, "three") == 401
        assert await status(app, "one") == 401
        assert await status(app, "two") == 200

    run(main)


def test_token_without_a_key_id_has_no_keys_fetched_anew(run: Run) -> None:
    source = Source("one")
    app = app_with(fetch=source, cooldown=0)
    nameless = sign({}, private_key("ES256", "one"), "ES256")

    async def main() -> None:
        for _ in range(2):
            headers = {"Authorization": f"Bearer {nameless}"}
            assert (await app.request("/x", {"headers": headers})).status == 401
        assert len(source.calls) == 1

    run(main)


def test_requests_at_once_fetch_once(run: Run, issuer: Issuer) -> None:
    app = app_with(issuer.uri)
    issuer.held.clear()
    answers: list[int] = []

    async def request() -> None:
        answers.append(await status(app, "one"))

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(request)
            while not issuer.asked:
                await anyio.lowlevel.checkpoint()
            assert not answers
            issuer.held.set()

    run(main)
    assert answers == [200] * 5
    assert issuer.asked == 1


@pytest.mark.parametrize(
    "problem", ["status", "success", "redirection", "no JSON", "no keys", "size", "many"]
)
def test_answers_without_keys(
    run: Run, issuer: Issuer, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    if problem == "status":
        issuer.status = 500
    elif problem == "success":
        issuer.status = 203
    elif problem == "redirection":
        issuer.status, issuer.location = 302, issuer.uri + "/elsewhere"
    else:
        issuer.body = {
            "no JSON": b"<html>",
            "no keys": b'{"key": []}',
            "size": issuer.body + b" " * 512 * 1024,
            "many": json.dumps({"keys": [{}] * 101}).encode(),
        }[problem]
    app = app_with(issuer.uri + "?secret=1")

    async def main() -> None:
        response = await app.request("/x", {"headers": {"Authorization": f"Bearer {token('one')}"}})
        assert (response.status, await response.text()) == (503, "Service Unavailable")
        assert response.headers["retry-after"] == "5"

    with caplog.at_level(logging.WARNING, "kit.jwk"):
        run(main)
    assert issuer.asked == 1
    [record] = caplog.records
    assert record.getMessage().startswith(f"The keys of {issuer.uri} can't be fetched: ")
    assert "secret" not in caplog.text
    assert record.exc_info is None


def test_source_that_is_too_slow(run: Run, issuer: Issuer) -> None:
    app = app_with(issuer.uri, timeout=0.05)
    issuer.held.clear()

    async def main() -> None:
        assert await status(app, "one") == 503

    run(main)


@pytest.mark.parametrize("part", ["header", "body"])
def test_source_that_sends_byte_by_byte(run: Run, issuer: Issuer, part: str) -> None:
    app = app_with(issuer.uri, timeout=0.5)
    issuer.drips = part

    async def main() -> None:
        assert await status(app, "one") == 503

    run(main)
    # The thread of the request has ended, and its connection with it.
    assert issuer.left.wait(20)


def test_lookup_of_a_name_that_takes_too_long(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    release, ended = Event(), Event()

    def getaddrinfo(*args: Any, **options: Any) -> Any:
        release.wait(20)
        ended.set()
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    try:
        assert run(status, app_with(timeout=0.2), "one") == 503
        assert not ended.is_set()
    finally:
        release.set()


def test_source_that_is_not_there(run: Run) -> None:
    app = app_with("http://127.0.0.1:1/jwks")

    async def main() -> None:
        assert await status(app, "one") == 503

    run(main)


def test_verify_with_jwks(run: Run, issuer: Issuer) -> None:
    async def main() -> None:
        for _ in range(2):
            claims = await verify_with_jwks(
                token("one"), jwks_uri=issuer.uri, allowed_algorithms="ES256"
            )
            assert claims == {}
        issuer.status = 404
        with pytest.raises(JwksUnavailableError, match=f"^The keys of {issuer.uri} can't be"):
            await verify_with_jwks(token("one"), jwks_uri=issuer.uri, allowed_algorithms="ES256")

    run(main)
    assert issuer.asked == 3


def test_key_source(run: Run, issuer: Issuer) -> None:
    """For packages that verify tokens themselves: the keys are shared by all kinds of tokens."""

    async def main() -> None:
        source = KeySource(jwks_uri=lambda c: c, cooldown=0)
        verify = source.verifier("ES256")
        for _ in range(2):
            assert await verify(token("one"), issuer.uri) == {}
        with pytest.raises(JwtTokenAudienceError):
            await verify(
                sign({"aud": "a"}, private_key("ES256", "one"), "ES256", header={"kid": "one"}),
                issuer.uri,
            )
        for_other = source.verifier(["ES256"], {"aud": "a"})
        signed = sign({"aud": "a"}, private_key("ES256", "one"), "ES256", header={"kid": "one"})
        assert await for_other(signed, issuer.uri) == {"aud": "a"}
        with pytest.raises(JwtAlgorithmNotAllowedError):
            await source.verifier("RS256")(token("one"), issuer.uri)

    run(main)
    assert issuer.asked == 1
    with pytest.raises(ValueError, match=r"kit\.jwt"):
        KeySource(keys=[]).verifier("HS256")
    with pytest.raises(ValueError, match="needs keys"):
        KeySource()


# --- when keys are fetched -----------------------------------------------------------------------


@pytest.mark.parametrize("form", ["list", "set", "bytes", "text", "plain function"])
def test_what_fetch_returns(run: Run, form: str) -> None:
    found = {"keys": keys("one")}
    source = Source()
    source.result = {
        "list": keys("one"),
        "set": found,
        "bytes": json.dumps(found).encode(),
        "text": json.dumps(found),
        "plain function": None,
    }[form]
    app = app_with(fetch=(lambda uri: found) if form == "plain function" else source)

    async def main() -> None:
        assert await status(app, "one") == 200

    run(main)
    assert source.calls == ([] if form == "plain function" else [URI])


def test_lifetime(run: Run) -> None:
    source = Source("one")
    app = app_with(fetch=source, lifetime=0, cooldown=0)

    async def main() -> None:
        assert await status(app, "one") == 200
        source.result = keys("two")
        assert await status(app, "one") == 401
        assert await status(app, "two") == 200

    run(main)
    # A key that is missing right after the keys were fetched is asked for once more.
    assert len(source.calls) == 4


def test_old_keys_are_used_while_the_source_fails(run: Run) -> None:
    source = Source("one")
    app = app_with(fetch=source, lifetime=0, cooldown=0)
    strict = app_with(fetch=source, lifetime=0, cooldown=0, max_stale=0)

    async def main() -> None:
        assert await status(app, "one") == 200
        source.result = OSError("down")
        assert await status(app, "one") == 200
        assert await status(app, "two") == 401
        assert await status(strict, "one") == 503
        source.result = keys("two")
        assert await status(app, "two") == 200
        assert await status(app, "one") == 401

    run(main)


def test_failures_are_not_repeated_at_once(run: Run) -> None:
    source = Source()
    source.result = OSError("down")
    app = app_with(fetch=source)

    async def main() -> None:
        for _ in range(3):
            assert await status(app, "one") == 503

    run(main)
    assert len(source.calls) == 1


def test_log_of_a_failure_has_no_secret(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    source = Source()
    source.result = OSError(f"404 Not Found for {URI}: " + "x" * 500)
    app = app_with(fetch=source)

    async def main() -> None:
        assert await status(app, "one") == 503

    run(main)
    [message] = caplog.messages
    assert message.startswith(
        "The keys of https://issuer.example/jwks can't be fetched: OSError 404 Not Found for "
        "https://issuer.example/jwks: xxx"
    )
    assert len(message) < 300


async def called(source: Source, times: int) -> None:
    while len(source.calls) < times:
        await anyio.lowlevel.checkpoint()


def test_client_that_leaves_takes_no_keys_along(run: Run) -> None:
    source = Source("one")
    app = app_with(fetch=source)

    async def main() -> None:
        source.gate = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(status, app, "one")
            await called(source, 1)
            tasks.cancel_scope.cancel()
            source.gate.set()
        assert await status(app, "one") == 200

    run(main)
    assert len(source.calls) == 1


async def test_task_that_is_cancelled_leaves_the_question_to_others() -> None:
    # asyncio's own cancellation goes through the shields of anyio.
    source = Source("one")
    app = app_with(fetch=source)
    source.gate = anyio.Event()
    first = asyncio.create_task(status(app, "one"))
    await called(source, 1)
    second = asyncio.create_task(status(app, "one"))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    source.gate.set()
    assert await second == 200
    assert len(source.calls) == 2


async def test_tasks_that_are_cancelled_do_not_flood_the_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = Source("one")
    app = app_with(fetch=source)
    clock, later = time.monotonic, 0.0
    monkeypatch.setattr(time, "monotonic", lambda: clock() + later)
    assert await status(app, "one") == 200
    later += 60
    source.gate = anyio.Event()
    first = asyncio.create_task(status(app, "two"))
    await called(source, 2)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    source.gate.set()
    assert await status(app, "two") == 401
    assert len(source.calls) == 2
    # It is asked again soon, so that new keys are found all the same.
    later += 6
    source.result = keys("two")
    assert await status(app, "two") == 200


def test_event_loops_one_within_the_life_of_another() -> None:
    calls: list[str] = []
    gate = asyncio.Event()

    async def fetch(uri: str) -> Any:
        calls.append(uri)
        if len(calls) == 1:
            await gate.wait()
        return keys("one")

    async def begin() -> asyncio.Task[int]:
        task = asyncio.create_task(status(app, "one"))
        while not calls:
            await asyncio.sleep(0)
        return task

    app = app_with(fetch=fetch)
    first = asyncio.new_event_loop()
    try:
        task = first.run_until_complete(begin())
        assert asyncio.run(status(app, "one")) == 200
        gate.set()
        assert first.run_until_complete(task) == 200
    finally:
        first.close()
    assert len(calls) == 2


def test_old_keys_do_for_others_while_the_source_is_asked(run: Run) -> None:
    source = Source("one")
    app = app_with(fetch=source, lifetime=0, cooldown=0)
    answers: list[int] = []

    async def request() -> None:
        answers.append(await status(app, "one"))

    async def main() -> None:
        await request()
        source.gate = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(request)
            await called(source, 2)
            await request()
            assert answers == [200, 200]
            source.gate.set()

    run(main)
    assert answers == [200] * 3
    assert len(source.calls) == 2


# --- several sources -----------------------------------------------------------------------------


def test_uri_by_tenant(run: Run) -> None:
    async def tenant(c: Any) -> str:
        return f"https://issuer.example/{c.req.query('tenant')}"

    calls: list[str] = []

    def fetch(uri: str) -> Any:
        calls.append(uri.rpartition("/")[2])
        return keys(calls[-1])

    app = app_with(tenant, fetch=fetch, cooldown=0)

    async def ask(name: str, key: str) -> int:
        headers = {"Authorization": f"Bearer {token(key)}"}
        return (await app.request(f"/x?tenant={name}", {"headers": headers})).status

    async def main() -> None:
        for _ in range(2):
            assert await ask("one", "one") == 200
            assert await ask("two", "two") == 200
        assert calls == ["one", "two"]
        # The keys of 32 are kept: those that were used last.
        for number in range(30):
            assert await ask(f"t{number}", "one") == 401
        assert await ask("two", "two") == 200
        assert await ask("one", "one") == 200
        assert calls.count("one") == 1
        for number in range(30, 61):
            assert await ask(f"t{number}", "one") == 401
            assert await ask("two", "two") == 200
        assert await ask("one", "one") == 200
        assert (calls.count("one"), calls.count("two")) == (2, 1)

    run(main)


def test_unknown_keys_of_many_tenants_are_not_asked_for_again_and_again(run: Run) -> None:
    """APPSEC: as for CVE-2026-48524, but with more key sets than are cached."""
    calls: list[str] = []

    def fetch(uri: str) -> Any:
        calls.append(uri)
        return keys("known")

    app = app_with(lambda c: f"https://issuer.example/{c.req.query('t')}", fetch=fetch)

    async def main() -> None:
        headers = {"Authorization": f"Bearer {token('unknown')}"}
        for _ in range(3):
            for number in range(40):
                response = await app.request(f"/x?t={number}", {"headers": headers})
                assert response.status == 401
        assert len(calls) == 40

    run(main)


async def test_key_sets_of_many_tenants_are_fetched_once_at_a_time() -> None:
    calls: list[str] = []
    answer = asyncio.Event()

    async def fetch(uri: str) -> Any:
        calls.append(uri)
        await answer.wait()
        return keys("known")

    app = app_with(lambda c: f"https://issuer.example/{c.req.query('t')}", fetch=fetch)
    headers = {"Authorization": f"Bearer {token('known')}"}

    async def ask(number: int) -> int:
        return (await app.request(f"/x?t={number}", {"headers": headers})).status

    asked = [asyncio.create_task(ask(number)) for number in [*range(40)] * 3]
    while len(calls) < 40:
        await asyncio.sleep(0)
    for _ in range(100):
        await asyncio.sleep(0)
    answer.set()
    assert await asyncio.gather(*asked) == [200] * 120
    assert sorted(calls) == sorted(f"https://issuer.example/{number}" for number in range(40))


@pytest.mark.parametrize("uri", ["http://issuer.example/", None])
def test_uri_of_a_function_has_to_be_safe(run: Run, uri: str | None) -> None:
    errors: list[str] = []
    app = app_with(lambda c: uri)

    @app.on_error()
    def on_error(error: Exception, c: Any) -> Any:
        errors.append(str(error))
        return c.text("", 500)

    async def main() -> None:
        assert await status(app, "one") == 500

    run(main)
    assert errors == [
        f"jwk(jwks_uri={uri!r}) can't be used: expected an https URI such as "
        "'https://issuer.example/jwks', without a user"
    ]


def test_own_keys_come_first(run: Run) -> None:
    source = Source("two")
    app = app_with(keys=keys("one"), fetch=source)

    async def main() -> None:
        assert await status(app, "one") == 200
        assert not source.calls
        assert await status(app, "two") == 200
        assert len(source.calls) == 1

    run(main)
