# SPDX-License-Identifier: MIT
"""The SQLite store with real files: what is kept, several processes, and what can go wrong."""

from __future__ import annotations

import gc
import json
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest

from kit.session import SessionStoreError
from kit.session.sqlite import SQLiteStore
from kit.session.stores import SessionRecord

Run = Callable[..., Any]
LIMIT_S = 60.0
THREAD = "kit.session: SQLite"


def record(data: bytes = b"{}", *, user: str | None = None, ends_in_s: float = 3600.0) -> Any:
    now = time.time()
    return SessionRecord(data, 1, now, now + ends_in_s, user)


def key(number: int) -> str:
    return f"{number:064x}"


def python(code: str, *arguments: object, **options: Any) -> Any:
    """Runs a program to its end; returns what it printed, as JSON."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=False, **options)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@contextmanager
def another_process(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A program that does something, says so in a line, and waits for a line to undo it."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.communicate("\n", LIMIT_S)


LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    connection.execute(statement)
print("ready", flush=True)
sys.stdin.readline()
connection.close()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


def test_sessions_outlive_the_store(path: Path, run: Run) -> None:
    async def main() -> None:
        store = SQLiteStore(path)
        kept = record(b'{"a":1}', user="42")
        await store.insert(key(1), kept)
        await store.close()
        again = SQLiteStore(str(path))
        assert again.read_now(key(1)) == kept
        assert await again.read(key(1)) == kept
        await again.close()

    run(main)


def test_the_first_read_makes_the_file(path: Path, run: Run) -> None:
    async def main() -> None:
        store = SQLiteStore(path)
        assert store.read_now(key(1)) is None
        assert path.exists()
        await store.close()

    run(main)


async def test_files_are_for_their_owner_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        store = SQLiteStore(path)
        await store.insert(key(1), record())
        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    finally:
        os.umask(before)
    await store.close()
    assert modes == dict.fromkeys(("sessions.db", "sessions.db-wal", "sessions.db-shm"), 0o600)


async def test_a_path_stays_when_the_working_directory_changes(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = SQLiteStore("sessions.db")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    await store.open()
    assert path.exists()
    await store.close()


async def test_durable(path: Path) -> None:
    store = SQLiteStore(path, durable=True)
    assert await store.insert(key(1), record())
    assert store.read_now(key(1)) is not None
    await store.close()


async def test_expired_rows_are_removed(path: Path) -> None:
    """By the writes that come later, a few hundred at a time."""

    def count() -> int:
        with closing(sqlite3.connect(path)) as connection:
            rows: int = connection.execute("SELECT count(*) FROM sessions").fetchone()[0]
            return rows

    store = SQLiteStore(path)
    await store.open()
    async with anyio.create_task_group() as tasks:
        for number in range(500):
            tasks.start_soon(store.insert, key(number), record(ends_in_s=-1))
    await store.close()
    before = count()
    assert before >= 300
    store = SQLiteStore(path)
    counts = []
    for number in range(1000, 1004):
        await store.insert(key(number), record())
        counts.append(count())
    await store.close()
    assert before > counts[0] > counts[1]
    assert counts[-1] == 4


async def test_what_cannot_be_written_fails_alone(path: Path) -> None:
    """Others whose writes are committed with it succeed."""
    store = SQLiteStore(path)
    outcomes: dict[int, Any] = {}

    async def insert(number: int) -> None:
        user = "\ud800" if number == 3 else "42"
        try:
            outcomes[number] = await store.insert(key(number), record(user=user))
        except UnicodeEncodeError:
            outcomes[number] = "refused"

    async with anyio.create_task_group() as tasks:
        for number in range(6):
            tasks.start_soon(insert, number)
    assert outcomes == {number: "refused" if number == 3 else True for number in range(6)}
    assert await store.delete_user("42") == 5
    await store.close()


def test_another_process_that_writes(path: Path, run: Run) -> None:
    """Reads go on; a write fails after the timeout, and works once the other one has ended."""

    async def main() -> None:
        store = SQLiteStore(path, timeout=0.1)
        kept = record()
        await store.insert(key(1), kept)
        with another_process(LOCK, path, "BEGIN IMMEDIATE"):
            assert store.read_now(key(1)) == await store.read(key(1)) == kept
            with pytest.raises(SessionStoreError) as caught:
                await store.delete(key(1))
            assert str(caught.value) == (
                f"The session file {str(path)!r} can't be used: database is locked"
            )
        assert await store.delete(key(1))
        await store.close()

    run(main)


def test_writes_that_wait_for_another_process(path: Path, run: Run) -> None:
    """Reads go on meanwhile. What is cancelled before it has begun is never written."""

    async def main() -> None:
        store = SQLiteStore(path, timeout=LIMIT_S)
        await store.open()
        with another_process(LOCK, path, "BEGIN IMMEDIATE"):
            async with anyio.create_task_group() as tasks:
                for number in range(600):
                    tasks.start_soon(store.insert, key(number), record(user="42"))
                await anyio.wait_all_tasks_blocked()
                assert store.read_now(key(1)) is None
                tasks.cancel_scope.cancel()
        assert await store.insert(key(1000), record())
        assert await store.delete_user("42") < 300
        await store.close()

    run(main)


def test_a_file_that_another_process_keeps_to_itself(path: Path, run: Run) -> None:
    async def main() -> None:
        await SQLiteStore(path).open()
        gc.collect()
        store = SQLiteStore(path, timeout=0.1)
        exclusive = ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN IMMEDIATE", "COMMIT")
        with another_process(LOCK, path, *exclusive):
            for use in (store.open, lambda: store.read(key(1))):
                with pytest.raises(SessionStoreError, match="database is locked"):
                    await use()
            with pytest.raises(SessionStoreError, match="database is locked"):
                store.read_now(key(1))
        assert store.read_now(key(1)) is None
        await store.close()

    await_no_threads()
    run(main)


async def test_a_file_that_is_read_before_it_has_a_log(path: Path) -> None:
    """It can't get one meanwhile; the store waits for that until its timeout."""
    store = SQLiteStore(path, timeout=0.1)
    await store.open()
    await store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("PRAGMA journal_mode = DELETE")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM sessions").fetchall()
        with pytest.raises(SessionStoreError, match="database is locked"):
            await store.open()
        reader.execute("ROLLBACK")
        await store.open()
    await store.close()


