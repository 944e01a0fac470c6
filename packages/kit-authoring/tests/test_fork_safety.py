# SPDX-License-Identifier: MIT
"""What is closed before a fork; each test forks in a program of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")

LIMIT_S = 60.0


def python(code: str) -> tuple[Any, str]:
    """Runs a program to its end; returns what it printed, as JSON, and its errors."""
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout), done.stderr.decode()


BOTH = """
import json, os, sys, threading
from kit.authoring.fork_safety import close_at_forks, join_before_forks

calls = []

class Store:
    def __init__(self, name):
        self.name = name
        close_at_forks(self)

    def begin_fork(self):
        calls.append(f"{self.name} begins")

    def end_fork(self):
        calls.append(f"{self.name} ends")

class Ending:
    def join(self):
        calls.append("joined")

one, other, thread = Store("one"), Store("other"), Ending()
dropped = Store("dropped"), Ending()
join_before_forks(thread)
join_before_forks(dropped[1])
del dropped
reading, writing = os.pipe()
if os.fork() == 0:
    os.write(writing, json.dumps(calls).encode())
    os._exit(0)
os.wait()
print(json.dumps([calls, json.loads(os.read(reading, 10_000))]))
"""


def test_both_processes() -> None:
    (calls, of_the_child), errors = python(BOTH)
    assert sorted(calls[:2]) == ["one begins", "other begins"]
    assert calls[2] == "joined"
    assert sorted(calls[3:]) == ["one ends", "other ends"]
    assert of_the_child == calls
    assert errors == ""


WAITING = """
import json, os, threading
from kit.authoring.fork_safety import close_at_forks

begun, created = threading.Event(), threading.Event()

class Store:
    def begin_fork(self):
        begun.set()
        # The other thread can only go on after the fork.
        found.append(created.wait(0.1))

    def end_fork(self):
        pass

def create():
    begun.wait()
    close_at_forks(Store())
    created.set()

found = []
store = Store()
close_at_forks(store)
thread = threading.Thread(target=create)
thread.start()
if os.fork() == 0:
    # In this process the lock is free, too.
    close_at_forks(Store())
    os._exit(0)
status = os.wait()[1]
thread.join()
print(json.dumps([found, status, created.is_set()]))
"""


def test_what_is_created_in_another_thread_waits_for_the_fork() -> None:
    found, _ = python(WAITING)
    assert found == [[False], 0, True]


FAILING = """
import json, os, threading
from kit.authoring.fork_safety import close_at_forks, join_before_forks

calls = []

class Store:
    def begin_fork(self):
        calls.append("begins")

    def end_fork(self):
        calls.append("ends")

class Failing(Store):
    def begin_fork(self):
        raise KeyboardInterrupt("at the fork")

stores = [Store(), Failing(), Store()]
for each in stores:
    close_at_forks(each)
endless = threading.Event()
thread = threading.Thread(target=endless.wait)
thread.start()
join_before_forks(thread)
for _ in range(2):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
endless.set()
print(json.dumps(calls))
"""


def test_one_that_fails() -> None:
    """The others are closed, and opened again; the thread that it may not have ended is ignored."""
    calls, errors = python(FAILING)
    assert calls == ["begins", "begins", "ends", "ends"] * 2
    assert errors.count("KeyboardInterrupt: at the fork") == 2
