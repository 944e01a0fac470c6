# SPDX-License-Identifier: MIT
"""A path is read in one way: whatever answers was reached through every guard that covers it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from one_reading import (
    GUARD,
    NAMES,
    ODD_TARGETS,
    PLACES,
    make_app,
    make_files,
    missing,
    nasty_paths,
)
from rsgi_peer import Http, Scope
from serving import ServedApp
from wire import exchange, request, responses

from kit import Kit

ROUTERS = ("smart", "reg-exp", "trie", "linear", "pattern")
SERVERS = ("uvicorn", "uvicorn-h11", "granian", "granian-rsgi", "hypercorn")
PATIENCE_S = 20
Seen = tuple[int, str, list[str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    path: Path = tmp_path_factory.mktemp("one_reading")
    make_files(path)
    return path


@pytest.fixture(scope="module")
def apps(folder: Path) -> list[Kit]:
    return [make_app(folder, router) for router in ROUTERS]


async def in_process(app: Kit, target: str) -> Seen:
    response = await app.request("http://example.com" + target)
    lines = response.headers.get(GUARD)
    return response.status, await response.text(), [] if lines is None else [lines]


async def over_asgi(app: Kit, target: str, *, has_raw_path: bool = True) -> Seen:
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.5"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote(target),
        "query_string": b"",
        "headers": [(b"host", b"example.com")],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8000),
    }
    if has_raw_path:
        scope |= {"raw_path": target.encode(), "root_path": ""}
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent[1:])
    guards = [value.decode() for name, value in sent[0]["headers"] if name == GUARD.encode()]
    return sent[0]["status"], body.decode(), guards


async def without_raw_path(app: Kit, target: str) -> Seen:
    return await over_asgi(app, target, has_raw_path=False)


async def over_rsgi(app: Kit, target: str) -> Seen:
    protocol = Http()
    await app.__rsgi__(Scope(path=unquote(target)), protocol)
    _, status, headers, *body = protocol.answer
    content = b"".join(protocol.sent) if protocol.sent else body[0] if body else b""
    return status, content.decode(), [headers[GUARD]] if GUARD in headers else []


WAYS = (in_process, over_asgi, without_raw_path, over_rsgi)


async def check(app: Kit, target: str) -> set[int]:
    """Asks in every way, and returns the statuses."""
    statuses = set()
    for way in WAYS:
        status, body, guards = await way(app, target)
        assert not missing(status, body, guards), (way.__name__, target, body, guards)
        statuses.add(status)
    return statuses


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", NAMES)
async def test_every_spelling_of_a_name_is_guarded_and_answered(
    apps: list[Kit], place: str, name: str
) -> None:
    """Or the other tests would show nothing."""
    encoded = "".join(f"%{byte:02x}" for byte in name.encode())
    for app in apps:
        for way in WAYS:
            status, body, guards = await way(app, f"/{place}/{encoded}/s.txt")
            assert status == 200, (way.__name__, body)
            assert unquote(guards[0]) == f"/{place}/{name}", way.__name__


async def test_nasty_paths(apps: list[Kit]) -> None:
    for target in nasty_paths(*NAMES):
        await check(apps[0], target)


CHARACTERS = st.sampled_from([*"/.\\%@:;é\0 aZ?#", *NAMES, "private", "s.txt", "open", "..", "//"])
SPELLINGS = st.sampled_from(["plain", "upper", "lower", "twice"])


def spelled(text: str, spelling: str) -> str:
    if spelling == "plain":
        return "".join(f"%{ord(each):02X}" if each in "\0 ?#%" else each for each in text)
    encoded = "".join(f"%{byte:02X}" for byte in text.encode())
    if spelling == "twice":
        return encoded.replace("%", "%25")
    return encoded if spelling == "upper" else encoded.lower()


PIECES = st.builds(spelled, CHARACTERS, SPELLINGS)
SEPARATORS = st.sampled_from(
    [*["/"] * 8, "//", "/./", "%2f", "%5C", "\\", "/../", "/%2E%2e/", "%FF/"]
)
TARGETS = st.tuples(
    st.sampled_from(["/", "/", "/", "//", "/./", "/open/../"]),
    st.sampled_from(PLACES),
    SEPARATORS,
    st.builds(spelled, st.sampled_from([*NAMES, "open"]), SPELLINGS),
    SEPARATORS,
    st.lists(st.one_of(PIECES, SEPARATORS), max_size=5).map("".join),
).map("".join)


@settings(max_examples=200)
@given(TARGETS, st.sampled_from(range(len(ROUTERS))))
@example("/asgi-whole/x/%2e%2e/private/s.txt", 0)
@example("/static/%40admin/s.txt", 0)
@example("/asgi-direct/./@admin/", 0)
async def test_whatever_answers_was_reached_through_its_guards(
    apps: list[Kit], target: str, router: int
) -> None:
    await check(apps[router], target)


@pytest.fixture(scope="module", params=SERVERS)
def served(
    request: pytest.FixtureRequest, folder: Path, tmp_path_factory: Any
) -> Iterator[ServedApp]:
    log = tmp_path_factory.mktemp(request.param) / "log"
    environment = {"ONE_READING_FOLDER": str(folder)}
    with ServedApp(request.param, "one_reading:app", log, environment=environment) as served:
        yield served


def send(served: ServedApp, *targets: bytes, lines: tuple[bytes, ...] = ()) -> list[Any]:
    """Sends requests one after another, each on a connection of its own."""
    found = []
    for target in targets:
        with served.connect(PATIENCE_S) as connection:
            found.append(responses(exchange(connection, request(target, *lines)))[0])
    return found


@pytest.mark.once
def test_nasty_paths_of_servers(served: ServedApp) -> None:
    targets = nasty_paths("@admin")
    answers = send(served, *(target.encode() for target in targets))
    for target, answer in zip(targets, answers, strict=True):
        guards = [line.decode() for line in answer.header(GUARD.encode())]
        assert not missing(answer.status, answer.body.decode(), guards), target
    reached = {
        target for target, answer in zip(targets, answers, strict=True) if answer.status == 200
    }
    for place in PLACES:
        assert f"/{place}/%40admin/s.txt" in reached
    printed = served.printed()
    assert "Traceback" not in printed, printed


@pytest.mark.once
@pytest.mark.parametrize("target", ODD_TARGETS)
def test_odd_targets_of_servers(served: ServedApp, target: bytes) -> None:
    """Some servers refuse them, or drop the fragment; the others leave it to the app."""
    [answer] = send(served, target)
    if answer.status != 400:
        path = target.decode().partition("#")[0]
        assert "#" in target.decode()
        assert (answer.status, answer.body) == (200, f'{{"path": "{path}"}}'.encode())
        guards = [line.decode() for line in answer.header(GUARD.encode())]
        assert not missing(answer.status, answer.body.decode(), guards)


@pytest.mark.once
@pytest.mark.parametrize("target", [each for each in ODD_TARGETS if b"#" not in each])
def test_handshakes_for_odd_targets_are_refused(served: ServedApp, target: bytes) -> None:
    lines = (
        b"connection: upgrade",
        b"upgrade: websocket",
        b"sec-websocket-version: 13",
        b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    )
    with served.connect(PATIENCE_S) as connection:
        connection.sendall(request(target, *lines, keep=True))
        status = connection.recv(65536).split(b" ")[1]
    assert status in (b"400", b"403")
