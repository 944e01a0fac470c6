# SPDX-License-Identifier: MIT
"""examples/conduit, when clients, workers or databases disappear in the middle of a write."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import conduit_served
import httpx
import pytest
from conduit_clients import Account, Ask, article, ask, publish, register
from conduit_served import WORKERS, Conduit, wait_for

pytestmark = [pytest.mark.once, pytest.mark.slow]

WRITERS = 8
ARTICLES_EACH = 15
TAGS = ["one", "two"]
# The number of the app's connections that wait for a lock.
WAITING = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)
TRANSACTIONS = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()"
)
# Only a database server can be restarted or show its locks.
POSTGRESQL = conduit_served.WITH_WORKERS[-1]
on_both = pytest.mark.parametrize("conduit", conduit_served.WITH_WORKERS, indirect=True)
on_a_server = pytest.mark.parametrize("conduit", [POSTGRESQL], indirect=True)


@pytest.fixture(scope="session")
def writer(conduit: Conduit) -> Account:
    return register(conduit, ["writer"])[0]


@pytest.fixture
def postgres(conduit: Conduit) -> conduit_served.PostgreSQL:
    assert isinstance(conduit.database, conduit_served.PostgreSQL)
    return conduit.database


def count(conduit: Conduit, statement: str) -> int:
    return int(conduit.rows(statement)[0][0])


def send(conduit: Conduit, asked: Ask, *, missing: int = 0) -> socket.socket:
    """Sends a request without the last `missing` bytes of its body, and reads no response."""
    body = json.dumps(asked.json).encode()
    assert asked.account is not None
    head = (
        f"{asked.method} /api{asked.path} HTTP/1.1\r\nhost: localhost\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        f"authorization: Token {asked.account.token}\r\n\r\n"
    )
    connection = conduit.connect(30)
    connection.sendall(head.encode() + body[: len(body) - missing])
    return connection


@pytest.mark.parametrize("kind", conduit_served.KINDS)
def test_machines_that_start_together_prepare_an_empty_database_once(kind: str) -> None:
    if reason := conduit_served.missing(kind):
        pytest.skip(reason)
    with conduit_served.database(kind) as database, contextlib.ExitStack() as machines:
        first, second = (Conduit(database, CONDUIT_ENV="development") for _ in range(2))
        with ThreadPoolExecutor() as threads:
            started = [threads.submit(machines.enter_context, each) for each in (first, second)]
        assert [each.result() for each in started] == [first, second]
        pages = [ask(each, Ask("GET", "/articles")).json() for each in (first, second)]
        assert pages[0] == pages[1]
        titles = first.rows("SELECT title FROM articles")
        assert len(titles) == len({*titles}) == pages[0]["articlesCount"] > 0


@on_both
def test_worker_killed_under_load_leaves_no_half_article(conduit: Conduit, writer: Account) -> None:
    """Confirmed articles exist; unconfirmed ones exist completely or not at all."""
    made: list[str] = []
    under_load = threading.Event()

    def write(number: int) -> int:
        lost = 0
        with httpx.Client(headers=writer.headers, timeout=60) as client:
            for index in range(ARTICLES_EACH):
                wanted = article(writer, f"Loaded {number} {index}", TAGS)
                try:
                    response = client.post(f"{conduit.url}/articles", json=wanted.json)
                except httpx.TransportError:
                    lost += 1
                    continue
                assert response.status_code == 201, response.text
                made.append(response.json()["article"]["slug"])
                if len(made) >= WRITERS:
                    under_load.set()
        return lost

    before = {*conduit.worker_pids()}
    with ThreadPoolExecutor(WRITERS) as threads:
        writing = [threads.submit(write, number) for number in range(WRITERS)]
        assert under_load.wait(60)
        os.kill(min(before), signal.SIGKILL)
        lost = sum(each.result() for each in writing)
    assert len(made) + lost == WRITERS * ARTICLES_EACH
    loaded = "articles WHERE title LIKE 'Loaded %'"
    found = {slug for (slug,) in conduit.rows(f"SELECT slug FROM {loaded}")}
    assert {*made} <= found
    assert len(found) <= len(made) + lost
    tags = f"tags WHERE article_id IN (SELECT id FROM {loaded})"
    assert conduit.count(tags) == len(found) * len(TAGS)
    # Another worker replaces it.
    wait_for(lambda: len({*conduit.worker_pids()} - before) == 1, conduit.printed)


@on_both
def test_client_that_leaves_while_it_sends_writes_nothing(
    conduit: Conduit, writer: Account
) -> None:
    for missing in (1, 20):
        send(conduit, article(writer, "Broken off", TAGS), missing=missing).close()
    assert ask(conduit, Ask("GET", "/articles")).status_code == 200
    assert conduit.count("articles WHERE title = 'Broken off'") == 0


@on_a_server
def test_client_that_leaves_during_the_write(
    conduit: Conduit, writer: Account, postgres: conduit_served.PostgreSQL
) -> None:
    with postgres.connection() as blocker:
        blocker.execute("LOCK TABLE tags IN ACCESS EXCLUSIVE MODE")
        connection = send(conduit, article(writer, "Left behind", TAGS))
        wait_for(lambda: count(conduit, WAITING) == 1, conduit.printed)
        connection.close()
    wait_for(lambda: count(conduit, TRANSACTIONS) == 0, conduit.printed)
    # Without `cancel_on_disconnect`, the handler runs to its end and commits.
    article_id = "SELECT id FROM articles WHERE title = 'Left behind'"
    assert conduit.count(f"tags WHERE article_id IN ({article_id})") == len(TAGS)


@on_a_server
def test_worker_killed_between_two_statements_rolls_back(
    conduit: Conduit, writer: Account, postgres: conduit_served.PostgreSQL
) -> None:
    with postgres.connection() as blocker:
        blocker.execute("LOCK TABLE tags IN ACCESS EXCLUSIVE MODE")
        connection = send(conduit, article(writer, "Killed", TAGS))
        wait_for(lambda: count(conduit, WAITING) == 1, conduit.printed)
        before = {*conduit.worker_pids()}
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        with connection, contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""
    wait_for(lambda: count(conduit, TRANSACTIONS) == 0, conduit.printed)
    assert conduit.count("articles WHERE title = 'Killed'") == 0
    wait_for(lambda: len({*conduit.worker_pids()} - before) == WORKERS, conduit.printed)
    assert publish(conduit, writer, "Killed", TAGS) == "killed"


@on_a_server
def test_database_that_is_restarted(
    conduit: Conduit, writer: Account, postgres: conduit_served.PostgreSQL
) -> None:
    """Requests during the restart get a 503, as does the one it interrupts; later ones succeed."""
    with ThreadPoolExecutor() as threads:
        with postgres.connection() as blocker:
            blocker.execute("LOCK TABLE tags IN ACCESS EXCLUSIVE MODE")
            asked = article(writer, "Interrupted", TAGS)
            interrupted = threads.submit(ask, conduit, asked)
            wait_for(lambda: count(conduit, WAITING) == 1, conduit.printed)
            postgres.server.stop()
        asks = (Ask("GET", "/articles"), Ask("GET", "/user", writer), asked)
        responses = [interrupted.result(), *(ask(conduit, each) for each in asks)]
        assert [response.status_code for response in responses] == [503] * 4
        assert all(response.json()["errors"]["body"] for response in responses)
        postgres.server.start()
    responses = [ask(conduit, Ask("GET", "/articles")) for _ in range(5 * WORKERS)]
    assert {response.status_code for response in responses} == {200}
    assert conduit.count("articles WHERE title = 'Interrupted'") == 0
    assert publish(conduit, writer, "Interrupted", TAGS) == "interrupted"