def await_no_threads() -> None:
    """Waits for the threads of stores that were dropped."""
    gc.collect()
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join(LIMIT_S)


RECOVER = """
import fcntl, sys
# What a process does that recovers the index, of which both copies of the header are marked as
# invalid: https://www.sqlite.org/walformat.html, sections 2.1 and 2.3.
with open(sys.argv[1] + "-shm", "r+b", buffering=0) as file:
    for offset in (120, 122):
        fcntl.lockf(file, fcntl.LOCK_EX, 1, offset)
    header = file.read(1)
    file.seek(0)
    file.write(bytes([header[0] ^ 0xFF]))
    print("ready", flush=True)
    sys.stdin.readline()
    file.seek(0)
    file.write(header)
"""


def test_a_read_that_has_to_wait(path: Path, run: Run) -> None:
    """`read_now` says so; `read` waits in a thread."""

    async def main() -> None:
        store = SQLiteStore(path, timeout=LIMIT_S)
        kept = record()
        await store.insert(key(1), kept)
        assert store.read_now(key(1)) == kept
        found = []

        async def read() -> None:
            found.append(await store.read(key(1)))

        async with anyio.create_task_group() as tasks:
            with another_process(RECOVER, path):
                with pytest.raises(BlockingIOError) as caught:
                    store.read_now(key(1))
                tasks.start_soon(read)
                await anyio.wait_all_tasks_blocked()
                assert found == []
        assert str(caught.value) == f"The session file {str(path)!r} is locked"
        assert found == [kept]
        await store.close()
        impatient = SQLiteStore(path, timeout=0.01)
        await impatient.read(key(1))
        with another_process(RECOVER, path), pytest.raises(SessionStoreError, match="locked"):
            await impatient.read(key(1))
        await impatient.close()

    run(main)


