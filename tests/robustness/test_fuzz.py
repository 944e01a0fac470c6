# SPDX-License-Identifier: MIT
"""Whole requests, drawn at random, to an app that uses every feature, on asyncio and on trio.

Whatever a client sends, and wherever client or server break off: no exception gets out of the app,
what it sends is one valid HTTP response, and nothing is left open.

`KIT_FUZZ_EXAMPLES=5000 uv run pytest tests/robustness/test_fuzz.py` is a long run.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import anyio
import everything
import pytest
import sniffio
import trio
from anyio.lowlevel import checkpoint
from asgi_peer import Answer, Course, Peer, ServerError
from everything_faults import HELD, is_planned, left_open
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from whole_requests import (
    FORM,
    MULTIPART,
    WholeRequest,
    courses,
    smooth_courses,
    whole_requests,
)

EXAMPLES = int(os.environ.get("KIT_FUZZ_EXAMPLES", settings.default.max_examples))
LENGTH = b"content-length"
MOST_BYTES = everything.LIMITS.max_body_size_bytes or 0
FOLDER = tempfile.gettempdir() + "/#"  # how Linux shows a file there that never had a name
# How long a request may take before it is taken for one that hangs.
PATIENCE_S = 20


def fuzzed(share: int = 1) -> Callable[[Any], Any]:
    """Draws so many times as many examples as other tests do."""
    unhealthy = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=EXAMPLES * share, deadline=None, suppress_health_check=unhealthy)


class Faults(logging.Handler):
    """Keeps what is logged as a warning or worse, by anyone."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture(autouse=True)
def faults() -> Iterator[Faults]:
    HELD.clear()  # of what a failed test left
    handler = Faults()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


def is_meant(error: BaseException, *paths: str) -> bool:
    """Whether an exception is planned, or comes from the server."""
    _, rest = BaseExceptionGroup("", [error]).split(ServerError)
    return rest is None or is_planned(rest, *paths)


def living_tasks() -> int:
    """How many tasks there are."""
    if sniffio.current_async_library() == "trio":
        return trio.lowlevel.current_statistics().tasks_living
    return len(asyncio.all_tasks())


def temporary_files() -> int:
    """How many files this process has open that have no name any more."""
    count = 0
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the folder itself is closed by now
            count += os.readlink(f"/proc/self/fd/{descriptor}").startswith(FOLDER)
    return count


class Stage:
    """An app, and requests to it."""

    def __init__(self, backend: str, faults: Faults, router: str | None = None) -> None:
        self.backend = backend
        self.faults = faults
        self.app = everything.make_app(router, with_wsgi=backend == "asyncio")

    def answers(self, *plays: tuple[WholeRequest, Course], at_once: bool = False) -> list[Answer]:
        """Sends requests, one after the other or at once; gives what came of each."""
        self.faults.records.clear()
        peers = anyio.run(self._play, plays, at_once, backend=self.backend)
        for peer in peers:
            self._check(peer)
        for record in self.faults.records:
            error = record.exc_info and record.exc_info[1]
            assert error, record.getMessage()
            paths = [peer.scope["path"] for peer in peers]
            assert is_meant(error, *paths), record.getMessage()
        assert left_open() == {}
        return [peer.answer for peer in peers]

    async def _play(self, plays: Any, at_once: bool) -> list[Peer]:
        peers = [Peer(request.scope(), request.body, course) for request, course in plays]
        with anyio.fail_after(PATIENCE_S):
            async with self.app.running():
                before = living_tasks(), temporary_files()
                if at_once:
                    async with anyio.create_task_group() as group:
                        for peer in peers:
                            group.start_soon(peer.play, self.app)
                    await self._check_that_nothing_is_left(peers, *before)
                else:
                    for peer in peers:
                        await peer.play(self.app)
                        await self._check_that_nothing_is_left([peer], *before)
        return peers

    async def _check_that_nothing_is_left(self, peers: list[Peer], tasks: int, files: int) -> None:
        """What runs on its own, in a thread perhaps, has some turns to end."""
        if any(peer.course.cancelled_at is not None for peer in peers):
            HELD["promised"] = 0  # a request that is cancelled drops its tasks
        left: dict[str, int] = {}
        for turn in range(200):
            left = left_open("lifespan") | {
                "calls": sum(not peer.is_left_alone for peer in peers),
                "tasks": living_tasks() - tasks,
                "files": temporary_files() - files,
            }
            if not any(left.values()):
                return
            await (checkpoint() if turn < 50 else anyio.sleep(0.01))
        assert not any(left.values()), (left, [peer.scope for peer in peers])

    def _check(self, peer: Peer) -> None:
        raised = peer.answer.raised
        if not (raised is None or isinstance(raised, OSError)):
            assert is_meant(raised, peer.scope["path"]), peer.scope
        assert peer.violations == [], (peer.scope, peer.course)


