# SPDX-License-Identifier: MIT
"""The recorded programs by ASGI, RSGI and sockets: the answers are those given in process."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import recorded_programs
import served_programs
import servers
from engines import ask_by_asgi, ask_by_rsgi

from kit import URL

pytestmark = pytest.mark.once

SUPPORT = Path(served_programs.__file__).parent
# Escapes in a path that stay encoded in the routing path.
ESCAPED = re.compile(r"^[^?]*%(?:2[35Ff]|3[Ff]|[89A-Fa-f]|(?![0-9A-Fa-f]{2}))")
# What is noted in process while a request runs is not sent with the response.
ON_THE_WIRE = ("status", "headers", "body")


def can_be_sent(request: Any) -> bool:
    """Whether a client can send the request as it is, to a server without TLS."""
    url = request["url"]
    return not (
        url.startswith("https:")
        or "#" in url
        or any(character <= " " or character > "~" for character in url)
        or any(not value.isascii() for _, value in request["headers"])
    )


def answers_alike(program: Any) -> bool:
    """Whether a program answers over a socket as in process.

    Not if it shows the Host header, which only a client sends, or the arguments of a mounted
    application: served, there is an execution context.
    """
    app = json.dumps(program["app"])
    return '"f_args"' not in app and '["header", "host"]' not in app


@pytest.fixture(scope="module")
def programs() -> Iterator[Any]:
    logging.disable(logging.CRITICAL)
    yield served_programs.application
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def expected(programs: Any) -> list[tuple[Any, Any, Any]]:
    """Each request that can be sent, with its program and the answer in process."""
    compare = recorded_programs.load("compare")
    found = []
    count = sendable = built = 0
    for program in compare.read_lines(recorded_programs.HERE / "app_cases.jsonl.gz"):
        program["app"] = programs.programs[program["id"]]
        got = asyncio.run(programs.runner.run(program))
        count += len(program["requests"])
        sendable += sum(map(can_be_sent, program["requests"]))
        # There are no answers where the app could not be built, as Kit refuses to register more.
        answers = got.get("observed", ())
        built += len(answers)
        for request, answer in zip(program["requests"], answers, strict=False):
            if can_be_sent(request) and answers_alike(program):
                found.append((program["id"], request, answer))
    assert count == 3633
    assert sendable > 0.85 * count
    assert built > 0.95 * count
    assert len(found) > 0.8 * built
    return found


def send(connection: http.client.HTTPConnection, name: str, request: Any) -> Any:
    """Sends a request as any client does, with the URL normalised."""
    given = request["url"]
    url = URL(given if "://" in given else "http://localhost/" + given.removeprefix("/"))
    body = request.get("body")
    target = url.pathname + url.search
    connection.putrequest(request["method"], target, skip_host=True, skip_accept_encoding=True)
    connection.putheader("x-kit-program", name)
    sent = [header.lower() for header, _ in request["headers"]]
    if "host" not in sent:
        connection.putheader("host", url.host)
    for header, value in request["headers"]:
        connection.putheader(header, value)
    if body is not None:
        if "content-type" not in sent:
            connection.putheader("content-type", "text/plain;charset=UTF-8")
        connection.putheader("content-length", str(len(body.encode())))
    connection.endheaders(None if body is None else body.encode())
    return connection.getresponse()


@pytest.mark.parametrize("ask", [ask_by_asgi, ask_by_rsgi])
async def test_answers_by_the_interfaces_of_servers(
    ask: Any, expected: list[tuple[Any, Any, Any]], programs: Any
) -> None:
    programs.apps.clear()  # their lifespans belong to one event loop
    wrong = []
    for name, request, answer in expected:
        if ask is ask_by_rsgi and ESCAPED.search(request["url"]):
            continue  # RSGI has only the decoded path
        response = await ask(await programs.app(name), request)
        got = shown(programs, response.status, response.headers, await response.text())
        if any(got.get(key) != answer.get(key) for key in ON_THE_WIRE):
            wrong.append((name, request, answer, got))
    assert not wrong, json.dumps(wrong[:3], ensure_ascii=False)[:3000]


def shown(programs: Any, status: int, headers: Any, text: str) -> dict[str, Any]:
    """Returns an answer as the runner shows it."""
    found = {"status": status, "headers": programs.runner.response_headers(headers), "body": text}
    is_json = found["headers"].get("content-type", "").startswith("application/json")
    if text.startswith(("{", "[")) or (text and is_json):
        with contextlib.suppress(ValueError):
            found["body"] = {"json": json.loads(text)}
    return found


# An ASGI application chooses the program, so not over RSGI.
@pytest.mark.slow
@pytest.mark.parametrize("server", [name for name in servers.SERVERS if "rsgi" not in name])
def test_answers_over_sockets(
    server: str,
    expected: list[tuple[Any, Any, Any]],
    programs: Any,
    serve_command: Callable[..., Any],
) -> None:
    served = serve_command(
        lambda port: servers.command(server, "served_programs:application", port),
        PYTHONPATH=str(SUPPORT),
    )
    wrong = []
    with contextlib.closing(
        http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    ) as connection:
        for name, request, answer in expected:
            try:
                response = send(connection, name, request)
            except OSError:  # the server has closed the connection after the answer before
                connection.close()
                response = send(connection, name, request)
            text = response.read().decode("utf-8", "replace")
            headers = SimpleNamespace(
                items=response.getheaders,
                get_set_cookie=lambda response=response: (
                    response.headers.get_all("set-cookie") or []
                ),
            )
            got = shown(programs, response.status, headers, text)
            if any(got.get(key) != answer.get(key) for key in ON_THE_WIRE):
                wrong.append((name, request, answer, got))
    assert not wrong, json.dumps(wrong[:3], ensure_ascii=False)[:3000]