async def test_a_file_of_an_earlier_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE sessions (key TEXT NOT NULL UNIQUE, data BLOB NOT NULL, version INTEGER"
            " NOT NULL, created_at REAL NOT NULL, expires_at REAL NOT NULL, user TEXT)"
        )
        connection.execute("PRAGMA application_id = 0x4B497453")
        connection.execute("PRAGMA user_version = 1")
        row = key(1), b"{}", 1, 1.0, time.time() + 1000, "42"
        connection.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", row)
        connection.commit()
    first, second = SQLiteStore(path), SQLiteStore(path)
    kept = await first.read(key(1))
    assert kept is not None
    assert (kept.user, kept.login) == ("42", None)
    assert await second.insert(key(2), replace(kept, login="a"))
    assert await first.delete_login("a") == 1
    assert await second.delete_user("42") == 1
    for each in (first, second):
        await each.close()


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (
            ["CREATE TABLE books (title)"],
            "The file {path!r} is a database of another program: use a separate file for sessions",
        ),
        (
            ["PRAGMA user_version = 3"],
            "The file {path!r} is a database of another program: use a separate file for sessions",
        ),
        (
            ["PRAGMA application_id = 0x4B497453", "PRAGMA user_version = 3"],
            "The session file {path!r} has version 3, from a later kit-session; this one supports "
            "version 2",
        ),
    ],
)
async def test_another_database(path: Path, statements: list[str], message: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    before = path.read_bytes()
    store = SQLiteStore(path)

    async def read() -> None:
        with pytest.raises(SessionStoreError) as caught:
            await store.read(key(1))
        assert str(caught.value) == message.format(path=str(path))

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(read)
    await store.close()
    assert path.read_bytes() == before


async def test_no_database(path: Path) -> None:
    path.write_text("This is a text, and far longer than the header of a database is.\n" * 99)
    store = SQLiteStore(path)
    with pytest.raises(SessionStoreError, match="file is not a database"):
        await store.open()
    path.unlink()
    await store.open()
    await store.close()


async def test_no_folder(path: Path) -> None:
    store = SQLiteStore(path / "sessions.db")
    with pytest.raises(SessionStoreError) as caught:
        await store.open()
    assert str(caught.value).startswith(f"The session file {str(path / 'sessions.db')!r} can't")
    await store.close()


async def test_a_damaged_file(path: Path) -> None:
    """It is an error until somebody removes the file; then there are new sessions."""
    store = SQLiteStore(path)
    for number in range(100):
        await store.insert(key(number), record(b"x" * 1000))
    await store.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))
    store = SQLiteStore(path)
    for _ in range(2):
        with pytest.raises(SessionStoreError, match=r"can't be used: .*malformed"):
            await store.read(key(1))
        with pytest.raises(SessionStoreError, match=r"can't be used: .*malformed"):
            await store.delete(key(1))
    await store.close()
    path.unlink()
    assert await store.read(key(1)) is None
    assert await store.insert(key(1), record())
    await store.close()


async def test_a_file_that_is_gone(path: Path) -> None:
    store = SQLiteStore(path)
    await store.insert(key(1), record())
    path.unlink()
    with pytest.raises(SessionStoreError) as caught:
        store.read_now(key(1))
    assert str(caught.value) == (
        f"The session file {str(path)!r} can't be used: unable to open database file"
    )
    await store.close()


FULL = """
import anyio, json, resource, sys, time
from kit.session import SessionStoreError
from kit.session.sqlite import SQLiteStore
from kit.session.stores import SessionRecord

async def main():
    store = SQLiteStore(sys.argv[1])
    now = time.time()
    def record(size):
        return SessionRecord(b"x" * size, 1, now, now + 3600, None)
    await store.insert("first", record(10))
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, most))
    try:
        await store.insert("second", record(1_000_000))
        outcome = None
    except SessionStoreError as error:
        outcome = str(error)
    found = store.read_now("first") is not None, store.read_now("second") is None
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    found += await store.insert("second", record(1_000_000)), len(store.read_now("second").data)
    await store.close()
    print(json.dumps([outcome, *found]))

anyio.run(main)
"""


def test_a_full_disk(path: Path) -> None:
    """Writes fail, reads go on, and all is well once there is space."""
    outcome, *found = python(FULL, path)
    assert outcome.startswith(f"The session file {str(path)!r} can't be used: d")
    assert found == [True, True, True, 1_000_000]


READ_ONLY = """
import anyio, json, os, sys, time
from kit.session import SessionStoreError
from kit.session.sqlite import SQLiteStore
from kit.session.stores import SessionRecord

async def main():
    store = SQLiteStore(sys.argv[1])
    now = time.time()
    record = SessionRecord(b"{}", 1, now, now + 3600, None)
    await store.insert("first", record)
    await store.close()
    folder = os.path.dirname(sys.argv[1])
    os.chmod(sys.argv[1], 0o444)
    os.chmod(folder, 0o555)
    if os.geteuid() == 0:  # root may write to every file
        os.setegid(65534)
        os.seteuid(65534)
    try:
        await store.insert("second", record)
    except SessionStoreError as error:
        print(json.dumps(str(error)))
    await store.close()

anyio.run(main)
"""