def test_any_request_wherever_it_breaks_off(backend: str, faults: Faults) -> None:
    stage = Stage(backend, faults)

    @fuzzed(3)
    @given(whole_requests(), courses)
    def check(request: WholeRequest, course: Course) -> None:
        stage.answers((request, course))

    check()


HOST = (b"host", b"example.com")


def get(path: bytes, query: bytes = b"", *headers: tuple[bytes, bytes]) -> WholeRequest:
    return WholeRequest("GET", path, query, (HOST, *headers))


def post(path: bytes, kind: bytes, body: bytes) -> WholeRequest:
    return WholeRequest("POST", path, b"", (HOST, (b"content-type", kind)), body)


FILE = (
    b'--B0undary\r\ncontent-disposition: form-data; name="a"; filename="f"\r\n\r\n'
    + b"x" * 900
    + b"\r\n--B0undary--\r\n"
)
WORKING = [
    get(b"/later"),
    get(b"/broken/later"),
    get(b"/asgi/endless"),
    get(b"/asgi/sized"),
    get(b"/loud/asgi/sized"),
    get(b"/fetch/x"),
    get(b"/in-thread/x"),
    *(get(b"/stream/" + what) for what in (b"counted", b"endless", b"events", b"written")),
    *(get(b"/loud/stream/" + what) for what in (b"counted", b"endless", b"written")),
    post(b"/read/form+bytes", MULTIPART, FILE),
    post(b"/read/clone+files", MULTIPART, FILE),
    post(b"/together", b"text/plain", b"x" * 900),
    post(b"/loud/stream/both-ways", b"text/plain", b"x" * 900),
]
BREAKS = [
    Course(sizes=(300, 500), send_raises_when_gone=raises, **{what: at})
    for what in ("leaves_after_receives", "leaves_after_sends", "send_fails_at", "cancelled_at")
    for at in range(5)
    for raises in (False, True)
    if not raises or what.startswith("leaves")
]


@pytest.mark.parametrize("request_", WORKING, ids=lambda request: request.path.decode())
def test_each_break_of_what_holds_something(
    backend: str, request_: WholeRequest, faults: Faults
) -> None:
    stage = Stage(backend, faults)
    stage.answers(*[(request_, course) for course in BREAKS])


def test_requests_one_after_the_other(backend: str, faults: Faults) -> None:
    stage = Stage(backend, faults)

    @fuzzed()
    @given(st.lists(st.tuples(whole_requests(), courses), min_size=2, max_size=4))
    def check(plays: Any) -> None:
        stage.answers(*plays)

    check()


# --- what must make no difference ---------------------------------------------------------------


def comparable(answer: Answer, request: WholeRequest) -> Any:
    """What is the same whenever the request is."""
    # How much of an endless answer is sent before the client leaves depends on the event loop, as
    # does whether the head of a broken one is.
    if b"endless" in request.path:
        return answer.status, answer.headers
    # An echo of a body beyond its bound is cut off, or refused if all of it came at once.
    is_echo = request.path.startswith(b"/asgi") or request.path.endswith(b"both-ways")
    if b"broken" in request.path or (is_echo and len(request.body) > MOST_BYTES):
        return None
    # A multipart body that came whole is kept as it came, also if it is refused as a form; any
    # other is written anew for a reader of bytes. Of two bounds, the one met first is told.
    kinds = [value for name, value in request.headers if name == b"content-type"]
    if request.path.startswith((b"/read/", b"/checked/form")) and kinds != [b"application/json"]:
        return answer.status
    return answer.status, answer.headers, answer.body


def test_same_request_in_other_chunks(backend: str, faults: Faults) -> None:
    stage = Stage(backend, faults)

    @fuzzed()
    @given(whole_requests(), smooth_courses, smooth_courses)
    def check(request: WholeRequest, one: Course, other: Course) -> None:
        first, second = stage.answers((request, one), (request, other))
        assert comparable(first, request) == comparable(second, request)

    check()


