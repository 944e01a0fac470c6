# SPDX-License-Identifier: MIT
"""Closes connections before the process forks, and lets them be opened again afterwards.

It is for connections that two processes must not share, such as SQLite's. SQLite keeps the locks of
a process in its memory, and a forked process inherits this table along with any open connection. It
would then take no locks of its own, so its writes could be lost:
<https://www.sqlite.org/howtocorrupt.html>, section 2.6.

    class Store:
        def __init__(self):
            self._lock = threading.RLock()  # held whenever the connection is opened or used
            close_at_forks(self)

        def begin_fork(self):
            self._lock.acquire()
            self._close()

        def end_fork(self):
            self._lock.release()

It covers `os.fork()` and what uses it, such as `multiprocessing` with the start method `fork`, but
not forks by native code. Where processes can't fork, as on Windows, nothing is ever called.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from typing import Protocol

__all__ = ("Forkable", "Joinable", "close_at_forks", "join_before_forks")


class Forkable(Protocol):
    """An object that closes its connections for a fork."""

    def begin_fork(self) -> None:
        """Closes the connections, and prevents new ones until `end_fork`, e.g. by taking a lock.

        It is called in the thread that forks. If it raises, the exception is printed, the process
        forks nevertheless, and `end_fork` isn't called; so it must release its lock first.

        A finalizer must not wait for this lock: the garbage collector may call it in a thread that
        the fork waits for.
        """

    def end_fork(self) -> None:
        """Lets connections be opened again. Must not raise.

        It is called in both processes, in the thread that called `begin_fork`.
        """


class Joinable(Protocol):
    """A thread, or an object that has one."""

    def join(self) -> None:
        """Waits until the thread has ended."""


_forkables: weakref.WeakSet[Forkable] = weakref.WeakSet()
_threads: weakref.WeakSet[Joinable] = weakref.WeakSet()
# Held during a fork. Without it, another thread could create an object that isn't closed.
_forking = threading.RLock()
_closed: list[Forkable] = []


def close_at_forks(forkable: Forkable) -> None:
    """Calls `begin_fork` before each fork, and `end_fork` after it in both processes.

    If another thread is forking, this waits for it. The order of the calls is undefined.

    Args:
        forkable: The object, which is only referenced weakly.
    """
    with _forking:
        _forkables.add(forkable)


def join_before_forks(thread: Joinable) -> None:
    """Waits before each fork, after all calls of `begin_fork`, until a thread has ended.

    One of these calls has to make the thread end, unless it is ending already, e.g. because it
    still writes for an object that is gone. The owner of the thread must not start another one
    between `begin_fork` and `end_fork`.

    Args:
        thread: The thread, which is only referenced weakly.
    """
    _threads.add(thread)


def _begin() -> None:
    _forking.acquire()
    failure: BaseException | None = None
    for each in list(_forkables):
        try:
            each.begin_fork()
        except BaseException as error:  # e.g. KeyboardInterrupt; the others are still to be closed
            failure = error
        else:
            _closed.append(each)
    if failure is not None:  # its thread may not know that it should end: don't wait for it
        raise failure
    # This includes threads that still write for objects that were closed before.
    for thread in list(_threads):
        thread.join()


def _end() -> None:
    while _closed:
        _closed.pop().end_fork()
    _forking.release()


with suppress(AttributeError):  # on Windows, where processes aren't forked
    os.register_at_fork(before=_begin, after_in_parent=_end, after_in_child=_end)