def test_a_file_that_may_only_be_read() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "sessions.db")
        message = python(READ_ONLY, path)
        Path(folder).chmod(0o700)
    assert message.startswith(f"The session file {str(path)!r} can't be used: ")
    assert "readonly" in message


FORK = """
import asyncio, json, os, sys, time
from kit.session.sqlite import SQLiteStore
from kit.session.stores import SessionRecord

store = SQLiteStore(sys.argv[1])

async def use(key):
    now = time.time()
    inserted = await store.insert(key, SessionRecord(b"{}", 1, now, now + 3600, None))
    return inserted and store.read_now(key) is not None and store.read_now("before") is not None

assert asyncio.run(use("before"))
child = os.fork()
if child == 0:
    found = asyncio.run(use("child"))
    asyncio.run(store.close())
    sys.exit(0 if found else 1)
_, status = os.waitpid(child, 0)
found = [asyncio.run(use("parent")), status == 0, store.read_now("child") is not None]
asyncio.run(store.close())
print(json.dumps(found))
"""


FORK_AND_CLOSE = """
import asyncio, json, os, sys, time
from kit.session.sqlite import SQLiteStore
from kit.session.stores import SessionRecord

async def insert(store, key):
    now = time.time()
    return await store.insert(key, SessionRecord(b"{}", 1, now, now + 3600, None))

async def child(store, done, more):
    assert await insert(store, "before the parent closes")
    os.write(done, b"1")
    os.read(more, 1)
    for number in range(2):
        assert await insert(store, f"after {number}")
        assert await store.read(f"after {number}") is not None
    os.write(done, b"1")
    os.read(more, 1)  # until the parent has looked

store = SQLiteStore(sys.argv[1])
assert asyncio.run(insert(store, "parent"))
reading, done = os.pipe()
more, writing = os.pipe()
if os.fork() == 0:
    asyncio.run(child(store, done, more))
    os._exit(0)
os.close(done)
os.read(reading, 1)
asyncio.run(store.close())
os.write(writing, b"1")
ended = os.read(reading, 1) == b""
names = ["parent", "before the parent closes", "after 0", "after 1"]
print(json.dumps([ended, *(store.read_now(name) is not None for name in names)]))
os.write(writing, b"1")
os.wait()
"""


def test_a_fork_whose_parent_closes_the_store(path: Path) -> None:
    """The child can go on, and what it writes is kept."""
    assert python(FORK_AND_CLOSE, path) == [False, True, True, True, True]


FORK_IN_USE = """
import asyncio, json, os, sys, threading, time
from kit.session.sqlite import SQLiteStore
from kit.session.stores import SessionRecord

store = SQLiteStore(sys.argv[1])
ended = threading.Event()
written = 0

async def write(store, name, is_over):
    number = 0
    while not is_over(number):
        now = time.time()
        key = f"{name} {number}"
        assert await store.insert(key, SessionRecord(b"{}", 1, now, now + 3600, None))
        assert await store.read(key) is not None
        number += 1
    return number

def run():
    global written
    written = asyncio.run(write(store, "parent", lambda number: ended.is_set()))

thread = threading.Thread(target=run)
thread.start()
statuses = []
for name in range(10):
    # Another store, whose writer may not have ended yet.
    asyncio.run(write(SQLiteStore(sys.argv[1]), f"dropped {name}", lambda number: number == 3))
    child = os.fork()
    if child == 0:
        asyncio.run(write(store, f"child {name}", lambda number: number == 3))
        asyncio.run(store.close())
        os._exit(0)
    statuses.append(os.waitpid(child, 0)[1])
ended.set()
thread.join()
names = [f"parent {number}" for number in range(written)]
for name in range(10):
    names += [f"{kind} {name} {number}" for kind in ("dropped", "child") for number in range(3)]
missing = [name for name in names if store.read_now(name) is None]
asyncio.run(store.close())
print(json.dumps([statuses, missing]))
"""


def test_forks_while_other_threads_use_the_store(path: Path) -> None:
    """Each process keeps what it has written."""
    assert python(FORK_IN_USE, path) == [[0] * 10, []]