def test_requests_at_once(backend: str, faults: Faults) -> None:
    stage = Stage(backend, faults)

    @fuzzed()
    @given(st.lists(st.tuples(whole_requests(), smooth_courses), min_size=2, max_size=4))
    def check(plays: Any) -> None:
        requests = [request for request, _ in plays]
        alone = map(comparable, stage.answers(*plays), requests)
        at_once = map(comparable, stage.answers(*plays, at_once=True), requests)
        assert list(at_once) == list(alone)

    check()


def test_requests_at_once_wherever_they_break_off(faults: Faults) -> None:
    stage = Stage("trio", faults)

    @fuzzed()
    @given(st.lists(st.tuples(whole_requests(), courses), min_size=2, max_size=4))
    def check(plays: Any) -> None:
        stage.answers(*plays, at_once=True)

    check()


def test_head_is_get_without_the_body(faults: Faults) -> None:
    stage = Stage("asyncio", faults)

    @fuzzed()
    @given(whole_requests(), smooth_courses)
    def check(request: WholeRequest, course: Course) -> None:
        get, head = stage.answers(
            (replace(request, method="GET"), course), (replace(request, method="HEAD"), course)
        )
        assert (head.status, head.body) == (get.status, b"")
        # SPEC: RFC 9110 section 9.3.2: what depends on the content alone may be left out.
        assert head.header(LENGTH) in ([], get.header(LENGTH))
        rest = ([line for line in each.headers if line[0] != LENGTH] for each in (get, head))
        assert next(rest) == next(rest)

    check()


@pytest.mark.parametrize("router", ["trie", "linear"])
def test_routers_agree(router: str, faults: Faults) -> None:
    stages = Stage("asyncio", faults), Stage("asyncio", faults, router)

    @fuzzed()
    @given(whole_requests(), smooth_courses)
    def check(request: WholeRequest, course: Course) -> None:
        first, second = (comparable(*stage.answers((request, course)), request) for stage in stages)
        assert first == second

    check()


# --- sizes: twice as much may take twice as long, no more ---------------------------------------


@pytest.mark.parametrize(
    ("request_of_size", "status"),
    [
        pytest.param(
            get(b"/users/x", b"&".join(b"k%d=v" % n for n in range(100_000))), 200, id="keys"
        ),
        pytest.param(get(b"/users/x", b"k=v&" * 250_000), 200, id="one key"),
        pytest.param(get(b"/users/x", b"%41" * 300_000), 200, id="escapes in a key"),
        pytest.param(get(b"/files" + b"/a" * 500_000), 200, id="segments"),
        pytest.param(get(b"/users/" + b"%41" * 300_000), 200, id="escapes"),
        pytest.param(
            get(b"/copied", b"", *[(b"x%d" % n, b"") for n in range(40_000)]), 200, id="headers"
        ),
        pytest.param(
            get(b"/users/x", b"", *[(b"x", b"0123456789")] * 400_000), 431, id="one header"
        ),
        pytest.param(
            get(b"/api/secret/x", b"", *[(b"authorization", b"Bearer")] * 400_000),
            431,
            id="one header that is asked for",
        ),
        pytest.param(
            get(b"/users/x", b"", *[(b"cookie", b"k%d=v" % n) for n in range(100_000)]),
            431,
            id="cookies",
        ),
        pytest.param(
            get(b"/api/secret/x", b"", (b"authorization", b"Bearer " + b" " * 900_000 + b"!")),
            431,
            id="blanks before a token",
        ),
        pytest.param(post(b"/json", b"application/json", b"[" * 20_000), 400, id="nested JSON"),
        pytest.param(post(b"/checked/form", FORM, b"a=1&" * 5_000), 413, id="fields"),
        pytest.param(post(b"/read/parsed", FORM, b"a." * 9_000 + b"=1"), 200, id="nested fields"),
        pytest.param(
            post(b"/checked/form", MULTIPART, b"\r\n--B0undar" * 1_800),
            400,
            id="almost boundaries",
        ),
    ],
)
def test_time_is_linear(request_of_size: WholeRequest, status: int, faults: Faults) -> None:
    # By the square of the size, each of these would take longer than the patience there is.
    [answer] = Stage("asyncio", faults).answers((request_of_size, Course()))
    assert answer.status == status
