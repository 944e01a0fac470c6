# SPDX-License-Identifier: MIT
"""Closes all connections before the process forks.

SQLite keeps the locks of a process in its memory, and a forked process inherits this table along
with any open connection. It would then take no locks of its own, so its writes could be lost:
<https://www.sqlite.org/howtocorrupt.html>, section 2.6.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from typing import Protocol

__all__ = ("close_at_forks", "end_before_forks")


class _Closable(Protocol):
    """The connections of a store."""

    def begin_fork(self) -> None: ...

    def end_fork(self) -> None: ...


class _Ending(Protocol):
    """A thread with a connection, which ends as its store is closed."""

    def join(self) -> None: ...


_stores: weakref.WeakSet[_Closable] = weakref.WeakSet()
_threads: weakref.WeakSet[_Ending] = weakref.WeakSet()
# Stores created meanwhile in other threads wait, as nothing would keep them closed.
_forking = threading.RLock()
_closed: list[_Closable] = []


def close_at_forks(store: _Closable) -> None:
    """Calls `begin_fork` before each fork, and `end_fork` after it in both processes.

    Args:
        store: The connections of a store; they are only referenced weakly.
    """
    with _forking:
        _stores.add(store)


def end_before_forks(thread: _Ending) -> None:
    """Waits before each fork until a thread has ended, as its store is closed by then.

    Args:
        thread: The thread, which is only referenced weakly.
    """
    _threads.add(thread)


def _begin() -> None:
    _forking.acquire()
    for store in list(_stores):
        store.begin_fork()
        _closed.append(store)
    # Including those of stores that were closed before and still write.
    for thread in list(_threads):
        thread.join()


def _end() -> None:
    while _closed:
        _closed.pop().end_fork()
    _forking.release()


with suppress(AttributeError):  # on Windows, where processes aren't forked
    os.register_at_fork(before=_begin, after_in_parent=_end, after_in_child=_end)