FORK_WHILE_STORES_ARE_DROPPED = """
import gc, os, sys, threading
from kit.session.sqlite import SQLiteStore

gc.set_threshold(20)
store = SQLiteStore(sys.argv[1])
store.read_now("key")
ended = threading.Event()

def use():
    while not ended.is_set():
        cycle = [SQLiteStore(sys.argv[1])]
        cycle.append(cycle)
        del cycle
        store.read_now("key")

threads = [threading.Thread(target=use, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(200):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
ended.set()
for thread in threads:
    thread.join()
print("null")
"""


def test_forks_while_other_threads_drop_stores(path: Path) -> None:
    """The garbage collector closes them, even in a thread that a fork waits for."""
    assert python(FORK_WHILE_STORES_ARE_DROPPED, path) is None


def test_a_process_that_is_forked(path: Path) -> None:
    """A store that is open in the parent works in both."""
    assert python(FORK, path) == [True, True, True]


COUNT = """
import anyio, json, sys
from dataclasses import replace
from kit.session.sqlite import SQLiteStore

async def main():
    store = SQLiteStore(sys.argv[1], timeout=30)

    async def increment():
        for _ in range(25):
            while True:
                record = await store.read("key")
                data = b"%d" % (int(record.data) + 1)
                if await store.replace(
                    "key", replace(record, data=data, version=record.version + 1)
                ):
                    break

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(increment)
    await store.close()

anyio.run(main)
print("null")
"""


async def test_processes_that_write_at_once(path: Path) -> None:
    """Each of 300 increments by three processes counts; all three open the file at once."""
    store = SQLiteStore(path)
    await store.insert("key", record(b"0"))
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(anyio.to_thread.run_sync, python, COUNT, path)
    found = await store.read("key")
    assert found is not None
    assert found.data == b"300"
    await store.close()


def test_processes_that_make_the_file_at_once(path: Path) -> None:
    code = """
import anyio, sys
from kit.session.sqlite import SQLiteStore
print("ready", flush=True)
sys.stdin.readline()
anyio.run(SQLiteStore(sys.argv[1]).open)
print("opened")
"""
    command = [sys.executable, "-c", code, str(path)]
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate(timeout=LIMIT_S)[0] for process in processes] == ["opened\n"] * 4


async def test_a_store_that_is_dropped_ends_its_thread(path: Path) -> None:
    await_no_threads()
    store = SQLiteStore(path)
    await store.insert(key(1), record())
    threads = [each for each in threading.enumerate() if each.name == THREAD]
    assert len(threads) == 1
    del store
    gc.collect()
    threads[0].join(LIMIT_S)
    assert not threads[0].is_alive()


async def test_threads_that_read_at_once(path: Path) -> None:
    store = SQLiteStore(path)
    kept = record()
    await store.insert(key(1), kept)

    def read() -> bool:
        return all(store.read_now(key(1)) == kept for _ in range(200))

    outcomes: list[bool] = []

    async def in_thread() -> None:
        outcomes.append(await anyio.to_thread.run_sync(read))

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(in_thread)
    assert outcomes == [True] * 4
    await store.close()


async def test_keys_are_bound(path: Path) -> None:
    """A key is never part of a statement."""
    store = SQLiteStore(path)
    hostile = "' OR 1=1 --"
    await store.insert(key(1), record(user="42"))
    assert await store.read(hostile) is None
    assert not await store.delete(hostile)
    assert await store.delete_user(hostile) == 0
    assert await store.replace(key(1), replace(record(), version=2))
    await store.close()


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        (7, {}, "SQLiteStore(path=...) takes a path, not 7"),
        (b"x.db", {}, "SQLiteStore(path=...) takes a path that is a str, not b'x.db'"),
        (":memory:", {}, "SQLiteStore(path=':memory:') would create a database for each"),
        ("", {}, "SQLiteStore(path='') would create a database for each connection: use"),
        ("file:x.db?mode=ro", {}, "expected a path, not a URI"),
        ("x.db", {"timeout": 0}, "expected at least 0.001 seconds"),
        ("x.db", {"durable": 1}, "SQLiteStore(durable=...) takes a bool, not 1"),
    ],
)
def test_wrong_options(path: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        SQLiteStore(path, **options)
    assert message in str(caught.value)
