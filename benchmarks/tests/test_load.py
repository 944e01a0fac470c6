# SPDX-License-Identifier: MIT
"""Load on a server, and the processor time that the server takes for it."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

from benchmarks import served
from benchmarks.load import LoadError, answer_length, run
from benchmarks.processor import processor_seconds
from benchmarks.server import ServedError

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
REQUEST = "GET / HTTP/1.1\r\n\r\n"
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="/proc")


def test_the_length_of_an_answer():
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nserver: x\r\n\r\n"
    assert answer_length(head[:-1]) == 0
    assert answer_length(head) == len(head) + 5
    assert answer_length(head + b"hel") == len(head) + 5
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    assert answer_length(chunked[:-1]) == 0
    assert answer_length(chunked + b"H") == len(chunked)
    with pytest.raises(LoadError, match="neither a Content-Length nor chunks"):
        answer_length(b"HTTP/1.1 200 OK\r\n\r\n")


@pytest.fixture
def answering():
    """Returns a function that starts a server, which answers each request with given pieces."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve(pieces):
            def answer(connection):
                # The load closes a connection with what is unread when it has seen enough.
                with connection, suppress(ConnectionError):
                    while connection.recv(1024):
                        for piece in pieces:
                            connection.sendall(piece)
                        if not pieces:
                            return

            def accept():
                for _ in range(2):
                    connection, _ = listening.accept()
                    threads.append(threading.Thread(target=answer, args=[connection]))
                    threads[-1].start()

            threads.append(threading.Thread(target=accept))
            threads[0].start()
            return listening.getsockname()[1]

        threads = []
        yield serve
        for thread in threads:
            thread.join(10)


@pytest.mark.parametrize("pieces", [[ANSWER], [ANSWER[:20], ANSWER[20:]]], ids=["whole", "split"])
def test_answers_are_counted_on_all_connections(answering, pieces):
    loaded = run(answering(pieces), 0, REQUEST, 0, 2)
    assert loaded.answers == 2  # and two before, which don't count


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ([b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno"], "the answer is b'HTTP/1.1 500"),
        ([ANSWER + b"!"], "the answer is"),
        ([], "the server closed a connection"),
    ],
)
def test_a_wrong_answer_is_an_error(answering, pieces, said):
    with pytest.raises(LoadError, match=said):
        run(answering(pieces), 0, REQUEST, 0, 2)


@ON_LINUX
def test_processor_time_is_that_of_all_threads_and_children():
    busy = "import os, threading\n"
    busy += "thread = threading.Thread(target=lambda: sum(range(3_000_000)))\n"
    busy += "thread.start(); thread.join()\n"
    busy += "if os.fork(): print(flush=True); input()\nelse: sum(range(3_000_000)); input()\n"
    with subprocess.Popen(
        [sys.executable, "-c", busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        own = time.clock_gettime(~process.pid << 3 | 2)
        used = processor_seconds(process.pid)
        process.stdin.close()
    assert own > 0
    assert used >= own


def test_the_processor_time_of_a_process_that_is_gone_is_not_known():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert processor_seconds(process.pid) == 0


@pytest.mark.once
@ON_LINUX
def test_rows_of_two_apps_are_served():
    rows = ["text", "five middleware", "body of 1 KiB", "upload"]
    made = served.measure(["raw", "kit"], rows, 1, 0.001, False)
    assert made.left_out == []
    assert {server: list(turns) for server, turns in made.turns.items()} == {
        server: ["text", "five middleware", "body of 1 KiB"] for server in ("uvicorn", "granian")
    }
    for by_row in made.turns.values():
        for by_name in by_row.values():
            assert list(by_name) == ["kit"]
            assert min(*by_name["kit"].own, *by_name["kit"].raw) > 0


@pytest.mark.once
@ON_LINUX
def test_a_peer_that_fails_under_load_is_left_out_of_its_row(monkeypatch):
    processor_s = served.Load.processor_s
    asked = []

    def fail_in_the_second_round(self, peer, row, seconds):
        asked.append((peer.peer, row))
        if asked.count(("kit", "json")) > served.TURNS and (peer.peer, row) == ("kit", "json"):
            raise ServedError("kit, json: no")
        return processor_s(self, peer, row, seconds)

    monkeypatch.setattr(served.Load, "processor_s", fail_in_the_second_round)
    monkeypatch.setattr(served, "SERVERS", {"uvicorn": ""})
    monkeypatch.setattr(served, "STARTS", 1)
    made = served.measure(["kit"], ["text", "json"], 2, 0, False)
    assert made.left_out == ["uvicorn: kit, json: no"]
    assert made.turns["uvicorn"]["json"] == {}
    assert len(made.turns["uvicorn"]["text"]["kit"].own) == 2


def test_a_failing_load_names_the_peer_and_row():
    class Gone:
        port, pid, peer = 1, 0, "kit"

    with served.Load() as load, pytest.raises(ServedError, match="kit, text: ConnectionRefused"):
        load.processor_s(Gone(), "text", 0)
